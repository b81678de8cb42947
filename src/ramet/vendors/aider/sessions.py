"""Aider's sessions: `.aider.chat.history.md` in a project's folder, where each run appends what was said.

There are no ids: a session is a run, named after its start, which is in local time, and its folder. What
was said has no times of its own, and is named after its number in the run. Only the folders of known projects are
searched: a search through a home would read everything in it, and on macOS ask for permission.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from ramet.model.hooks.transcript import MESSAGE_USAGE, Entry
from ramet.model.memory.stored_session import Head, Piece, Source
from ramet.vendors.aider import blocks
from ramet.vendors.contract.stored_files import line_file, positions
from ramet.vendors.contract.stored_files.conversations import spoken
from ramet.vendors.contract.stored_files.session_files import PIECE_BYTES
from ramet.vendors.contract.stored_files.session_sources import Sessions, Surroundings
from ramet.vendors.contract.stored_files.unreadable import SourceUnreadable
from ramet.vendors.contract.transcript_lines import LONGEST_LINE

VENDOR = "aider"
NAME = ".aider.chat.history.md"
_START = re.compile(rb"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$")
_LONGEST_FOLDER = 60
"""How many characters of its folder's name are in a run's."""


class _Run(NamedTuple):
    """Where a run is in its file."""

    name: str
    started: str
    offset: int
    end: int


class _Position(Struct, frozen=True):
    offset: int
    """How many bytes of the run were read."""
    blocks: int
    """How many blocks were in them."""


def find(around: Surroundings) -> Iterator[Source]:
    """The runs in the folders of known projects."""
    named = around.environ.get("AIDER_CHAT_HISTORY_FILE")
    files = [folder / (named or NAME) for folder in around.projects]
    for file in dict.fromkeys(files):
        yield from _list(file)


def recognise(path: Path) -> Iterator[Source]:
    """A history, or the folder of a project that has one."""
    yield from _list(path / NAME if path.is_dir() else path)


def read(source: Source, position: str | None) -> Iterator[Piece]:
    """A run from a position on. One without a prompt is none."""
    return spoken(_find_and_read(source, position), position)


def _find_and_read(source: Source, position: str | None) -> Iterator[Piece]:
    path = Path(source.path)
    run = next((each for each in _runs(path) if source.key == f"{path}#{each.name}"), None)
    if run is None:
        raise SourceUnreadable(path, f"run {source.key.rpartition('#')[2]} is not in it any more")
    known = positions.decode(position, _Position)
    if known is None or not 0 <= known.offset <= run.end - run.offset:
        known = _Position(0, 0)
    yield from _read(path, run, known)


def _list(file: Path) -> Iterator[Source]:
    try:
        changed_ms = os.stat(file).st_mtime_ns // 1_000_000  # noqa: PTH116
        runs = list(_runs(file))
    except OSError:
        return
    for number, run in enumerate(runs):
        # Only the last run grows. The others changed last when the next one began, at the latest.
        at = blocks.instant(runs[number + 1].started) if number + 1 < len(runs) else None
        changed = min(changed_ms, int(at.timestamp() * 1000)) if at else changed_ms
        size = run.end - run.offset
        yield Source(vendor=VENDOR, key=f"{file}#{run.name}", path=str(file), size_bytes=size, changed_ms=changed)


def _runs(path: Path) -> Iterator[_Run]:
    """The runs of a history. Two that start in the same second are told apart by their order."""
    folder = path.absolute().parent.name[:_LONGEST_FOLDER]
    seen: Counter[str] = Counter()
    last: tuple[str, str, int] | None = None
    with line_file.open_file(path) as file:
        while line := file.readline(LONGEST_LINE):
            found = _START.match(line) if line.startswith(b"# aider chat") else None
            if found is None:
                continue
            offset = file.tell() - len(line)
            if last is not None:
                yield _Run(*last, offset)
            started = found[1].decode()
            seen[started] += 1
            again = f"-{seen[started]}" if seen[started] > 1 else ""
            name = f"{re.sub(r'[-:]', '', started).replace(' ', '-')}-{folder}{again}"
            last = name, started, offset
        if last is not None:
            yield _Run(*last, file.tell())


def _read(path: Path, run: _Run, known: _Position) -> Iterator[Piece]:
    at = blocks.instant(run.started)
    entries: list[Entry] = []
    size, number, offset = 0, known.blocks, known.offset
    with line_file.open_file(path) as file:
        about = blocks.describe(file, run.offset)
        head: Head | None = Head(native_id=run.name, cwd=str(path.absolute().parent), started_at=at, **about)
        for block in blocks.split(file, run.offset + known.offset, run.end):
            key = f"{run.name}/{number}"
            entries.append(Entry(key=key, kind="text", at=at, role=block.role, text=block.text))
            for place, used in enumerate(blocks.usage(block)):
                name = f"{MESSAGE_USAGE}{key}/{place}"
                entries.append(Entry(key=name, kind="usage", at=at, model=about["model"], usage=used))
            number, offset, size = number + 1, block.end - run.offset, size + len(block.text)
            if size >= PIECE_BYTES:
                yield Piece(entries=entries, position=positions.encode(_Position(offset, number)), head=head)
                head, entries, size = None, [], 0
    yield Piece(entries=entries, position=positions.encode(_Position(offset, number)), head=head)


SESSIONS = Sessions(find=find, recognise=recognise, read=read)
