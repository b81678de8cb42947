"""The stored sessions of each vendor's fixture: a home as its program leaves it, and what is in it."""

import json
import os
import shutil
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.vendors.fixtures import folder_of
from tests.world import World

from ramet.cli.commands.memory.imports.discovery import in_order
from ramet.cli.commands.memory.imports.importer import Importer, Place, Results
from ramet.model.memory.stored_session import Head, Piece, Source
from ramet.protocol.operation import R, Request
from ramet.vendors import registry
from ramet.vendors.contract.stored_files.session_sources import Surroundings

_CHANGED = 1_762_000_000
"""When the first file of a fixture was last changed."""
LONGEST_REQUEST = 8 * 1024 * 1024


class Stored:
    """A copy of a vendor's fixture, which a test may change."""

    def __init__(self, vendor: str, folder: Path) -> None:
        self.vendor = vendor
        self.home = folder / "home"
        shutil.copytree(folder_of(vendor, "sessions") / "home", self.home)
        for script in self.home.rglob("*.sql"):
            _make_database(script)
        for number, path in enumerate(sorted(each for each in self.home.rglob("*") if each.is_file())):
            os.utime(path, (_CHANGED + number, _CHANGED + number))  # a checkout gives all files any time
        text = (folder_of(vendor, "sessions") / "expected.json").read_text(encoding="utf-8")
        self.expected: dict[str, Any] = json.loads(text.replace("{home}", str(self.home)))
        self.sessions = registry.sessions()[vendor]

    @property
    def environ(self) -> dict[str, str]:
        """The variables that name the program's own folder."""
        return {name: str(self.home / path) for name, path in self.expected.get("environ", {}).items()}

    def find(self, environ: dict[str, str] | None = None) -> list[Source]:
        """What its program has stored below the home."""
        projects = tuple(self.home / each for each in self.expected.get("projects", []))
        return list(self.sessions.find(Surroundings(self.home, environ or {}, projects)))

    def read(self, source: Source, position: str | None = None) -> list[Piece]:
        """A session, from a position on."""
        return list(self.sessions.read(source, position))

    def heads(self) -> dict[str, Head]:
        """What each session says of itself last, by its own id."""
        found = [piece.head for source in self.find() for piece in self.read(source) if piece.head is not None]
        return {head.native_id: head for head in found}

    def files(self) -> dict[str, tuple[bytes, int]]:
        """Every file with its content, and every folder, with the time of its last change."""
        return {
            str(path): (path.read_bytes() if path.is_file() else b"", path.stat().st_mtime_ns)
            for path in self.home.rglob("*")
        }


def _make_database(script: Path) -> None:
    """A database is kept as the statements that make it: `state.db` from `state.db.sql`."""
    with closing(sqlite3.connect(script.with_suffix(""))) as database:
        database.executescript(f"PRAGMA synchronous=OFF; BEGIN; {script.read_text(encoding='utf-8')} COMMIT;")
    script.unlink()


def import_into(world: World, sources: Iterable[Source]) -> Results:
    """Import sources as the command line does, without a daemon."""

    def ask(request: Request[R]) -> R:
        reply: R = world.perform("user", request.op, request)
        return reply

    def locate(directory: str | None) -> Place:
        return Place(directory or "/home/dev", is_repository=False)

    return Importer(ask, locate, host=None, max_request_bytes=LONGEST_REQUEST).run(in_order(sources))
