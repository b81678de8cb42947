"""The migration that brings spawns and annotations: from every version before it, again, interrupted, and recorded."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest
from tests.conformance.history.story import say, spawn, texts
from tests.world import FakeClock, World, open_in, open_world

from ramet.errors import DatabaseForeign, DatabaseNewer, MigrationFailed
from ramet.faults import FaultPoint, Faults
from ramet.model.history.commit import CommitFacts, hash_commit, hash_content
from ramet.store.database.queries import Query
from ramet.store.database.schema import migrations as module
from ramet.store.database.schema.migrations import load_migrations

NUMBER = next(step.number for step in load_migrations("sqlite") if step.name == "contexts")
NEW_TABLES = {"annotations", "revisions", "tags", "content_types", "spawn_pointers", "collapses"}


class Interrupt(Faults):
    """Fails the n-th time that a migration says where it is."""

    def __init__(self, number: int) -> None:
        self.left = number

    def reach(self, point: FaultPoint) -> None:
        self.left -= point == "during_migration"
        if self.left == 0:
            raise RuntimeError("the power went")


@pytest.fixture
def only_known(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Lets Ramet know only the migrations up to a number, as an older version would."""

    def know(number: int) -> None:
        monkeypatch.setattr(
            module,
            "load_migrations",
            lambda dialect: [step for step in load_migrations(dialect) if step.number <= number],
        )

    yield know
    monkeypatch.undo()


def tables(world: World) -> set[str]:
    listed = (
        "SELECT name FROM sqlite_schema WHERE type = 'table'"
        if world.is_sqlite
        else "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
    )
    return {row[0] for row in world.sql(listed)}


def version(world: World) -> int:
    return int(world.sql("SELECT max(number) FROM schema_migrations")[0][0])


@pytest.mark.requirement("R12", "R13")
def test_a_fresh_database_has_the_tables_and_the_version(tmp_path: Path, database_url: str | None) -> None:
    with open_world(tmp_path, database_url) as world:
        assert tables(world) >= NEW_TABLES
        assert NUMBER == 4
        assert version(world) == load_migrations("sqlite")[-1].number >= NUMBER


@pytest.mark.requirement("R14", "R15")
@pytest.mark.parametrize("before", range(1, NUMBER))
def test_an_older_database_gains_the_tables_by_itself(
    tmp_path: Path, database_url: str | None, only_known: Any, before: int
) -> None:
    only_known(before)
    open_in(tmp_path, database_url).close()
    only_known(NUMBER)
    store = open_in(tmp_path, database_url)
    assert (store.migrated.before, store.migrated.after) == (before, NUMBER)
    store.close()
    with open_world(tmp_path, database_url) as world:
        assert tables(world) >= NEW_TABLES
        assert "sessions" in tables(world)
        say(world, "a")
        spawn(world, "kid", inherit="full_clone")
        assert texts(world, "kid") == ["a"]


def write_as_before(world: World, text: str) -> None:
    """A branch with one commit, as the versions before wrote it."""
    facts = CommitFacts(content_hash=hash_content(text.encode()), content_type="dialogue", role="user", author="user")
    world.sql(
        "INSERT INTO blobs (hash, codec, size, data) VALUES (:hash, 0, :size, :data)",
        hash=facts.content_hash,
        size=len(text),
        data=text.encode(),
    )
    world.sql("INSERT INTO segments (base_seq) VALUES (0)")
    world.sql(
        "INSERT INTO commits (hash, segment_id, seq, blob_id, content_type, role, author, created_ms, tokens,"
        " token_sum) VALUES (:hash, 1, 1, 1, 'dialogue', 'user', 'user', 0, 1, 1)",
        hash=hash_commit(facts),
    )
    world.sql("INSERT INTO branches (name, commit_id, created_ms) VALUES ('old', 1, 0)")


@pytest.mark.requirement("R14")
def test_what_an_older_version_wrote_is_still_there(tmp_path: Path, database_url: str | None, only_known: Any) -> None:
    only_known(NUMBER - 1)
    with open_world(tmp_path, database_url) as world:
        write_as_before(world, "hello")
    only_known(load_migrations("sqlite")[-1].number)
    with open_world(tmp_path, database_url) as world:
        assert texts(world, "old") == ["hello"]
        say(world, "there", branch="old")
        assert texts(world, "old") == ["hello", "there"]
        assert world.call("history.check").passed


