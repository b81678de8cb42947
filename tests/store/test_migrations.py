"""Migrations: forward only, each in one transaction with its record, on both databases."""

import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.store.dumps import dump_schema
from tests.world import FakeClock, World, open_in, open_world

from ramet.errors import DatabaseForeign, DatabaseNewer, MigrationFailed
from ramet.faults import FaultPoint, Faults
from ramet.store.database.schema import migrations as module
from ramet.store.database.schema.migrations import Migration, load_migrations, migrate
from ramet.store.database.sqlite.backup_file import APPLICATION_ID
from ramet.store.database.sqlite.connection import open_reader
from ramet.store.database.sqlite.store import SqliteStore

LATEST = load_migrations("sqlite")[-1].number


class Interrupted(Exception):
    """The power went."""


class InterruptAt(Faults):
    """Fails the n-th time that a migration says where it is."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.reached = 0

    def reach(self, point: FaultPoint) -> None:
        if point == "during_migration":
            self.reached += 1
            if self.reached == self.number:
                raise Interrupted


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


def migrate_in(folder: Path, url: str | None, faults: Faults | None = None) -> Any:
    """Open and close; what that did."""
    store = open_in(folder, url, faults=faults)
    store.close()
    return store.migrated


def schema_in(folder: Path, url: str | None) -> Any:
    with open_world(folder, url) as world:
        return dump_schema(world)


@pytest.mark.requirement("R277", "R315")
def test_both_databases_have_the_same_migrations_in_order() -> None:
    sqlite, postgres = load_migrations("sqlite"), load_migrations("postgres")
    assert [(step.number, step.name) for step in sqlite] == [(step.number, step.name) for step in postgres]
    assert [step.number for step in sqlite] == list(range(1, LATEST + 1))
    for dialect in ("sqlite", "postgres"):
        for file in (files("ramet.store") / "sql" / "migrations" / dialect).iterdir():
            assert re.fullmatch(r"\d{4}_[a-z0-9_]+\.sql", file.name), file.name


@pytest.mark.requirement("R277", "R315")
def test_a_fresh_database_gets_every_migration_and_no_backup(tmp_path: Path, database_url: str | None) -> None:
    done = migrate_in(tmp_path, database_url)
    assert (done.before, done.after, done.backup) == (0, LATEST, None)
    assert done.applied == [step.name for step in load_migrations("sqlite")]
    assert not (tmp_path / "backups").exists()


@pytest.mark.requirement("R277", "R315")
def test_opening_a_current_database_changes_nothing(tmp_path: Path, database_url: str | None) -> None:
    with open_world(tmp_path, database_url) as world:
        world.session()
        before, tables = dump_schema(world), world.dump()
    done = migrate_in(tmp_path, database_url)
    assert (done.before, done.applied, done.backup) == (LATEST, [], None)
    with open_world(tmp_path, database_url) as world:
        assert (dump_schema(world), world.dump()) == (before, tables)


@pytest.mark.requirement("R277", "R315")
@pytest.mark.parametrize("version", [1, 14, LATEST - 1])
def test_an_older_database_is_backed_up_and_goes_through_every_step_between(
    tmp_path: Path, database_url: str | None, only_known: Any, version: int
) -> None:
    only_known(version)
    assert migrate_in(tmp_path, database_url).after == version
    only_known(LATEST)
    done = migrate_in(tmp_path, database_url)
    assert (done.before, done.after, len(done.applied)) == (version, LATEST, LATEST - version)
    copy = open_reader(Path(done.backup))
    assert copy.database.execute("SELECT max(number) FROM schema_migrations").get == version
    assert copy.database.pragma("integrity_check") == "ok"
    copy.close()
    assert Path(done.backup).name.endswith(f"-before-v{version + 1}.db")


@pytest.mark.requirement("R277", "R315")
def test_every_way_to_the_latest_version_leads_to_the_same_schema(
    tmp_path: Path, postgres_url: str, only_known: Any
) -> None:
    for number in range(1, LATEST + 1):
        only_known(number)
        migrate_in(tmp_path / "steps", None)
        migrate_in(tmp_path / "steps-pg", postgres_url)
    assert schema_in(tmp_path / "steps", None) == schema_in(tmp_path / "at-once", None)


@pytest.mark.requirement("R315")
def test_a_newer_database_is_refused_and_left_alone(tmp_path: Path, database_url: str | None, only_known: Any) -> None:
    with open_world(tmp_path, database_url) as world:
        world.session()
        before = world.dump()
    only_known(LATEST - 1)
    with pytest.raises(DatabaseNewer) as refusal:
        open_in(tmp_path, database_url)
    assert (refusal.value.field, refusal.value.value) == ("schema_version", LATEST)
    assert not (tmp_path / "backups").exists()
    only_known(LATEST)
    with open_world(tmp_path, database_url) as world:
        assert world.dump() == before


def _interrupt(folder: Path, url: str | None, number: int) -> None:
    with pytest.raises(MigrationFailed) as failure:
        open_in(folder, url, faults=InterruptAt(number), clock=FakeClock(number))
    assert isinstance(failure.value.__cause__, Interrupted)


@pytest.mark.requirement("R315", "R277")
@pytest.mark.parametrize("version", range(LATEST))
def test_a_migration_interrupted_at_any_statement_is_done_the_next_time(
    tmp_path: Path, database_url: str | None, only_known: Any, version: int
) -> None:
    folder = tmp_path / "interrupted"
    if version:
        only_known(version)
        migrate_in(folder, database_url)
    only_known(version + 1)
    dialect: Any = "sqlite" if database_url is None else "postgres"
    for number in range(1, len(load_migrations(dialect)[version].statements) + 2):
        _interrupt(folder, database_url, number)
    done = migrate_in(folder, database_url)
    assert (done.before, done.after) == (version, version + 1)
    if database_url is None:
        assert schema_in(folder, None) == schema_in(tmp_path / "whole", None)


@pytest.mark.requirement("R315")
def test_an_interrupted_migration_has_changed_nothing(
    tmp_path: Path, database_url: str | None, only_known: Any
) -> None:
    only_known(1)
    before = schema_in(tmp_path, database_url)
    only_known(LATEST)
    for number in (1, 4, 9):
        _interrupt(tmp_path, database_url, number)
    only_known(1)
    assert schema_in(tmp_path, database_url) == before


@pytest.mark.requirement("R315", "R277")
def test_a_migration_that_fails_is_undone_and_names_the_backup(
    tmp_path: Path, database_url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_world(tmp_path, database_url) as world:
        world.session()
        before, schema = world.dump(), dump_schema(world)
    bad = Migration(LATEST + 1, "bad", ("CREATE TABLE half (id INTEGER)", "ALTER TABLE nowhere ADD x TEXT"))
    with monkeypatch.context() as patch:
        patch.setattr(module, "load_migrations", lambda dialect: [*load_migrations(dialect), bad])
        with pytest.raises(MigrationFailed) as failure:
            open_in(tmp_path, database_url)
    (backup,) = (tmp_path / "backups").iterdir()
    assert str(backup) in failure.value.message
    assert f"{LATEST + 1:04d}_bad" in failure.value.message
    with open_world(tmp_path, database_url) as world:
        assert (world.dump(), dump_schema(world)) == (before, schema)


@pytest.mark.requirement("R315")
def test_two_processes_may_migrate_one_server_at_once(tmp_path: Path, postgres_url: str) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as threads:
        done = list(threads.map(lambda name: migrate_in(tmp_path / name, postgres_url), "abcd"))
    assert [migrated.after for migrated in done] == [LATEST] * 4
    with open_world(tmp_path, postgres_url) as world:
        assert world.sql("SELECT count(*) FROM schema_migrations") == [(LATEST,)]


@pytest.mark.requirement("R277")
def test_migrate_takes_any_list_of_migrations(tmp_path: Path) -> None:
    with open_world(tmp_path, None) as world:
        assert isinstance(world.store, SqliteStore)

        class Here:
            dialect = "sqlite"
            connection = world.store.connect()

            def schema_version(self) -> int:
                return int(world.sql("SELECT max(number) FROM schema_migrations")[0][0])

            def mark(self) -> None: ...

            def differences(self, version: int) -> list[str]:
                return []

        steps = [*load_migrations("sqlite"), Migration(LATEST + 1, "more", ("CREATE TABLE more (id INTEGER)",))]
        done = migrate(
            Here(),  # type: ignore[arg-type]
            clock=FakeClock(),
            faults=Faults(),
            back_up=lambda version: f"backup of {version}",
            migrations=steps,
        )
        assert (done.applied, done.backup) == (["more"], f"backup of {LATEST}")
        assert world.sql("SELECT count(*) FROM more") == [(0,)]


def _foreign(path: Path, kind: str) -> None:
    if kind == "not a database":
        path.write_bytes(b"Dear diary, " * 500)
        return
    database = apsw.Connection(str(path))
    database.execute("CREATE TABLE diary (day TEXT); INSERT INTO diary VALUES ('monday')")
    if kind == "another program's mark":
        database.pragma("application_id", 1234)
    database.close()


@pytest.mark.requirement("R315")
@pytest.mark.parametrize("kind", ["not a database", "another program's", "another program's mark"])
def test_a_file_of_another_program_is_refused_and_left_alone(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "ramet.db"
    _foreign(path, kind)
    before = path.read_bytes()
    with pytest.raises(DatabaseForeign):
        open_in(tmp_path, None)
    assert path.read_bytes() == before
    path.unlink()
    open_in(tmp_path, None).close()


@pytest.mark.requirement("R315")
def test_an_empty_file_becomes_a_database_of_ours(tmp_path: Path) -> None:
    (tmp_path / "ramet.db").touch()
    assert migrate_in(tmp_path, None).after == LATEST
    reader = open_reader(tmp_path / "ramet.db")
    assert reader.database.pragma("application_id") == APPLICATION_ID
    reader.close()


@pytest.mark.requirement("R315")
def test_another_programs_tables_on_the_server_are_refused_or_left_alone(tmp_path: Path, postgres_url: str) -> None:
    """A schema that holds other tables keeps them: ours are added beside, and a clash of names changes nothing."""
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as database:
        database.execute("CREATE TABLE tasks (diary TEXT)")
        database.execute("INSERT INTO tasks VALUES ('monday')")
        with pytest.raises(MigrationFailed, match="0002_work"):
            open_in(tmp_path, postgres_url)
        assert database.execute("SELECT diary FROM tasks").fetchall() == [("monday",)]


def test_the_world_is_what_a_migration_leaves(world: World) -> None:
    assert world.store.migrated.after == LATEST
