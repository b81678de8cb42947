"""Copilot CLI's sessions: `~/.copilot/session-state/<folder>/events.jsonl`, in old versions `<session>.jsonl`.

A line is an event with an id and a time. The events of sub-agents are among those of their session, with the agent's
id, so a file has several sessions: the start of each sub-agent is an event of its own, and only these events are parsed
to list them. The session's id is in its first event; the folder may have another name.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from ramet.model.hooks.transcript import Entry
from ramet.model.memory.stored_session import Head, Piece, Source
from ramet.vendors.contract import json_lines, transcript_lines
from ramet.vendors.contract.stored_files import line_file, positions
from ramet.vendors.contract.stored_files.conversations import spoken
from ramet.vendors.contract.stored_files.line_file import Place
from ramet.vendors.contract.stored_files.session_sources import Sessions, Surroundings
from ramet.vendors.contract.stored_files.unreadable import SourceUnreadable
from ramet.vendors.contract.transcript_lines import LONGEST_LINE
from ramet.vendors.copilot import events

VENDOR = "copilot"
_EVENTS = "events.jsonl"
_STARTED = b'"subagent.started"'
_TYPE_BYTES = 64
"""Within how many bytes an event names its type."""
_DETAIL_BYTES = 64 * 1024


class _Position(Struct, frozen=True, omit_defaults=True):
    place: Place
    is_counted: bool = False
    """Whether what was used is told call by call: then the sums at the end repeat it."""


def find(around: Surroundings) -> Iterator[Source]:
    """Every session, and behind it its sub-agents."""
    home = Path(around.environ.get("COPILOT_HOME") or around.home / ".copilot")
    yield from _list_folder(home / "session-state")


def recognise(path: Path) -> Iterator[Source]:
    """A file of events, the folder of a session, or a folder of such."""
    if path.is_file() and path.suffix == ".jsonl":
        if transcript_lines.first_object(path).get("type") == "session.start":
            yield from _list([path])
    elif path.is_dir():
        yield from _list([path / _EVENTS])
        for folder in (path, path / "session-state", path / ".copilot" / "session-state"):
            if folder.name == "session-state":
                yield from _list_folder(folder)


def read(source: Source, position: str | None) -> Iterator[Piece]:
    """A session or a sub-agent from a position on."""
    return spoken(_read(source, position), position)


def _read(source: Source, position: str | None) -> Iterator[Piece]:
    path = Path(source.path)
    agent = source.key.removeprefix(f"{source.path}#") if source.key != source.path else None
    known = positions.decode(position, _Position)
    is_counted = known.is_counted if known else False
    head: Head | None = _head(path, agent)
    for lines in line_file.read(path, known.place if known else None):
        entries: list[Entry] = []
        skipped = lines.skipped
        for line in lines.lines:
            event = transcript_lines.parse_object(line.data)
            if event is None:
                skipped += 1
            elif events.agent_of(event) == agent:
                is_counted = is_counted or event.get("type") == events.USAGE
                entries += events.tell(event, line.data, is_counted=is_counted)
        here = positions.encode(_Position(lines.place, is_counted))
        yield Piece(entries=entries, position=here, head=head, skipped=skipped if agent is None else 0)
        head = None


def _list_folder(folder: Path) -> Iterator[Source]:
    yield from _list([*sorted(folder.glob(f"*/{_EVENTS}")), *sorted(folder.glob("*.jsonl"))])


def _list(files: Iterable[Path]) -> Iterator[Source]:
    for file in files:
        try:
            status = os.stat(file)  # noqa: PTH116
        except OSError:
            continue
        names = [str(file), *(f"{file}#{agent}" for agent in _list_agents(file))]
        for name in names:
            changed_ms = status.st_mtime_ns // 1_000_000
            yield Source(
                vendor=VENDOR,
                key=name,
                path=str(file),
                size_bytes=status.st_size,
                changed_ms=changed_ms,
                is_subagent=name != str(file),
            )


def _list_agents(file: Path) -> list[str]:
    """The sub-agents of a session, in their order. Only the events that start them are parsed."""
    return [agent for event in _starts(file) if (agent := events.agent_of(event))]


def _starts(file: Path) -> Iterator[dict[str, Any]]:
    try:
        with line_file.open_file(file) as lines:
            while line := lines.readline(LONGEST_LINE):
                if _STARTED in line[:_TYPE_BYTES] and (event := transcript_lines.parse_object(line)):
                    yield event
    except SourceUnreadable:
        return


def _head(path: Path, agent: str | None) -> Head:
    first = transcript_lines.first_object(path)
    data = json_lines.entry(first, "data") if first.get("type") == "session.start" else {}
    details = _details(path)
    fallback = path.parent.name if path.name == _EVENTS else path.stem
    session = Head(
        native_id=json_lines.text(data, "sessionId") or fallback,
        cwd=json_lines.text(json_lines.entry(data, "context"), "cwd") or details.get("cwd"),
        started_at=transcript_lines.instant(data, "startTime") or transcript_lines.instant(first),
        title=details.get("name") or details.get("summary"),
        model=json_lines.text(data, "selectedModel") or None,
        version=json_lines.text(data, "copilotVersion") or None,
    )
    return session if agent is None else _agent_head(path, session, agent)


def _agent_head(path: Path, session: Head, agent: str) -> Head:
    start = next((event for event in _starts(path) if events.agent_of(event) == agent), {})
    data = json_lines.entry(start, "data")
    return Head(
        native_id=agent,
        cwd=session.cwd,
        started_at=transcript_lines.instant(start) or session.started_at,
        title=json_lines.text(data, "agentDescription") or json_lines.text(data, "agentDisplayName") or None,
        parent_id=session.native_id,
        model=json_lines.text(data, "model") or None,
        version=session.version,
    )


def _details(path: Path) -> dict[str, str]:
    """What `workspace.yaml` says of the session: plain names with plain values."""
    try:
        with line_file.open_file(path.parent / "workspace.yaml") as file:
            lines = file.read(_DETAIL_BYTES).decode(errors="replace").splitlines()
    except OSError:
        return {}
    pairs = (line.partition(": ") for line in lines)
    return {name: value.strip().strip("'\"") for name, _, value in pairs if value.strip()}


SESSIONS = Sessions(find=find, recognise=recognise, read=read)
