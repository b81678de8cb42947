"""Named queries: each is used, each runs on both databases, and there is no SQL anywhere else."""

import ast
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from tests.world import World

import ramet
from ramet.model.memory.exports.archive_tables import TABLES
from ramet.store.database.queries import Query, QueryFile, read_queries
from ramet.store.memory.index.search_index import SearchIndex

SOURCE = Path(ramet.__file__).parent
FOLDER = files("ramet.store") / "sql" / "queries"
QUERIES = SOURCE / "store" / "sql" / "queries"
NOUNS = sorted(
    str(file.relative_to(QUERIES).with_suffix(""))
    for file in QUERIES.rglob("*.sql")
    if QUERIES / "postgres" not in file.parents
)

_PARAMETER = re.compile(r"(?<![:\w]):([a-z_]+)")
_SQL = re.compile(
    r"\b(SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+(TABLE|VIEW|INDEX))\b", re.DOTALL
)
INDEX = ("memory/index", "memory/ladder", "memory/recollections", "memory/vectors")
EXPLAINED = {"database/migrations": ("record",)}
"""Queries whose table is only there for some databases; they run in every migration anyway."""

ONLY_ON_A_SERVER = {"expired": {"lease_seconds"}, "take_expired": {"lease_seconds"}}
"""The parameters that only an override takes: only a server can be away from those who hold leases."""


def queries(noun: str) -> dict[str, Query]:
    return QueryFile(noun).all


def _used() -> set[tuple[str, str]]:
    """Every `(noun, name)` that the code asks for: `_sql.name` where `_sql = QueryFile("noun")`."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for variable, noun in re.findall(r"^(\w+) = QueryFile\(\"([\w/]+)\"\)", text, re.MULTILINE):
            found |= {(noun, name) for name in re.findall(rf"\b{variable}\.(\w+)", text)}
    return found


def test_every_named_query_is_used_and_every_used_one_exists() -> None:
    named = {(noun, name) for noun in NOUNS for name in queries(noun)}
    assert named - _used() == _of_archived_tables() & named
    # All queries of a file, of which one is found by the name of its table.
    assert _used() - named <= {("memory/archives", "all"), ("memory/archive_rows", "all")}


def _of_archived_tables() -> set[tuple[str, str]]:
    """The queries that are named after the tables of an archive, and found by the name of the table."""
    special = {"messages", "commits"}
    reads = {("memory/archives", f"read_{table}") for table in TABLES.keys() - special}
    return reads | {("memory/archive_rows", f"add_{table}") for table in TABLES}


@pytest.mark.parametrize("noun", NOUNS)
def test_every_named_query_says_what_it_is_for(noun: str) -> None:
    for file in (FOLDER / f"{noun}.sql", FOLDER / "postgres" / f"{noun}.sql"):
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
        names = re.findall(r"^-- name: (\w+)$", text, re.MULTILINE)
        assert len(names) == len(set(names))
        assert len(re.findall(r"^-- name: \w+\n-- \S", text, re.MULTILINE)) == len(names)


@pytest.mark.parametrize("noun", NOUNS)
def test_every_override_overrides_a_query_that_is_there_and_takes_no_other_parameters(noun: str) -> None:
    """It may take fewer: if the server's time counts, nobody needs to say what time it is."""
    shared = read_queries(FOLDER / f"{noun}.sql")
    for name, text in read_queries(FOLDER / "postgres" / f"{noun}.sql").items():
        assert name in shared
        assert set(_PARAMETER.findall(text)) <= {*_PARAMETER.findall(shared[name]), *ONLY_ON_A_SERVER.get(name, ())}
        assert text != shared[name]


def test_every_override_file_belongs_to_a_shared_one() -> None:
    overrides = {
        str(file.relative_to(QUERIES / "postgres").with_suffix("")) for file in (QUERIES / "postgres").rglob("*.sql")
    }
    assert overrides <= set(NOUNS)


@pytest.mark.parametrize("noun", NOUNS)
def test_every_query_prepares_on_both_databases(world: World, noun: str) -> None:
    if noun in INDEX:  # of the search index, which is a file of its own on both databases
        index = SearchIndex().writer().database
        for query in queries(noun).values():
            index.execute(f"EXPLAIN {query.sqlite}", dict.fromkeys(_PARAMETER.findall(query.sqlite), None)).fetchall()
        return
    for query in queries(noun).values():
        named = [*_PARAMETER.findall(query.sqlite), *ONLY_ON_A_SERVER.get(query.name, ())]
        parameters = dict.fromkeys(named, None)
        if query.name in ("exclude_others", "tables", "next_id", "hold_branches"):
            world.db.begin()
            world.db.all(query, **parameters)
            world.db.rollback()
        else:
            assert world.explain(query, **parameters) or world.is_sqlite, query.name


def _literals(path: Path) -> Iterator[tuple[int, str]]:
    """The strings of a module that are no docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documentation = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.lineno, node.value


@pytest.mark.requirement("R260")
def test_there_is_no_sql_outside_the_store() -> None:
    strayed = [
        f"{path.relative_to(SOURCE)}:{line}"
        for path in SOURCE.rglob("*.py")
        # Readers of stored sessions and of earlier systems ask the databases of other programs, never ours.
        if path.relative_to(SOURCE).parts[0] not in ("store", "cli", "predecessors", "vendors")
        for line, text in _literals(path)
        if _SQL.search(text)
    ]
    assert strayed == []


def test_the_scan_for_sql_would_find_some() -> None:
    found = [text for path in (SOURCE / "store").rglob("*.py") for _, text in _literals(path) if _SQL.search(text)]
    assert found


def test_a_query_that_is_not_there_is_named() -> None:
    with pytest.raises(AttributeError, match=r"efforts\.sql has no query 'nonsense'"):
        QueryFile("record/efforts").nonsense  # noqa: B018


def test_parameters_become_those_of_the_server_and_casts_and_times_stay() -> None:
    query = Query("q", "", "SELECT :name, '10%', x::text, '12:30' FROM t WHERE a LIKE :a_b")
    assert query.postgres == "SELECT %(name)s, '10%%', x::text, '12:30' FROM t WHERE a LIKE %(a_b)s"
