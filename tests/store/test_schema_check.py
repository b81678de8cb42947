"""A check compares the schema that a database has with the one that the migrations make, and names each difference."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.store.landed_schemas import change, find, load
from tests.world import open_in, open_world

from ramet.store.database.schema.catalog import Part, parse_table


@pytest.mark.requirement("R463")
def test_a_new_database_has_the_schema_that_is_expected(tmp_path: Path, database_url: str | None) -> None:
    with open_world(tmp_path, database_url) as world:
        assert world.store.schema_differences() == []
        assert world.call("db.check").passed


@pytest.mark.requirement("R463")
def test_a_check_names_each_kind_of_difference_on_a_server(tmp_path: Path, postgres_url: str) -> None:
    open_in(tmp_path, postgres_url).close()
    made = {
        "ALTER TABLE sessions DROP COLUMN title CASCADE": "the column sessions.title is missing: text",
        "ALTER TABLE notices DROP CONSTRAINT notices_kind_check": "the constraint of notices: CHECK ((kind =",
        "ALTER TABLE efforts ALTER agent_failures SET DEFAULT 7": "DEFAULT 7, and should be integer NOT NULL DEFAULT 0",
        "ALTER TABLE parked ALTER failures TYPE BIGINT": "the column parked.failures is bigint",
        "DROP VIEW active_efforts": "the view active_efforts is missing",
        "DROP INDEX idx_notices_open": "the index idx_notices_open is missing",
        "CREATE VIEW dashboard AS SELECT 1": "",
        "CREATE TABLE diary (day TEXT)": "",
    }
    change(tmp_path, postgres_url, *made)
    with open_world(tmp_path, postgres_url) as world:
        details = [finding.detail for finding in world.call("db.check").findings]
    assert [expected for expected in made.values() if not any(expected in detail for detail in details)] == []
    assert not any("dashboard" in detail or "diary" in detail for detail in details)


@pytest.mark.requirement("R463")
def test_a_check_names_each_kind_of_difference_in_a_file(tmp_path: Path) -> None:
    open_in(tmp_path, None).close()
    made = {
        "PRAGMA writable_schema = ON": "",
        "UPDATE sqlite_schema SET sql = replace(sql, '''gave_up'', ', '') WHERE name = 'notices'": "notices.kind is",
        "UPDATE sqlite_schema SET sql = replace(sql, 'agent_failures INTEGER NOT NULL', 'agent_failures INTEGER')": (
            "the column efforts.agent_failures is INTEGER DEFAULT 0, and should be INTEGER NOT NULL DEFAULT 0"
        ),
        "PRAGMA writable_schema = RESET": "",
        "ALTER TABLE parked DROP COLUMN failures": "the column parked.failures is missing",
        "CREATE TABLE diary (day TEXT)": "the table diary is not Ramet's",
        "DROP INDEX idx_notices_open": "the index idx_notices_open is missing",
    }
    change(tmp_path, None, *made)
    with open_world(tmp_path, None) as world:
        details = [finding.detail for finding in world.call("db.check").findings]
    assert [expected for expected in made.values() if not any(expected in detail for detail in details)] == []


@pytest.fixture
def modest_url(postgres_url: str) -> Iterator[str]:
    """A url of a user who may work in the schema, and make no temporary tables."""
    import psycopg

    name = f"modest_{os.getpid()}"
    url = postgres_url.replace("//postgres:@", f"//{name}:@")
    with psycopg.connect(postgres_url, autocommit=True) as server:
        if url == postgres_url:
            pytest.skip("the server of RAMET_TEST_POSTGRES has users of its own")
        server.execute(f"CREATE ROLE {name} LOGIN".encode())
        server.execute(f"DO $$BEGIN EXECUTE 'GRANT ALL ON SCHEMA ' || current_schema() || ' TO {name}'; END$$".encode())
        server.execute(b"REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC")
        try:
            yield url
        finally:
            server.execute(b"GRANT TEMPORARY ON DATABASE postgres TO PUBLIC")
            server.execute(f"DROP OWNED BY {name} CASCADE".encode())
            server.execute(f"DROP ROLE {name}".encode())


@pytest.mark.requirement("R463")
def test_a_user_who_may_make_no_temporary_tables_opens_a_database_and_hears_what_was_not_compared(
    tmp_path: Path, modest_url: str
) -> None:
    load(find("f2414985"), tmp_path, modest_url)
    with open_world(tmp_path, modest_url) as world:
        (finding,) = world.call("db.check").findings
        assert finding.detail.startswith("the schema cannot be compared")
        assert world.session().id > 0


@pytest.mark.requirement("R463")
def test_the_parts_of_a_table_are_read_whatever_its_texts_contain() -> None:
    statement = """CREATE TABLE "pots" (
        name TEXT NOT NULL CHECK (name <> 'a, (b'), -- the name, (not the kind
        kind TEXT DEFAULT 'it''s, one',
        CHECK (length(kind) < 9 AND name IN ('x)', 'y')),
        UNIQUE (name, kind)
    ) STRICT"""
    assert dict(parse_table("pots", statement)) == {
        Part("table", "pots"): "STRICT",
        Part("column", "pots.name"): "TEXT NOT NULL CHECK (name <> 'a, (b')",
        Part("column", "pots.kind"): "TEXT DEFAULT 'it''s, one'",
        Part("constraint", "of pots: CHECK (length(kind) < 9 AND name IN ('x)', 'y'))"): (
            "CHECK (length(kind) < 9 AND name IN ('x)', 'y'))"
        ),
        Part("constraint", "of pots: UNIQUE (name, kind)"): "UNIQUE (name, kind)",
    }
