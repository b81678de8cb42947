"""`db.query` reads, and only reads; nothing else gets at the tables."""

from pathlib import Path

import pytest
from tests.world import World

from ramet.errors import InvalidParams, QueryFailed, QueryRefused, QueryTimeout
from ramet.store.database.store import QueryBounds


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
    result = world.store.query("SELECT dir_path FROM tasks", [], QueryBounds(timeout_seconds=5, max_rows=3))
    assert (len(result.rows), result.truncated) == (3, True)
    assert not world.store.query("SELECT dir_path FROM tasks", [], QueryBounds(timeout_seconds=5, max_rows=4)).truncated


@pytest.mark.requirement("R265")
def test_a_query_that_takes_too_long_is_ended(world: World) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    with pytest.raises(QueryTimeout):
        world.store.query(endless, [], QueryBounds(timeout_seconds=1, max_rows=10))
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


@pytest.mark.requirement("R343")
def test_rows_beyond_the_maximum_of_bytes_come_in_the_next_page(world: World) -> None:
    letters = {"sqlite": "replace(hex(zeroblob(500)), '00', 'ab')", "postgres": "repeat('ab', 500)"}[
        world.store.dialect
    ]
    sql = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT i, {letters} FROM n"
    bounds = QueryBounds(timeout_seconds=5, max_rows=100, max_bytes=4096)
    first = world.store.query(sql, [], bounds)
    assert ([row[0] for row in first.rows], first.truncated, first.next) == ([1, 2, 3, 4], True, 4)
    second = world.store.query(sql, [], bounds._replace(skip=4, max_rows=3))
    assert ([row[0] for row in second.rows], second.truncated, second.next) == ([5, 6, 7], True, 7)
    last = world.store.query(sql, [], bounds._replace(skip=7))
    assert ([row[0] for row in last.rows], last.truncated, last.next) == ([8, 9, 10], False, None)


@pytest.mark.requirement("R343")
def test_a_page_of_a_query_is_asked_for_with_limit_and_cursor(world: World) -> None:
    sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n"
    page = world.call("db.query", sql=sql, limit=2, cursor=2)
    assert (page.rows, page.truncated, page.next) == ([[3], [4]], True, 4)
    assert world.call("db.query", sql=sql, cursor=9).rows == []
    for wrong in ({"limit": 0}, {"cursor": -1}, {"cursor": "x"}):
        with pytest.raises(InvalidParams):
            world.call("db.query", sql=sql, **wrong)


@pytest.mark.requirement("R343")
def test_an_endless_query_is_cut_at_the_maximum_of_rows(world: World) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    found = world.store.query(endless, [], QueryBounds(timeout_seconds=30, max_rows=1000))
    assert (len(found.rows), found.rows[-1], found.next) == (1000, [1000], 1000)


@pytest.mark.requirement("R343")
@pytest.mark.parametrize("size", [40_000, 900_000_000])
def test_a_row_that_is_larger_than_the_maximum_is_refused_by_the_name_of_the_key(world: World, size: int) -> None:
    if world.store.dialect == "postgres" and size > 1_000_000:
        pytest.skip("the server sends a row whole; the memory of the reading process is its limit")
    sql = {"sqlite": f"SELECT zeroblob({size})", "postgres": f"SELECT repeat('x', {size})"}[world.store.dialect]
    with pytest.raises(QueryFailed, match=r"query\.max_bytes"):
        world.store.query(sql, [], QueryBounds(timeout_seconds=5, max_rows=10, max_bytes=32_000))


def test_values_that_json_does_not_have_are_shown_as_text(world: World) -> None:
    sql = {"sqlite": "SELECT x'00ff'", "postgres": "SELECT '10.0.0.0/8'::cidr, '\\x00ff'::bytea"}[world.store.dialect]
    assert world.call("db.query", sql=sql).rows[0][-1] == "00ff"
    if world.store.dialect == "postgres":
        assert world.call("db.query", sql=sql).rows[0][0] == "10.0.0.0/8"
        assert world.call("db.query", sql="EXPLAIN SELECT 1").columns == ["QUERY PLAN"]
