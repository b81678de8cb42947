"""Salvage: every row that can be read of a file with bad pages, compared with what SQLite itself can still read."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.store.damaged_files import count_pages, overwrite_pages
from tests.world import DATABASE_NAME, FakeClock, open_world, places_in

from ramet.config.settings import Settings
from ramet.daemon.offline.salvages import SalvageOrder, SalvageReport, run_salvage
from ramet.errors import DatabaseForeign, DatabaseNewer, InvalidParams, RametError
from ramet.faults import Faults
from ramet.store.database.blobs import Codec
from ramet.store.database.check import check_database
from ramet.store.database.sqlite.salvage.salvage import Salvaged, salvage
from ramet.store.database.sqlite.store import SqliteReadableStore

NOW = "2026-01-05T08:00:00.000Z"
MESSAGES = 400
_TEXT = """SELECT b.codec, b.size, b.data FROM messages m JOIN commits c ON c.id = m.commit_id
JOIN blobs b ON b.id = c.blob_id WHERE m.id = ?"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with short texts and with texts that take several pages."""
    folder = tmp_path_factory.mktemp("whole")
    noise = random.Random(1)
    with open_world(folder, None) as world:
        world.session(agent_id="ada", driver="claude", native_id="n")
        for number in range(MESSAGES):
            text = f"message {number} {noise.randbytes(noise.choice([20, 200, 6000])).hex()}"
            world.call("db.messages.append", session_id=1, role="user", content=text)
    return folder / DATABASE_NAME


def texts(path: Path) -> dict[int, bytes]:
    """The texts that SQLite can read, each by itself: behind a bad page it goes on with the next."""
    codec, found = Codec(), {}
    database = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    for number in range(1, MESSAGES + 1):
        try:
            for kind, size, data in database.execute(_TEXT, (number,)):
                found[number] = codec.unpack(kind, size, data)
        except (apsw.Error, ValueError):
            continue
    database.close()
    return found


def damage(whole: Path, folder: Path, pages: list[int], seed: int = 7) -> Path:
    damaged = folder / DATABASE_NAME
    shutil.copy(whole, damaged)
    overwrite_pages(damaged, pages, seed)
    return damaged


def rows(salvaged: Salvaged, table: str) -> int:
    return next(each.rows for each in salvaged.tables if each.table == table)


@pytest.mark.requirement("R464")
@pytest.mark.parametrize("pages", [[], [1], [2], [1, 2], [3], [5, 6, 7]], ids=str)
def test_nothing_is_lost_with_the_pages_that_only_lead_to_rows(whole: Path, tmp_path: Path, pages: list[int]) -> None:
    damaged = damage(whole, tmp_path, pages)
    before = damaged.read_bytes()
    salvaged = salvage(damaged, tmp_path / "new.db", NOW)
    assert damaged.read_bytes() == before
    assert (rows(salvaged, "messages"), salvaged.repairs.contents) == (MESSAGES, 0)
    assert texts(tmp_path / "new.db") == texts(whole)
    assert check_database(SqliteReadableStore(tmp_path / "new.db"), Codec()).passed


@pytest.mark.requirement("R464")
@pytest.mark.parametrize("seed", range(4))
def test_every_message_that_can_be_read_is_there(whole: Path, tmp_path: Path, seed: int) -> None:
    pages = random.Random(seed).sample(range(1, count_pages(whole)), 12)
    damaged = damage(whole, tmp_path, pages, seed)
    try:
        readable = texts(damaged)
    except apsw.Error:
        readable = {}  # SQLite reads nothing at all if the first page is bad
    salvaged = salvage(damaged, tmp_path / "new.db", NOW)
    found, real = texts(tmp_path / "new.db"), texts(whole)
    assert {number for number in readable if readable[number] == real[number]} <= {
        number for number in found if found[number] == real[number]
    }
    lost = [number for number in real if found.get(number, b"[purged]") == b"[purged]"]
    assert all(found[number] == real[number] for number in real if number not in lost)  # never another text
    gone = next(each.missing for each in salvaged.tables if each.table == "messages")
    assert len(lost) == gone + salvaged.messages_without_text
    database = apsw.Connection(str(tmp_path / "new.db"))
    assert database.execute("PRAGMA foreign_key_check").fetchall() == []
    assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    database.close()


