"""The schema as it is written down is the schema that the migrations produce, and says what the model says."""

import re
from importlib.resources import files
from pathlib import Path
from typing import get_args

import pytest
from tests.store.dumps import dump_schema
from tests.world import FakeClock, World, open_world

from ramet.model.history.commit import CommitOperation
from ramet.model.memory.edit import EditKind
from ramet.model.notice import NoticeKind
from ramet.model.record.effort import (
    TRANSITIONS,
    Failure,
    Lifecycle,
    Outcome,
)
from ramet.model.record.message import Role
from ramet.store.database.schema.migrations import load_migrations
from ramet.store.database.store import Store


def written(dialect: str) -> str:
    return (files("ramet.store") / "sql" / f"schema.{dialect}.sql").read_text(encoding="utf-8")


class _Bare(World):
    """A world on a database that no migration has touched."""

    def __init__(self, world: World) -> None:
        self.db = world.db
        self.is_sqlite = world.is_sqlite
        self.store: Store = world.store
        self.clock = FakeClock()


@pytest.mark.requirement("R198", "R277")
def test_the_written_schema_of_sqlite_is_what_the_migrations_produce(tmp_path: Path) -> None:
    import apsw

    from ramet.store.database.sqlite.connection import SqliteConnection

    with open_world(tmp_path, None) as world:
        migrated = dump_schema(world)
        bare = _Bare(world)
        bare.db = SqliteConnection(apsw.Connection(":memory:"))
        bare.db.database.execute(written("sqlite"))
        assert dump_schema(bare) == migrated
        bare.db.close()


@pytest.mark.requirement("R198", "R277")
def test_the_written_schema_of_postgres_is_what_the_migrations_produce(
    tmp_path: Path, postgres_url: str, worlds_schema: str
) -> None:
    from ramet.store.database.postgres.connection import connect

    with open_world(tmp_path, worlds_schema) as world:
        migrated = dump_schema(world)
        bare = _Bare(world)
        bare.db = connect(postgres_url)
        try:
            bare.db.database.execute(written("postgres").encode())
            assert dump_schema(bare) == migrated
        finally:
            bare.db.close()


@pytest.mark.requirement("R199")
@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
@pytest.mark.parametrize(
    ("column", "allowed"),
    [
        ("lifecycle", Lifecycle),
        ("outcome", Outcome),
        ("failure", Failure),
        ("notices.kind", NoticeKind),
        ("edits.kind", EditKind),
        ("role", Role),
        ("operation", CommitOperation),
    ],
)
def test_what_the_database_allows_is_what_the_model_allows(dialect: str, column: str, allowed: object) -> None:
    """A column that several tables have, with other values in each, is given with its table."""
    text = "\n".join(line for line in written(dialect).splitlines() if not line.lstrip().startswith("--"))
    table, _, column = column.rpartition(".")
    if table:
        text = text.partition(f"CREATE TABLE {table} (")[2].partition(";")[0]
    checks = re.findall(rf"CHECK \({column} IN\s*\(([^)]*)\)\)", text)
    assert checks
    for check in checks:
        assert tuple(re.findall(r"'(\w+)'", check)) == get_args(allowed)


@pytest.mark.requirement("R192", "R199")
def test_every_state_of_an_effort_has_its_transitions() -> None:
    assert set(TRANSITIONS) == set(get_args(Lifecycle))
    assert all(set(following) <= set(TRANSITIONS) for following in TRANSITIONS.values())


@pytest.mark.requirement("R198")
def test_both_databases_have_the_same_tables_and_columns(tmp_path: Path, worlds_schema: str) -> None:
    from tests.conformance.catalog import columns_of, relations

    found = []
    for folder, url in (("sqlite", None), ("postgres", worlds_schema)):
        with open_world(tmp_path / folder, url) as world:
            names = sorted(relations(world, "table") | relations(world, "view"))
            found.append({name: set(columns_of(world, name)) for name in names})
    sqlite, postgres = found
    assert postgres["events"] - sqlite["events"] == {"xid"}
    postgres["events"].discard("xid")
    assert sqlite == postgres


def test_every_table_of_sqlite_is_strict() -> None:
    creates = [
        text for step in load_migrations("sqlite") for text in step.statements if text.startswith("CREATE TABLE")
    ]
    assert creates
    assert all(text.rstrip().endswith("STRICT") for text in creates)