@pytest.mark.requirement("R16", "R18")
def test_opening_a_current_database_changes_nothing(tmp_path: Path, database_url: str | None) -> None:
    with open_world(tmp_path, database_url) as world:
        say(world, "a")
        spawn(world, "kid")
        before = world.dump()
    store = open_in(tmp_path, database_url)
    assert store.migrated.applied == []
    store.close()
    with open_world(tmp_path, database_url) as world:
        assert world.dump() == before


@pytest.mark.requirement("R16")
@pytest.mark.parametrize("before", range(1, NUMBER))
def test_no_step_runs_a_second_time_however_often_a_database_is_opened(
    tmp_path: Path, database_url: str | None, only_known: Any, before: int
) -> None:
    only_known(before)
    open_in(tmp_path, database_url).close()
    only_known(load_migrations("sqlite")[-1].number)
    with open_world(tmp_path, database_url) as world:
        say(world, "a")
        kept, recorded = world.dump(), world.sql("SELECT * FROM schema_migrations ORDER BY number")
    for _ in range(3):
        # The first statement of any step would end this.
        store = open_in(tmp_path, database_url, faults=Interrupt(1), clock=FakeClock(9))
        assert (store.migrated.applied, store.migrated.backup) == ([], None)
        store.close()
    with open_world(tmp_path, database_url) as world:
        assert world.sql("SELECT * FROM schema_migrations ORDER BY number") == recorded
        assert world.dump() == kept


@pytest.mark.requirement("R16")
def test_a_step_whose_record_was_lost_does_not_run_over_what_it_made(tmp_path: Path, database_url: str | None) -> None:
    with open_world(tmp_path, database_url) as world:
        say(world, "a")
        spawn(world, "kid")
        before = world.dump()
        lost = world.sql("SELECT number, name, applied_at FROM schema_migrations WHERE number >= :first", first=NUMBER)
        world.sql("DELETE FROM schema_migrations WHERE number >= :first", first=NUMBER)
    for moment in range(2):
        with pytest.raises((DatabaseForeign, MigrationFailed)):
            open_in(tmp_path, database_url, clock=FakeClock(moment))
    restore_records(tmp_path, database_url, lost)
    with open_world(tmp_path, database_url) as world:
        assert world.dump() == before


def restore_records(folder: Path, url: str | None, rows: list[Any]) -> None:
    """Puts the records back as a person would, with the database's own tools."""
    statement = "INSERT INTO schema_migrations (number, name, applied_at) VALUES ({}, {}, {})"
    if url is None:
        with closing(apsw.Connection(str(folder / "ramet.db"))) as sqlite:
            sqlite.executemany(statement.format("?", "?", "?"), rows)
    else:
        with psycopg.connect(url, autocommit=True) as postgres, postgres.cursor() as cursor:
            cursor.executemany(statement.format("%s", "%s", "%s"), rows)


@pytest.mark.requirement("R17")
def test_the_version_is_seen_by_a_second_connection(tmp_path: Path, database_url: str | None, only_known: Any) -> None:
    only_known(NUMBER - 1)
    open_in(tmp_path, database_url).close()
    only_known(NUMBER)
    store = open_in(tmp_path, database_url)
    reader = store.connect_reader()
    statement = "SELECT max(number) FROM schema_migrations"
    assert reader.one(Query("test", statement, statement)) == (NUMBER,)
    reader.close()
    store.close()


@pytest.mark.requirement("R18")
def test_a_database_with_spawns_is_refused_by_a_version_that_knows_none(
    tmp_path: Path, database_url: str | None, only_known: Any
) -> None:
    with open_world(tmp_path, database_url) as world:
        say(world, "a")
        before = world.dump()
    only_known(NUMBER - 1)
    with pytest.raises(DatabaseNewer):
        open_in(tmp_path, database_url)
    only_known(load_migrations("sqlite")[-1].number)
    with open_world(tmp_path, database_url) as world:
        assert world.dump() == before


@pytest.mark.requirement("R19")
def test_a_migration_interrupted_at_any_statement_is_done_the_next_time(
    tmp_path: Path, database_url: str | None, only_known: Any
) -> None:
    only_known(NUMBER - 1)
    open_in(tmp_path, database_url).close()
    only_known(NUMBER)
    steps = len(load_migrations("sqlite")[NUMBER - 1].statements) + 1
    for moment in range(1, steps + 1):
        with pytest.raises(MigrationFailed):
            open_in(tmp_path, database_url, faults=Interrupt(moment), clock=FakeClock(moment))
    only_known(NUMBER - 1)
    with open_world(tmp_path, database_url) as world:
        assert not tables(world) & NEW_TABLES
    only_known(NUMBER)
    with open_world(tmp_path, database_url) as world:
        assert tables(world) >= NEW_TABLES
