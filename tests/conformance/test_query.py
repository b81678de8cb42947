"""`db.query` reads, and only reads; nothing else gets at the tables."""

from pathlib import Path

import pytest
from tests.world import World

from ramet.errors import InvalidParams, QueryFailed, QueryRefused, QueryTimeout


@pytest.mark.requirement("R260", "R265")
def test_a_query_answers_with_columns_and_rows(world: World) -> None:
    world.session(agent_id="ada")
    found = world.call("db.query", sql="SELECT agent, skill AS what, NULL AS empty, 0.5 AS half FROM fleet_status")
    assert (found.columns, found.truncated) == (["agent", "what", "empty", "half"], False)
    assert [[*row[:3], float(row[3])] for row in found.rows] == [["ada", "implement", None, 0.5]]


@pytest.mark.requirement("R265")
def test_a_query_takes_parameters_and_shows_hashes_as_hex(world: World) -> None:
    session = world.session()
    said = world.call("db.messages.append", session_id=session.id, role="user", content="100% ?")
    found = world.call("db.query", sql="SELECT hash, '%' FROM commits WHERE role = ?", params=["user"])
    assert found.rows == [[said.commit, "%"]]
    assert world.call("db.query", sql="SELECT '?%s'").rows == [["?%s"]]


@pytest.mark.requirement("R265")
@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM tasks",
        "INSERT INTO agents (id) VALUES ('eve')",
        "INSERT INTO agents (id) VALUES ('eve') RETURNING id",
        "UPDATE agents SET label = 'x'",
        "DROP TABLE agents",
        "CREATE TABLE x (id INTEGER)",
        "WITH gone AS (DELETE FROM agents RETURNING id) SELECT * FROM gone",
        "SELECT 1; DELETE FROM agents",
        "SELECT 1; SELECT 2",
        "BEGIN",
        "COMMIT",
        "PRAGMA query_only = OFF",
        "ATTACH 'x.db' AS x",
        "VACUUM",
        "SET default_transaction_read_only = off",
        "COPY agents TO STDOUT",
        "-- nothing",
        "  ",
        "",
    ],
)
def test_what_is_not_one_statement_that_reads_is_refused(world: World, sql: str) -> None:
    world.session(agent_id="ada")
    before = world.dump()
    with pytest.raises((QueryRefused, QueryFailed, InvalidParams)) as refusal:
        world.call("db.query", sql=sql)
    assert (refusal.value.field, refusal.value.value) == ("sql", sql) or world.is_sqlite
    assert world.dump() == before


@pytest.mark.requirement("R265")
@pytest.mark.parametrize(
    "sql",
    ["-- one\nSELECT 1", "/* one\n*/ SELECT 1;", "WITH x AS (SELECT 1) SELECT * FROM x", "values (1)"],
)
def test_a_statement_that_reads_may_be_written_in_any_way(world: World, sql: str) -> None:
    assert world.call("db.query", sql=sql).rows == [[1]]


@pytest.mark.requirement("R265")
@pytest.mark.parametrize("sql", ["SELECT nope FROM tasks", "SELECT * FROM nowhere", "SELECT 1 +", "SELECT ?"])
def test_a_query_that_the_database_does_not_understand_says_why(world: World, sql: str) -> None:
    with pytest.raises(QueryFailed) as refusal:
        world.call("db.query", sql=sql)
    assert (refusal.value.field, refusal.value.value) == ("sql", sql)


@pytest.mark.requirement("R265")
def test_a_query_is_cut_at_the_maximum_and_says_so(world: World) -> None:
    for number in range(4):
        world.task(f"/shop/{number}")
    result = world.store.query("SELECT dir_path FROM tasks", [], timeout_seconds=5, max_rows=3)
    assert (len(result.rows), result.truncated) == (3, True)
    assert not world.store.query("SELECT dir_path FROM tasks", [], timeout_seconds=5, max_rows=4).truncated


@pytest.mark.requirement("R265")
def test_a_query_that_takes_too_long_is_ended(world: World) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    with pytest.raises(QueryTimeout):
        world.store.query(endless, [], timeout_seconds=1, max_rows=10)
    assert world.call("db.query", sql="SELECT 1").rows == [[1]]


@pytest.mark.requirement("R265")
def test_a_reading_connection_cannot_write(world: World) -> None:
    world.task()
    reader = world.store.connect_reader()
    writer, world.db = world.db, reader
    try:
        with pytest.raises(Exception, match=r"(?i)read-?\s?only"):
            world.sql("DELETE FROM tasks")
        reader.rollback()
        assert world.sql("SELECT count(*) FROM tasks") == [(1,)]
    finally:
        world.db = writer
        reader.close()


@pytest.mark.requirement("R265")
def test_a_query_reads_no_file(world: World, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    for sql in (f"SELECT readfile('{secret}')", f"SELECT load_extension('{secret}')"):
        with pytest.raises((QueryRefused, QueryFailed)):
            world.call("db.query", sql=sql)
