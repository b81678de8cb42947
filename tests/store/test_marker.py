"""The marker: another file in the place of a known database is refused and named; what is no loss raises no alarm."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.store.damaged_files import overwrite_pages
from tests.world import DATABASE_NAME, FakeClock, open_in, open_world, places_in

import ramet
from ramet.clock import SystemClock
from ramet.config.settings import DatabaseSettings
from ramet.errors import DatabaseDamaged, DatabaseForeign, DatabaseMismatch, RametError
from ramet.store import reset_store
from ramet.store.database.sqlite.store import SqliteStore


def fill(folder: Path, messages: int) -> None:
    with open_world(folder, None) as world:
        if not world.call("db.project.list").items:
            world.session(agent_id="ada", driver="claude", native_id="n")
        for number in range(messages):
            world.call("db.messages.append", session_id=1, role="user", content=f"{number}")


def refusal(folder: Path) -> RametError:
    with pytest.raises(RametError) as raised:
        open_in(folder, None).close()
    return raised.value


def put_other(folder: Path) -> None:
    fill(folder / "other", 40)
    shutil.copy(folder / "other" / DATABASE_NAME, folder / DATABASE_NAME)


def put_older(folder: Path) -> None:
    shutil.copy(folder / "backups" / "ramet-20260105T080000.000000Z.db", folder / DATABASE_NAME)


WRONG: dict[str, Callable[[Path], object]] = {
    "is missing: it had 28 events on 2026-01-05 08:00 UTC": lambda folder: (folder / DATABASE_NAME).unlink(),
    "is empty: it had 28 events": lambda folder: (folder / DATABASE_NAME).write_bytes(b""),
    "is another database than the one that was here": put_other,
    "is older than the database that was here: it has 8 events, and it had 28": put_older,
}


@pytest.mark.requirement("R464")
@pytest.mark.parametrize("problem", WRONG)
def test_another_file_in_the_place_of_a_known_database_is_refused(tmp_path: Path, problem: str) -> None:
    fill(tmp_path, 2)
    with open_world(tmp_path, None) as world:
        world.call("db.backup", path=str(tmp_path / "backups" / "ramet-20260105T080000.000000Z.db"))
    fill(tmp_path, 20)
    WRONG[problem](tmp_path)
    before = (tmp_path / DATABASE_NAME).read_bytes() if (tmp_path / DATABASE_NAME).exists() else None
    refused = refusal(tmp_path)
    assert isinstance(refused, DatabaseMismatch)
    assert problem in refused.message
    assert "restore the backup of 2026-01-05 08:00 UTC: `ramet db restore latest`" in refused.fix
    assert "`ramet db accept`" in refused.fix
    after = (tmp_path / DATABASE_NAME).read_bytes() if (tmp_path / DATABASE_NAME).exists() else None
    assert after == before


@pytest.mark.requirement("R464")
def test_the_fix_of_a_damaged_file_names_its_backup(tmp_path: Path) -> None:
    fill(tmp_path, 2)
    with open_world(tmp_path, None) as world:
        world.call("db.backup", path=str(tmp_path / "backups" / "ramet-20260105T080000.000000Z.db"))
    database = tmp_path / DATABASE_NAME
    whole = database.read_bytes()
    for damage in (lambda: database.write_bytes(whole[:100]), lambda: overwrite_pages(database, [1])):
        damage()
        refused = refusal(tmp_path)
        assert isinstance(refused, DatabaseDamaged | DatabaseForeign)
        assert "2026-01-05 08:00 UTC: `ramet db restore latest`" in refused.fix
        assert "`ramet db salvage`" in refused.fix


@pytest.mark.requirement("R464")
def test_what_is_no_loss_raises_no_alarm(tmp_path: Path) -> None:
    fill(tmp_path / "a", 3)
    shutil.copytree(tmp_path / "a", tmp_path / "b")  # a home that was copied, with its marker
    fill(tmp_path / "b", 1)
    (tmp_path / "c").mkdir()
    shutil.copy(tmp_path / "a" / DATABASE_NAME, tmp_path / "c" / DATABASE_NAME)  # the file alone
    fill(tmp_path / "c", 1)
    (tmp_path / "a" / "ramet.marker").write_bytes(b"\x00 of another version")
    fill(tmp_path / "a", 1)
    places = places_in(tmp_path / "a", tmp_path / "a" / DATABASE_NAME)
    reset_store(DatabaseSettings(durability="process"), places, clock=SystemClock())
    fill(tmp_path / "a", 1)
    # Killed after its first write: the marker says less than the database, never more.
    store = open_in(tmp_path / "d", None, clock=FakeClock())
    known = (tmp_path / "d" / "ramet.marker").read_bytes()
    store.close()
    fill(tmp_path / "d", 3)
    (tmp_path / "d" / "ramet.marker").write_bytes(known)
    fill(tmp_path / "d", 1)


def test_a_program_that_names_its_file_may_make_it_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAMET_HOME", str(tmp_path / "home"))
    for _ in range(2):
        with ramet.open(tmp_path / "own.db") as r:
            r.db.project.upsert(path="/p")
        (tmp_path / "own.db").unlink()


@pytest.mark.requirement("R464")
def test_another_program_that_closes_the_database_leaves_its_log(tmp_path: Path) -> None:
    with open_world(tmp_path, None) as world:
        assert isinstance(world.store, SqliteStore)
        world.store.remember()  # as after a backup
        reads = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT 1 FROM events'); c.close()"
        subprocess.run([sys.executable, "-c", reads, tmp_path / DATABASE_NAME], check=True)
        assert (tmp_path / f"{DATABASE_NAME}-wal").exists()
