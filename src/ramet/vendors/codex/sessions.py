"""Codex's sessions on the disk: `sessions/<year>/<month>/<day>/rollout-<instant>-<thread>.jsonl` below its folder.

The threads of sub-agents are among the others; the first line of each says which thread has started it. Archived
sessions are in a folder of their own. `history.jsonl` only repeats prompts.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ramet.model.memory.stored_session import Head, Piece, Source
from ramet.vendors.codex import forked_usage, transcript
from ramet.vendors.contract import json_lines, transcript_lines
from ramet.vendors.contract.stored_files import session_files
from ramet.vendors.contract.stored_files.session_sources import Sessions, Surroundings

_VENDOR = "codex"
_FOLDERS = ("sessions", "archived_sessions")
_START = "rollout-"
_RAMETS = "ramet"
"""Below `sessions`: the folder of agents that Ramet confines."""


def find(surroundings: Surroundings) -> Iterator[Source]:
    """Every session. A sub-agent's file is named after its start, so its parent's is before it."""
    own = surroundings.environ.get("CODEX_HOME")
    folder = Path(own) if own else surroundings.home / ".codex"
    for name in _FOLDERS:
        files = session_files.walk(folder / name)
        yield from _sources(file for file in files if _RAMETS not in file.relative_to(folder).parts)


def recognise(path: Path) -> Iterator[Source]:
    """The sessions in a file, or anywhere below a folder, that a person named."""
    files = session_files.walk(path) if path.is_dir() else [path]
    return _sources(file for file in files if _meta(session_files.first_objects(file, most=1)))


def _sources(files: Iterable[Path]) -> Iterator[Source]:
    for file in files:
        if file.name.startswith(_START) and file.suffix == ".jsonl":
            yield from session_files.find_source(_VENDOR, file)


def read(source: Source, position: str | None) -> Iterator[Piece]:
    """A session from a position on."""
    path = Path(source.path)
    shared = forked_usage.find_shared(path)
    for piece in session_files.read(source, position, transcript.read, lambda lines: _head(path, lines)):
        yield piece if not shared else replace(piece, entries=forked_usage.take_off(piece.entries, shared))


def _meta(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """What the first line says; that of the first versions is the payload itself."""
    first = lines[0] if lines else {}
    if first.get("type") == "session_meta":
        return json_lines.entry(first, "payload")
    return first if "type" not in first and "id" in first and "timestamp" in first else {}


def _head(path: Path, lines: list[dict[str, Any]]) -> Head | None:
    meta = _meta(lines)
    if not meta:
        return None
    own = json_lines.text(meta, "id") or transcript.thread_of(path)
    parent = transcript.find_parent(meta)
    origin = json_lines.text(meta, "forked_from_id") or None
    contexts = (json_lines.entry(line, "payload") for line in lines if line.get("type") == "turn_context")
    return Head(
        native_id=own,
        cwd=json_lines.text(meta, "cwd") or next((json_lines.text(each, "cwd") for each in contexts), "") or None,
        started_at=transcript_lines.instant(meta) or transcript_lines.instant(lines[0]),
        parent_id=None if parent == own else parent,
        origin_id=None if origin == own else origin,
        version=json_lines.text(meta, "cli_version") or None,
    )


SESSIONS = Sessions(find=find, recognise=recognise, read=read)