def test_what_only_the_log_has_is_salvaged(tmp_path: Path) -> None:
    with open_world(tmp_path / "live", None) as world:
        world.session(agent_id="ada", driver="claude", native_id="n")
        world.call("db.messages.append", session_id=1, role="user", content="only in the log")
        assert (tmp_path / "live" / f"{DATABASE_NAME}-wal").stat().st_size > 0
        shutil.copytree(tmp_path / "live", tmp_path / "copy")
    salvage(tmp_path / "copy" / DATABASE_NAME, tmp_path / "new.db", NOW)
    assert texts(tmp_path / "new.db") == {1: b"only in the log"}


def lose(path: Path, table: str) -> None:
    """Take the rows of a table away, as a bad page does."""
    database = apsw.Connection(str(path))
    database.execute("PRAGMA foreign_keys = OFF")
    database.execute(f"DELETE FROM {table}")
    database.close()


@pytest.mark.requirement("R464")
def test_messages_stay_if_their_session_effort_and_task_are_lost(whole: Path, tmp_path: Path) -> None:
    damaged = damage(whole, tmp_path, [])
    for table in ("sessions", "efforts", "tasks", "projects", "branches", "agents"):
        lose(damaged, table)
    salvaged = salvage(damaged, tmp_path / "new.db", NOW)
    assert rows(salvaged, "messages") == MESSAGES
    assert salvaged.repairs.stand_ins.keys() >= {"sessions", "efforts", "tasks", "projects", "branches"}
    report = check_database(SqliteReadableStore(tmp_path / "new.db"), Codec())
    assert report.findings == []


def test_a_salvaged_database_takes_the_place_of_the_damaged_one(whole: Path, tmp_path: Path) -> None:
    with open_world(tmp_path, None):
        pass  # a home that knows another database
    database = damage(whole, tmp_path, [1, 4])
    damaged = database.read_bytes()
    report = offline(tmp_path, into=str(tmp_path / "looked.db"))
    assert (report.kept, database.read_bytes() == damaged) == (None, True)
    assert texts(tmp_path / "looked.db") == texts(whole)
    report = offline(tmp_path)
    assert report.kept is not None
    assert Path(report.kept).read_bytes() == damaged
    with open_world(tmp_path, None) as world:
        assert world.sql("SELECT count(*) FROM messages") == [(MESSAGES,)]
        world.call("db.messages.append", session_id=1, role="user", content="on")
        assert world.call("db.check").findings == []


def test_another_file_that_is_salvaged_replaces_no_database_by_itself(whole: Path, tmp_path: Path) -> None:
    with open_world(tmp_path, None):
        pass
    before = (tmp_path / DATABASE_NAME).read_bytes()
    with pytest.raises(InvalidParams, match="does not replace the database by itself") as refused:
        offline(tmp_path, source=str(whole))
    assert "--into FILE" in refused.value.fix
    assert (tmp_path / DATABASE_NAME).read_bytes() == before
    report = offline(tmp_path, source=str(whole), into=str(tmp_path / "new.db"))
    assert (report.kept, texts(tmp_path / "new.db")) == (None, texts(whole))


def offline(folder: Path, **order: Any) -> SalvageReport:
    places = places_in(folder, folder / DATABASE_NAME)
    return run_salvage(Settings(), places, FakeClock(), Faults(), SalvageOrder(**order))


def hostile(whole: Path, folder: Path) -> Iterator[tuple[Path, type[RametError]]]:
    foreign = apsw.Connection(str(folder / "foreign.db"))
    foreign.execute("CREATE TABLE messages (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO messages VALUES (1, 'x')")
    foreign.close()
    yield folder / "foreign.db", DatabaseForeign
    newer = folder / "newer.db"
    shutil.copy(whole, newer)
    database = apsw.Connection(str(newer))
    database.execute("INSERT INTO schema_migrations (number, name, applied_at) VALUES (9999, 'later', '')")
    database.close()
    yield newer, DatabaseNewer
    for name, content in (("noise", random.Random(1).randbytes(200_000)), ("short", b"hello"), ("empty", b"")):
        (folder / name).write_bytes(content)
        yield folder / name, DatabaseForeign


def test_what_is_no_database_of_ours_is_refused(whole: Path, tmp_path: Path) -> None:
    for path, error in hostile(whole, tmp_path):
        with pytest.raises(error):
            salvage(path, tmp_path / "new.db", NOW)
        assert not (tmp_path / "new.db").exists(), path
