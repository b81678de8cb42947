"""Claude Code's sessions on the disk: `projects/<directory>/<session>.jsonl` below its folder.

The name of a directory is ambiguous, so a session's directory is taken from its lines. A sub-agent has a file of its
own: `<session>/subagents/agent-<id>.jsonl`, deeper if a workflow ran it; older versions put it beside the sessions. A
copy of a session has the session's lines again, under another name.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ramet.model.memory.stored_session import Head, Piece, Source
from ramet.vendors.claude import transcript
from ramet.vendors.contract import json_lines, transcript_lines
from ramet.vendors.contract.stored_files import session_files
from ramet.vendors.contract.stored_files.session_sources import Sessions, Surroundings

_VENDOR = "claude"
_SUBAGENTS, _SUBAGENT = "subagents", "agent-"


def find(surroundings: Surroundings) -> Iterator[Source]:
    """Every session, those of each project before their sub-agents."""
    own = surroundings.environ.get("CLAUDE_CONFIG_DIR")
    folder = Path(own) if own else surroundings.home / ".claude"
    return _sources(session_files.walk(folder / "projects"))


def recognise(path: Path) -> Iterator[Source]:
    """The sessions in a file, or anywhere below a folder, that a person named."""
    files = session_files.walk(path) if path.is_dir() else [path]
    return _sources(file for file in files if _is_ours(session_files.first_objects(file)))


def _sources(files: Iterable[Path]) -> Iterator[Source]:
    for file in files:
        # Whatever else is in the folder of a session is no session.
        is_session = _is_subagent(file) or _SUBAGENTS not in file.parts
        if file.suffix == ".jsonl" and file.name != "history.jsonl" and is_session:
            yield from session_files.find_source(_VENDOR, file, is_subagent=_is_subagent(file))


def _is_subagent(file: Path) -> bool:
    return file.name.startswith(_SUBAGENT)


def read(source: Source, position: str | None) -> Iterator[Piece]:
    """A session from a position on."""
    path = Path(source.path)
    return session_files.read(source, position, transcript.read, lambda lines: _head(path, lines))


def _is_ours(lines: list[dict[str, Any]]) -> bool:
    return any(isinstance(line.get("sessionId"), str) and "uuid" in line for line in lines)


def _head(path: Path, lines: list[dict[str, Any]]) -> Head | None:
    """From the first line of the conversation; others have neither a directory nor a time."""
    first = next((line for line in lines if json_lines.text(line, "cwd")), None)
    if first is None:
        return None
    own = path.stem.removeprefix(_SUBAGENT) if _is_subagent(path) else path.stem
    origin = json_lines.text(json_lines.entry(first, "forkedFrom"), "sessionId") or None
    return Head(
        native_id=own,
        cwd=json_lines.text(first, "cwd"),
        started_at=transcript_lines.instant(first),
        parent_id=_parent(path, first) if _is_subagent(path) else None,
        origin_id=None if origin == own else origin,
        version=json_lines.text(first, "version") or None,
    )


def _parent(path: Path, first: dict[str, Any]) -> str | None:
    """The session that runs a sub-agent: that in whose folder it is, else the one that its lines name."""
    for folder in path.parents:
        if folder.name == _SUBAGENTS:
            return folder.parent.name
    return json_lines.text(first, "sessionId") or None


SESSIONS = Sessions(find=find, recognise=recognise, read=read)
