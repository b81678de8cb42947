"""WorkRail: the append-only event log of one session (version 1).

A session is a folder with `manifest.jsonl`, which lists the segments of the log, or one file with all its events.
"""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from ramet.model.history.commit import canonical_json
from ramet.model.memory.predecessor import (
    EffortGit,
    NewEffort,
    NewMessage,
    NewPhase,
    NewProject,
    NewRow,
    NewSession,
    NewTask,
    SourceRow,
)
from ramet.model.record.message import Role
from ramet.predecessors.source import Source, instant, invalid, text
from ramet.vendors.contract import json_lines
from ramet.vendors.contract.stored_files.line_file import open_file
from ramet.vendors.contract.stored_files.unreadable import SourceUnreadable

VERSION = 1
MANIFEST = "manifest.jsonl"
_LARGEST = 256 * 1024 * 1024
_CREATED = "events:0"
_UNFINISHED = "unfinished when it was imported from WorkRail"


def is_event(line: bytes) -> bool:
    """Whether a line is an event of a session."""
    found = json_lines.parse(line.decode(errors="replace"))
    return found is not None and {"eventId", "eventIndex", "sessionId", "kind"} <= found.keys()


def open_source(path: Path, project: str) -> "WorkRailSource":
    """The session in a folder or a file."""
    events = _read_events(path)
    if not events:
        raise invalid(path, "the session has no event", field="events", fix="import a session that was started")
    _check(path, events)
    return WorkRailSource(path, str(events[0]["sessionId"]), str(VERSION), project)


def _read_events(path: Path) -> list[dict[str, Any]]:
    if not path.is_dir():
        return _read_lines(path)
    events: list[dict[str, Any]] = []
    for place, record in enumerate(_read_lines(path / MANIFEST)):
        if record.get("kind") == "segment_closed":
            events += _read_lines(_segment(path, place, record))
    return events


def _segment(folder: Path, place: int, record: dict[str, Any]) -> Path:
    """The file of a segment, if it is whole."""
    named = str(record.get("segmentRelPath"))
    file = folder / named
    if not file.resolve().is_relative_to(folder.resolve()):
        raise invalid(
            folder,
            f"record {place + 1} of {MANIFEST} names a file outside of the session",
            field="segmentRelPath",
            value=named,
            fix="import a folder whose segments are inside it",
        )
    expected, found = record.get("sha256"), f"sha256:{sha256(_read(file)).hexdigest()}"
    if expected != found:
        raise invalid(
            file,
            f"{MANIFEST} has another hash: {expected}",
            field="sha256",
            value=found,
            fix="restore the segment from a backup",
        )
    return file


def _read(path: Path) -> bytes:
    try:
        with open_file(path) as file:
            data = file.read(_LARGEST + 1)
    except SourceUnreadable as error:
        raise invalid(path, error.strerror or "it cannot be read", field="path", value=str(path)) from error
    if len(data) > _LARGEST:
        raise invalid(path, f"it is larger than {_LARGEST // 2**20} MiB", field="path", value=str(path))
    return data


def _read_lines(path: Path) -> list[dict[str, Any]]:
    found = []
    for number, line in enumerate(_read(path).splitlines(), 1):
        if not line.strip():
            continue
        try:
            value = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError) as error:
            raise invalid(
                path,
                f"line {number} is no JSON object: {error}",
                field=f"line {number}",
                value=line[:80].decode(errors="replace"),
                fix="restore the file from a backup, or remove the line in a copy and import the copy",
            ) from error
        if not isinstance(value, dict) or not json_lines.is_shallow(value):
            raise invalid(path, f"line {number} is no JSON object", field=f"line {number}", value=str(value)[:80])
        found.append(value)
    return found


def _check(path: Path, events: list[dict[str, Any]]) -> None:
    session_id = events[0].get("sessionId")
    for place, event in enumerate(events):
        if event.get("v") != VERSION:
            raise invalid(
                path,
                f"event {place} has a version that is not known",
                field="v",
                value=event.get("v"),
                fix=f"import a session of version {VERSION}",
            )
        if event.get("eventIndex") != place or event.get("sessionId") != session_id:
            raise invalid(
                path,
                f"the event at place {place} is number {event.get('eventIndex')} of {event.get('sessionId')}",
                field="eventIndex",
                value=event.get("eventIndex"),
                fix=f"import the whole log of {session_id}, one event after the other",
            )
        if not isinstance(event.get("kind"), str):
            raise invalid(path, f"event {place} has no kind", field="kind", value=event.get("kind"))
    if events[0]["kind"] != "session_created":
        raise invalid(
            path,
            "the log does not start with session_created",
            field="kind",
            value=events[0]["kind"],
            fix="import the whole log of the session",
        )


