"""What tests of archives have in common: a database with a little of everything, exports of it, and imports."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from tests.conformance import family, queue_worker, run_steps, spending
from tests.conformance.history import story
from tests.world import DATABASE_NAME, World, open_world

from ramet.cli.commands.memory.archives import file as archive_file
from ramet.cli.commands.memory.archives.file import ImportReport
from ramet.config.settings import QuerySettings
from ramet.model.memory.exports.archive_tables import TABLES
from ramet.protocol.memory.archives import AddArchiveRows, AddedRows
from ramet.protocol.system.database import CheckDatabase
from ramet.store.database import purge
from ramet.store.database.operations import answer

_numbers = count(1)


def fill(world: World) -> Any:
    """Histories with merges, edits and moves; a parent with a child that used something; a run; the parent."""
    said = story.say(world, "first", "second", "third")
    world.call("history.annotate", hash=said[0], priority="important")
    world.call("history.tag", hash=said[1], tags=["seen", "kept"])
    story.fork(world, "side")
    story.say(world, "beside", branch="side")
    story.say(world, "main goes on")
    world.call("history.merge", into="main", **{"from": "side"})
    world.call("history.edit", branch="main", target=said[1], text="second, better")
    world.call("history.reset", branch="side", to=said[0])
    above = family.parent(world)
    spending.limit(world, above, tokens=10_000)
    thought = {"kind": "reasoning", "text": "I should list the files"}
    call = {"kind": "tool_call", "name": "Bash", "call_id": "c1", "input": {"command": "ls"}}
    result = {"kind": "tool_result", "call_id": "c1", "output": "a.py\nb.py"}
    queue_worker.report(world, above, thought, queue_worker.text("I look around"), call, result, seq=1)
    spending.use(world, above, 70, cost_usd=0.5)
    child = family.spawn(world, above, "look into it")
    family.run(world, child, output_content="nothing found")
    queue_worker.report(world, above, queue_worker.end(), seq=6)
    queue_worker.complete(world, above, output_content="done", reason="all good")
    run = run_steps.start(world, "1", run_steps.line("2", "1"))
    run_steps.do_all(world, run)
    queue_worker.add(world, "still in the queue", task="/shop/tasks/later")
    return above


def export(world: World, folder: Path, **scope: Any) -> Path:
    """An archive of a part of a world, or of all of it."""
    path = folder / f"{next(_numbers)}.ramet"
    world.call("memory.export", path=str(path), **(scope or {"all": True}))
    return path


def import_into(world: World, path: Path) -> ImportReport:
    """Import it as the command does."""

    def ask(part: AddArchiveRows) -> AddedRows:
        reply: AddedRows = world.perform("user", AddArchiveRows.op, part)
        return reply

    return archive_file.send(archive_file.verify(path), ask, lambda _: None)


@contextmanager
def another(folder: Path, migrated: Path, origin: str = "b" * 32) -> Iterator[World]:
    """An empty SQLite database beside the one of the test."""
    inside = folder / f"other-{next(_numbers)}"
    inside.mkdir()
    shutil.copyfile(migrated, inside / DATABASE_NAME)
    with open_world(inside, None) as opened:
        opened.sql("UPDATE origins SET name = :name", name=origin)
        yield opened


def hashes(world: World) -> dict[str, list[str]]:
    """What a history is made of."""
    return {
        table: sorted(bytes(row[0]).hex() for row in world.sql(f"SELECT hash FROM {table}"))
        for table in ("blobs", "commits", "images")
    }


def counts(world: World) -> dict[str, int]:
    """How many rows there are."""
    tables = [table for table in TABLES if table not in ("effort_links", "content_types")]
    return {table: world.sql(f"SELECT count(*) FROM {table}")[0][0] for table in [*tables, "tags", "annotations"]}


def everything_written(world: World) -> dict[str, list[str]]:
    return world.dump()


def findings(world: World) -> Any:
    """What a check of the database finds."""
    return answer(world.store, CheckDatabase(), QuerySettings()).findings


BURIAL = purge.Burial("ada", "2026-01-05T09:00:00.000Z", "it leaked")
