"""An import that is interrupted anywhere and repeated leaves the same record as one that was not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.vendors.session_imports import Stored
from tests.world import World

from ramet.cli.commands.memory.imports.discovery import in_order
from ramet.cli.commands.memory.imports.importer import Importer, Place
from ramet.model.memory.stored_session import Source
from ramet.protocol.memory.imports import AddPieces
from ramet.protocol.operation import R, Request
from ramet.vendors import registry
from ramet.vendors.contract.stored_files import session_files

VENDORS = registry.names("sessions")


class Killed(Exception):
    """The process is gone."""


class Dying:
    """Asks the engine, and dies at a request: before it is written, or after that and before its reply."""

    def __init__(self, world: World, dies_at: int | None, *, is_written: bool = False) -> None:
        self.world = world
        self.dies_at = dies_at
        self.is_written = is_written
        self.requests = 0

    def __call__(self, request: Request[R]) -> R:
        if not isinstance(request, AddPieces):
            return self.world.perform("user", request.op, request)  # type: ignore[no-any-return]
        number, self.requests = self.requests, self.requests + 1
        if number == self.dies_at and not self.is_written:
            raise Killed
        reply: R = self.world.perform("user", request.op, request)
        if number == self.dies_at:
            raise Killed
        return reply

    def import_all(self, sources: list[Source]) -> None:
        def locate(directory: str | None) -> Place:
            return Place(directory or "/home/dev", is_repository=False)

        Importer(self, locate, host=None, max_request_bytes=8 * 1024 * 1024).run(in_order(sources))


def contents(world: World) -> dict[str, list[Any]]:
    """Everything that an import writes, by names instead of ids, without the time of the import."""
    name = "(SELECT n.driver || ':' || n.native_id FROM sessions n WHERE n.id = {})"
    queries = {
        "sessions": f"""SELECT driver, native_id, {name.format("s.parent_session_id")},
                   {name.format("s.forked_from_session_id")}, {name.format("s.root_session_id")}, spawn_depth, task_id,
                   created_at, ended_at, outcome, model, title, context_usage FROM sessions s""",
        "messages": f"""SELECT {name.format("m.session_id")}, m.role, m.tool_name, m.timestamp,
                   replace(m.source_key, m.session_id || ':', ''), m.is_provisional, c.hash, c.seq, c.token_sum, b.hash
                   FROM messages m JOIN commits c ON c.id = m.commit_id JOIN blobs b ON b.id = c.blob_id""",
        "commits": "SELECT c.hash, c.at_ms, c.metadata, c.tokens FROM commits c",
        "usage": f"""SELECT {name.format("u.session_id")}, u.key, u.model, u.input_tokens, u.output_tokens,
                  u.cache_read_tokens, u.cache_write_tokens, u.cost_usd, u.estimated_usd FROM usage u""",
        "imports": f"""SELECT {name.format("i.session_id")}, i.vendor, i.source, i.position, i.is_whole, i.skipped
                  FROM imports i""",
        "thoughts": f"""SELECT {name.format("t.session_id")}, replace(t.source_key, t.session_id || ':', '')
                  FROM thoughts t""",
        "efforts": "SELECT task_id, skill, lifecycle, outcome, created_at, finished_at FROM efforts",
        "projects": "SELECT path, removed_at IS NULL FROM projects",
    }
    return {table: sorted(map(repr, world.sql(query))) for table, query in queries.items()}


@pytest.fixture(params=VENDORS)
def stored(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stored:
    # Small pieces, one in each request, so that there are many places at which to die.
    monkeypatch.setattr(session_files, "PIECE_BYTES", 700)
    monkeypatch.setattr("ramet.cli.commands.memory.imports.importer._REQUEST_BYTES", 1)
    return Stored(request.param, tmp_path / request.param)


@pytest.mark.requirement("R383")
def test_an_import_that_dies_at_any_piece_and_is_repeated_leaves_the_same_record(stored: Stored, world: World) -> None:
    sources = stored.find()
    whole = Dying(world, None)
    whole.import_all(sources)
    expected, requests = contents(world), whole.requests
    assert requests >= len(stored.expected["sessions"])
    # Each place on SQLite; on PostgreSQL, where a transaction takes longer, some of them.
    for dies_at in range(0, requests, 1 if world.is_sqlite else 4):
        for is_written in (False, True):
            clear(world)
            with pytest.raises(Killed):
                Dying(world, dies_at, is_written=is_written).import_all(sources)
            Dying(world, None).import_all(sources)
            assert contents(world) == expected, f"it died at request {dies_at}, {is_written=}"


@pytest.mark.requirement("R383")
def test_an_import_that_dies_at_every_piece_comes_to_its_end(stored: Stored, world: World) -> None:
    sources = stored.find()
    Dying(world, None).import_all(sources)
    expected = contents(world)
    clear(world)
    for _ in range(1000):
        try:
            Dying(world, 1, is_written=False).import_all(sources)
            break
        except Killed:
            continue
    Dying(world, None).import_all(sources)
    assert contents(world) == expected


def clear(world: World) -> None:
    """Forget everything that was imported."""
    tables = ["imports", "thoughts", "usage", "messages", "sessions", "efforts", "tasks", "projects", "branches"]
    for table in [*tables, "commits", "segments", "blobs", "events"]:
        world.sql(f"DELETE FROM {table}")


# Sources that change while, or between, they are read.


@pytest.mark.requirement("R381")
def test_a_session_that_grows_continues_and_one_that_was_rewritten_is_read_again(tmp_path: Path, world: World) -> None:
    stored = Stored("claude", tmp_path)
    path = next(Path(each.path) for each in stored.find() if each.path.endswith("1.jsonl"))
    lines = path.read_bytes().splitlines(keepends=True)
    steps: list[Callable[[], object]] = [
        lambda: path.write_bytes(b"".join(lines[:4])),
        lambda: path.write_bytes(b"".join(lines[:4]) + lines[4][:20]),  # a line is being written
        lambda: path.write_bytes(b"".join(lines)),
        lambda: path.write_bytes(b"".join(lines[:6])),  # it shrinks
        lambda: path.write_bytes(b"".join([lines[0], *lines])),  # rewritten
    ]
    for step in steps:
        step()
        Dying(world, None).import_all(stored.find())
    grown = contents(world)
    clear(world)
    path.write_bytes(b"".join(lines))
    Dying(world, None).import_all(stored.find())
    expected = contents(world)
    for table in ("sessions", "messages", "usage", "thoughts"):
        assert grown[table] == expected[table]