class WorkRailSource(Source):
    """A session of WorkRail."""

    system = "workrail"

    def __init__(self, path: Path, identity: str, version: str, project: str) -> None:
        super().__init__(path, identity, version)
        self._project = project

    @property
    def parent(self) -> str | None:
        """The session that spawned it."""
        return text(_data(_read_events(self.path)[0]).get("parentSessionId"))

    def rows(self) -> Iterator[SourceRow]:
        events = _read_events(self.path)
        _check(self.path, events)
        facts = _Facts(events)
        project = facts.project or self._project
        yield SourceRow(table="project", key=project, becomes=[NewProject(path=project)])
        task = NewTask(project=f"project:{project}", path=f"{project.rstrip('/')}/.workrail", title="WorkRail")
        yield SourceRow(table="task", key=project, becomes=[task])
        if self.path.is_dir():
            for place, record in enumerate(_read_lines(self.path / MANIFEST)):
                yield SourceRow(table="manifest", key=str(place), values=record)
        for place, event in enumerate(events):
            becomes = facts.begin(self.identity, f"task:{project}") if place == 0 else _become(event)
            yield SourceRow(table="events", key=str(place), values=event, becomes=becomes)


class _Facts:
    """What the events of a session say of it as a whole."""

    def __init__(self, events: list[dict[str, Any]]) -> None:
        self._first, self._last = events[0], events[-1]
        self._observed: dict[str, str] = {}
        self._workflow: str | None = None
        self._goal: str | None = None
        self._notes: str | None = None
        self._completed: dict[str, Any] | None = None
        for event in events:
            self._note(event["kind"], _data(event))

    def _note(self, kind: str, data: dict[str, Any]) -> None:
        match kind:
            case "observation_recorded":
                value = json_lines.entry(data, "value").get("value")
                self._observed[str(data.get("key"))] = str(value)
            case "run_started":
                self._workflow = self._workflow or text(data.get("workflowId"))
            case "context_set":
                context = json_lines.entry(data, "context")
                self._goal = self._goal or text(context.get("goal"))
                workspace = text(context.get("workspacePath"))
                if workspace is not None:
                    self._observed.setdefault("workspace", workspace)
            case "node_output_appended":
                self._notes = _notes(data) or self._notes
            case "run_completed":
                self._completed = data

    @property
    def project(self) -> str | None:
        """The repository in which the session worked, if it says so."""
        found = self._observed.get("repo_root") or self._observed.get("workspace")
        return found if found is not None and found.startswith("/") else None

    def begin(self, session_id: str, task: str) -> list[NewRow]:
        """The session and its effort: a workflow is a skill."""
        is_done, ended = self._completed is not None, instant(self._last.get("timestampMs"))
        completed = self._completed or {}
        effort = NewEffort(
            task=task,
            skill=self._workflow or "do",
            outcome="success" if is_done else "dropped",
            reason=None if is_done else _UNFINISHED,
            prompt=self._goal,
            output_content=self._notes,
            attempts=1,
            git=EffortGit(
                branch=text(completed.get("gitBranch")) or self._observed.get("git_branch"),
                base=text(completed.get("startGitSha")) or self._observed.get("git_head_sha"),
                head=text(completed.get("endGitSha")),
            ),
            metadata={"imported": {"system": "workrail", "source": session_id}},
            created_ms=instant(self._first.get("timestampMs")),
            finished_ms=ended,
        )
        parent = text(_data(self._first).get("parentSessionId"))
        session = NewSession(
            effort=_CREATED,
            native_id=session_id,
            parent_id=None if parent == session_id else parent,
            outcome="success" if is_done else "dropped",
            notes=self._notes,
            title=None if self._goal is None else self._goal.splitlines()[0][:200],
            created_ms=instant(self._first.get("timestampMs")),
            ended_ms=ended,
        )
        return [effort, session]


def _data(event: dict[str, Any]) -> dict[str, Any]:
    return json_lines.entry(event, "data")


def _notes(data: dict[str, Any]) -> str | None:
    return text(json_lines.entry(data, "payload").get("notesMarkdown"))


def _become(event: dict[str, Any]) -> list[NewRow]:
    """What an event is in the transcript of its session, or in the phases of its effort. Others are only kept."""
    data, at_ms = _data(event), instant(event.get("timestampMs"))
    match event["kind"]:
        case "node_created":
            node = text(json_lines.entry(event, "scope").get("nodeId")) or str(event["eventIndex"])
            return [NewPhase(effort=_CREATED, label=node, proof=data, created_ms=at_ms)]
        case "context_set":
            goal = text(json_lines.entry(data, "context").get("goal"))
            spoken = goal or canonical_json({"context": data.get("context")}).decode()
            role: Role = "system" if goal is None else "user"
            return [NewMessage(session=_CREATED, role=role, text=spoken, at_ms=at_ms)]
        case "node_output_appended" if (notes := _notes(data)) is not None:
            return [NewMessage(session=_CREATED, role="assistant", text=notes, at_ms=at_ms)]
        case "gap_recorded" | "divergence_recorded" if (summary := text(data.get("summary"))) is not None:
            return [NewMessage(session=_CREATED, role="assistant", text=summary, at_ms=at_ms)]
        case "decision_trace_appended":
            said = [summary for each in json_lines.entries(data, "entries") if (summary := text(each.get("summary")))]
            return [NewMessage(session=_CREATED, role="assistant", text="\n".join(said), at_ms=at_ms)] if said else []
        case _:
            return []
