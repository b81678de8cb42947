"""Backups: a consistent SQLite file from either database, made while work goes on."""

import stat
from pathlib import Path

import apsw
import pytest
from tests.world import OTHER_TABLES, SEED_TABLES, World, database_settings, open_in, open_world, places_in

from ramet.clock import SystemClock
from ramet.config.settings import DatabaseSettings
from ramet.errors import InvalidParams
from ramet.store import reset_store


def furnish(world: World) -> None:
    session = world.session(agent_id="ada", driver="claude", native_id="n")
    world.skill("paint", ["1: Look"])
    world.call("db.effort.phase", effort_id=session.effort_id, label="1", idempotency_key="k")
    for content in ("hi \u0000 \U0001f680", "", "long " * 1000):
        world.call("db.messages.append", session_id=session.id, role="user", content=content)


def rows(database: apsw.Connection, table: str) -> list[str]:
    return sorted(repr(row) for row in database.execute(f"SELECT * FROM {table}"))


def test_a_backup_holds_every_row_and_opens_as_a_database_of_ours(world: World, tmp_path: Path) -> None:
    furnish(world)
    target = tmp_path / "copy" / "ramet.db"
    target.parent.mkdir()
    report = world.call("db.backup", path=str(target))
    assert (report.path, report.schema_version) == (str(target), world.store.schema_version)
    assert report.bytes == target.stat().st_size
    before = world.dump()
    with open_world(target.parent, None) as copy:
        assert copy.store.migrated.applied == []
        after = copy.dump()
        if world.is_sqlite:
            assert after == before
        for table in set(SEED_TABLES + OTHER_TABLES) - {"events"}:
            assert len(after[table]) == len(before[table]), table
        assert copy.call("db.check").passed
        listed = copy.call("db.messages.list", session_id="claude:n").items
        assert listed == world.call("db.messages.list", session_id="claude:n").items
        assert copy.call("db.session.heartbeat", session_id=1).heartbeat_counter == 1


def test_a_backup_is_private_and_leaves_no_partial_file(world: World, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    world.call("db.backup", path=str(target))
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("copy")] == ["copy.db"]


def test_a_backup_never_overwrites_a_file(world: World, tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("mine")
    with pytest.raises(InvalidParams) as refusal:
        world.call("db.backup", path=str(target))
    assert (refusal.value.field, refusal.value.value) == ("path", str(target))
    assert target.read_text() == "mine"


def test_a_backup_into_a_folder_that_is_not_there_makes_it(world: World, tmp_path: Path) -> None:
    target = tmp_path / "a" / "b" / "copy.db"
    world.call("db.backup", path=str(target))
    assert target.exists()


@pytest.mark.requirement("R277")
def test_a_reset_empties_the_database_after_a_backup(tmp_path: Path, database_url: str | None) -> None:
    """C4: dropping is never automatic, and what is dropped is kept."""
    with open_world(tmp_path, database_url) as world:
        furnish(world)
    settings: DatabaseSettings = database_settings(database_url)
    places = places_in(tmp_path, tmp_path / "ramet.db" if database_url is None else None)
    backup = Path(reset_store(settings, places, clock=SystemClock()))
    copy = apsw.Connection(str(backup), flags=apsw.SQLITE_OPEN_READONLY)
    assert len(rows(copy, "messages")) == 3
    copy.close()
    store = open_in(tmp_path, database_url)
    assert store.migrated.before == 0
    store.close()
    with open_world(tmp_path, database_url) as world:
        assert world.call("db.project.list").items == []
