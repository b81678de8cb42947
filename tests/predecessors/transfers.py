"""Imports of an earlier system's source into a world, as the command line makes them."""

import json
from pathlib import Path
from typing import Any

import msgspec
from tests.predecessors.sources import Rows
from tests.world import World

from ramet.predecessors import registry, transfer
from ramet.predecessors.transfer import Transferred
from ramet.protocol.operation import Request
from ramet.protocol.wire.frames import decode_params

PROJECT = "/shop"


def ask(world: World) -> Any:
    """Asks a world over the wire's form of a request."""

    def send(request: Request[Any]) -> Any:
        return world.perform("user", request.op, decode_params(request.op, msgspec.json.encode(request)))

    return send


def imported(world: World, path: Path, project: str = PROJECT) -> list[Transferred]:
    """Import what is at a path."""
    return [transfer.transfer(source, ask(world)) for source in registry.require_sources(path, project)]


def imported_one(world: World, path: Path, project: str = PROJECT) -> Transferred:
    """Import the one source at a path."""
    (done,) = imported(world, path, project)
    return done


def kept_rows(world: World, done: Transferred) -> Rows:
    """Every row that the branch of a source holds, by table and key; the newest of each."""
    found: Rows = {}
    cursor = None
    while True:
        page = world.call("history.log", branch=f"imported/{done.system}/{done.source}", limit=200, cursor=cursor)
        for row in page.items:
            commit = world.call("history.show", hash=row.hash)
            about = commit.metadata["imported"]
            found.setdefault(about["table"], {}).setdefault(about["key"], json.loads(commit.text)["data"])
        cursor = page.next
        if cursor is None:
            return found


def without_bytes(rows: Rows) -> Rows:
    """Rows as JSON has them."""
    return {
        table: {
            key: {name: {"hex": value.hex()} if isinstance(value, bytes) else value for name, value in row.items()}
            for key, row in found.items()
        }
        for table, found in rows.items()
    }
