"""Aurora: the JSON checkpoints of `aur spawn`, `.aurora/checkpoints/ID.json`, with or without a conversation."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ramet.errors import ImportSourceInvalid
from ramet.model.memory.predecessor import (
    EffortLine,
    NewEffort,
    NewProject,
    NewRun,
    NewTask,
    NewTurn,
    SourceRow,
)
from ramet.model.record.effort import Outcome
from ramet.predecessors.source import Source, file_name, fingerprint, instant, invalid, text
from ramet.vendors.contract.stored_files import document_file
from ramet.vendors.contract.stored_files.unreadable import SourceUnreadable

FOLDER = ".aurora"
CHECKPOINTS = "checkpoints"
_REQUIRED = ("execution_id", "started_at", "tasks", "last_checkpoint")
_OUTCOMES: dict[str, Outcome] = {"completed": "success", "failed": "error"}
_STATES = ("pending", "in_progress", "completed", "failed", "skipped")
_ROLES = ("user", "assistant", "system")
_LISTS = ("tasks", "conversation")


def is_checkpoint(document: dict[str, Any]) -> bool:
    """Whether a JSON document is a checkpoint."""
    return "execution_id" in document and "tasks" in document


def read_document(path: Path) -> dict[str, Any]:
    """The object in a file."""
    try:
        return document_file.read(path)[0] or {}
    except SourceUnreadable as error:
        raise ImportSourceInvalid(str(error), field="path", value=str(path)) from error


def open_source(path: Path, project: str) -> "AuroraSource":
    """The checkpoint in a file. One in `.aurora` belongs to the project around that, any other to the given one."""
    document = read_document(path)
    for field in _REQUIRED:
        if field not in document:
            raise invalid(path, f"{field} is missing", field=field, fix=f"a checkpoint has {', '.join(_REQUIRED)}")
    execution_id = document["execution_id"]
    if text(execution_id) is None:
        raise invalid(path, "execution_id is no text", field="execution_id", value=execution_id)
    around = next((str(each.parent) for each in path.parents if each.name == FOLDER), project)
    return AuroraSource(path, file_name(execution_id), "1", around)


class AuroraSource(Source):
    """A checkpoint of Aurora."""

    system = "aurora"

    def __init__(self, path: Path, identity: str, version: str, project: str) -> None:
        super().__init__(path, identity, version)
        self._project = project

    def rows(self) -> Iterator[SourceRow]:
        document = read_document(self.path)
        tasks, turns = (self._list(document, name) for name in _LISTS)
        self._check_tasks(tasks)
        self._check_turns(turns)
        plan = text(document.get("plan_id"))
        folder = f"{self._project.rstrip('/')}/{FOLDER}/plans/{file_name(plan or 'none')}"
        yield SourceRow(table="project", key="", becomes=[NewProject(path=self._project)])
        yield SourceRow(
            table="plan", key="", becomes=[NewTask(project="project:", path=folder, title=plan or "Aurora")]
        )
        yield self._run(document)
        for position, task in enumerate(tasks):
            yield self._line(position, task)
        seen: dict[str, int] = {}
        for turn in turns:
            # By what it says and when: Aurora drops turns in the middle, so their places change.
            name = fingerprint(turn.get("timestamp"), turn["role"], turn["content"])
            seen[name] = seen.get(name, 0) + 1
            yield self._turn(f"{name}.{seen[name]}", turn)

    def _list(self, document: dict[str, Any], name: str) -> list[dict[str, Any]]:
        """The objects of a list. A checkpoint from before conversations has none, which is an empty one."""
        found = document.get(name)
        if found is None and name == "conversation":
            return []
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            raise invalid(self.path, f"{name} is no list of objects", field=name, value=found)
        return found

    def _check_tasks(self, tasks: list[dict[str, Any]]) -> None:
        for place, task in enumerate(tasks):
            if task.get("status") not in _STATES:
                raise invalid(
                    self.path,
                    f"task {place + 1} has an unknown status",
                    field=f"tasks[{place}].status",
                    value=task.get("status"),
                    fix=f"use one of: {', '.join(_STATES)}",
                )
            if "id" not in task:
                raise invalid(self.path, f"task {place + 1} has no id", field=f"tasks[{place}].id")

    def _check_turns(self, turns: list[dict[str, Any]]) -> None:
        for place, turn in enumerate(turns):
            if turn.get("role") not in _ROLES:
                raise invalid(
                    self.path,
                    f"turn {place + 1} has an unknown role",
                    field=f"conversation[{place}].role",
                    value=turn.get("role"),
                    fix=f"use one of: {', '.join(_ROLES)}",
                )
            if not isinstance(turn.get("content"), str):
                value = turn.get("content")
                raise invalid(
                    self.path, f"turn {place + 1} has no text", field=f"conversation[{place}].content", value=value
                )

    def _run(self, document: dict[str, Any]) -> SourceRow:
        values = {name: value for name, value in document.items() if name not in _LISTS}
        new = NewRun(
            task="plan:",
            name=str(document["execution_id"]),
            created_ms=instant(document["started_at"]),
            finished_ms=instant(document["last_checkpoint"]),
            reason="interrupted when it was imported from Aurora" if document.get("interrupted") else None,
        )
        return SourceRow(table="checkpoint", key=self.identity, values=values, becomes=[new])

    def _line(self, position: int, task: dict[str, Any]) -> SourceRow:
        status = str(task["status"])
        about = task.get("metadata") if isinstance(task.get("metadata"), dict) else {}
        described = [text((about or {}).get(name)) for name in ("prompt", "description", "title")]
        started = instant(task.get("started_at"))
        is_done = status in _OUTCOMES
        new = NewEffort(
            task="plan:",
            skill="do",
            outcome=_OUTCOMES.get(status, "dropped"),
            reason=text(task.get("error")) or (None if is_done else f"{status} when it was imported from Aurora"),
            prompt=next((each for each in described if each), str(task["id"])),
            output_content=task.get("result") if isinstance(task.get("result"), str) else None,
            attempts=int(is_done or started is not None),
            metadata={"imported": {"system": "aurora", "source": self.identity, "id": task["id"], "status": status}},
            created_ms=started,
            finished_ms=instant(task.get("completed_at")),
            line=EffortLine(run=f"checkpoint:{self.identity}", key=str(task["id"]), order=position),
        )
        return SourceRow(table="tasks", key=str(position), values=task, becomes=[new])

    def _turn(self, key: str, turn: dict[str, Any]) -> SourceRow:
        about = {name: turn[name] for name in ("tokens", "metadata") if turn.get(name)}
        new = NewTurn(
            run=f"checkpoint:{self.identity}",
            role=turn["role"],
            text=turn["content"],
            at_ms=instant(turn.get("timestamp")),
            metadata={"aurora": about} if about else None,
        )
        return SourceRow(table="conversation", key=key, values=turn, becomes=[new])
