"""The recorded databases of the schemas that have landed, and the work that a database has to be good for.

`tools/record_schemas.py` records them, with the code of their own commits.
"""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import zstandard
from tests.conformance import hook_calls, queue_worker, run_steps
from tests.world import DATABASE_NAME, World

from ramet.store.memory.index.search_index import SearchIndex

DATA = Path(__file__).parent.parent / "data" / "schemas"
SCHEMAS: list[dict[str, Any]] = json.loads((DATA / "index.json").read_text(encoding="utf-8"))


def name(schema: dict[str, Any]) -> str:
    """What a schema is called, in tests and in files."""
    return f"{schema['version']:04d}-{schema['commit']}"


def find(commit: str) -> dict[str, Any]:
    """The schema of a commit."""
    return next(schema for schema in SCHEMAS if schema["commit"] == commit)


def load(schema: dict[str, Any], folder: Path, url: str | None) -> None:
    """The database as the code of its commit left it."""
    kind = "sqlite" if url is None else "postgres"
    packed = (DATA / f"{name(schema)}.{kind}.sql.zst").read_bytes()
    dump = zstandard.ZstdDecompressor().decompress(packed)
    if url is None:
        folder.mkdir(exist_ok=True)
        database = apsw.Connection(str(folder / DATABASE_NAME))
        database.execute(dump.decode())
        database.close()
        return
    import psycopg

    with psycopg.connect(url) as server:
        server.execute(dump)


def read(folder: Path, url: str | None, statement: str) -> list[dict[str, Any]]:
    """The rows of a statement, past everything of Ramet's."""
    if url is None:
        with closing(sqlite3.connect(folder / DATABASE_NAME)) as database:
            database.row_factory = sqlite3.Row
            return [dict(row) for row in database.execute(statement)]
    import psycopg
    from psycopg.rows import dict_row

    with psycopg.connect(url, row_factory=dict_row) as server:
        return server.execute(statement.encode()).fetchall()


def change(folder: Path, url: str | None, *statements: str) -> None:
    """What a person does to a database with its own tools."""
    if url is None:
        database = apsw.Connection(str(folder / DATABASE_NAME))
        for statement in statements:
            database.execute(statement)
        database.close()
        return
    import psycopg

    with psycopg.connect(url) as server:
        for statement in statements:
            server.execute(statement.encode())


def count_rows(world: World, tables: list[str]) -> dict[str, int]:
    """How many rows each table has."""
    return {table: world.sql(f"SELECT count(*) FROM {table}")[0][0] for table in tables}


def exercise(world: World, folder: Path) -> None:
    """Append, claim, complete, run, call a hook, commit and search, beside what is there."""
    session = world.session()
    world.call("db.messages.append", session_id=session.id, role="user", content="a walrus in the cart")
    effort = queue_worker.add(world, task="/shop/tasks/walrus")
    attempt = queue_worker.begin(world, queue_worker.claim(world, effort_id=effort.id))
    assert queue_worker.complete(world, attempt, output_content="done").outcome == "success"
    run = run_steps.start(world, "one", "two")
    assert [run_steps.do_next(world, run) for _ in range(2)] == ["one", "two"]
    hooked = hook_calls.start(world)
    assert world.call("db.messages.list", session_id=hooked).items[0].content == "mend the cart"
    first = world.call("history.commit", branch="walrus", text="A walrus costs 90 crowns.")
    world.call("history.annotate", hash=first.hash, priority="pinned")
    assert world.call("history.compile", branch="walrus").messages[0]["content"] == "A walrus costs 90 crowns."
    world.engine.index = SearchIndex(folder / "search.db")
    world.engine.feed_on_demand()
    assert world.call("memory.search", query="walrus", limit=10).items
    world.engine.index.close()
