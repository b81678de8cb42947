"""Seed 003's `TaskStore` over the queue: its task is our effort.

`SqliteTaskStore` is for a file of your own, `PostgresTaskStore` for a team, `ConnectedTaskStore` for the daemon's
database, which `ramet work` uses too. Programs written against the protocol run on each. `mark_in_progress` gives a
lease that the store object remembers, so that two programs never have the same task, and a program that lost its task
gets an error when it reports.
"""

import os
import secrets
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, runtime_checkable

from ramet.errors import Conflict, EffortFinished, EffortHeld, EffortNotFound, LeaseLost, PathOutside, RametError
from ramet.library.ramet import Ramet
from ramet.library.transport import Transport
from ramet.model.record.effort import Outcome
from ramet.protocol.record.efforts import EffortRow
from ramet.protocol.work.leases import Refusal, Refused
from ramet.workspace.files import confined

_LEASE_SECONDS = 86_400
"""The lease of a program that only reports its start and its end is not renewed."""
_LARGEST_REPORT_BYTES = 64 * 1024 * 1024
_SKILLS = {"task": "do"}
"""Types of tasks whose skill has another name."""
_TYPES = {skill: task_type for task_type, skill in _SKILLS.items()}
_REFUSALS: dict[Refusal, type[RametError]] = {
    "missing": EffortNotFound,
    "not_queued": EffortFinished,
    "blocked": Conflict,
    "lost": EffortHeld,
    "busy": EffortHeld,
}


@dataclass(frozen=True, kw_only=True)
class Task:
    """One piece of work, as it was when it was read."""

    id: int
    prompt: str
    task_type: str = "task"
    status: str = "pending"
    """pending, in_progress, completed, failed or dropped."""
    based_on: int | None = None
    depends_on: tuple[int, ...] = ()
    branch: str | None = None
    log_file: str | None = None
    report_file: str | None = None
    output_content: str | None = None
    has_commits: bool = False
    stats: Mapping[str, Any] | None = None


@runtime_checkable
class TaskStore(Protocol):
    """What a program needs of a store of tasks."""

    def add(self, prompt: str, task_type: str = "task") -> Task:
        """A new task, which waits to be run."""

    def get(self, task_id: int) -> Task | None:
        """A task by its id."""

    def get_next_pending(self) -> Task | None:
        """The task that is the next to be run: one that waits for nothing."""

    def mark_in_progress(self, task: Task) -> None:
        """Take a task; refused if another worker has it."""

    def mark_completed(
        self,
        task: Task,
        branch: str | None = None,
        log_file: str | None = None,
        report_file: str | None = None,
        output_content: str | None = None,
        has_commits: bool = False,
        stats: Mapping[str, Any] | None = None,
    ) -> None:
        """A task has succeeded."""

    def is_task_blocked(self, task: Task) -> tuple[bool, int | None, str | None]:
        """Whether a task has to wait, for which one, and what that one's status is."""


class QueueTaskStore:
    """The tasks of one project, in the queue of a database."""

    def __init__(self, transport: Transport, project: str | PathLike[str]) -> None:
        self._ramet = Ramet(transport)
        self._name = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._generations: dict[int, int] = {}
        try:
            self._project = self._ramet.db.project.upsert(str(Path(project).absolute())).path
        except BaseException:
            self.close()
            raise

    def add(
        self,
        prompt: str,
        task_type: str = "task",
        based_on: int | None = None,
        depends_on: Sequence[int] = (),
        *,
        driver: str | None = None,
        model: str | None = None,
        priority: int = 0,
        timeout_seconds: int | None = None,
    ) -> Task:
        """A new task of this project, which waits for what it is based on and for what it depends on."""
        effort = self._ramet.work.add(
            prompt,
            skill=_SKILLS.get(task_type, task_type),
            task=self._project if based_on is None else None,
            based_on=based_on,
            depends_on=depends_on,
            driver=driver,
            model=model,
            priority=priority,
            timeout_seconds=timeout_seconds,
        )
        return _task(effort)

    def get(self, task_id: int) -> Task | None:
        """A task by its id."""
        try:
            return _task(self._ramet.work.get(task_id))
        except EffortNotFound:
            return None

    def get_next_pending(self) -> Task | None:
        """The most urgent task of this project that waits for nothing, among equals the oldest."""
        effort = self._ramet.work.next(project=self._project)
        return None if effort is None else _task(effort)

    def mark_in_progress(self, task: Task) -> None:
        """Take a task. Of several who try, one gets it; the others are refused with the reason."""
        claimed = self._ramet.work.claim(f"{self._name}/{task.id}", effort_id=task.id, lease_seconds=_LEASE_SECONDS)
        if isinstance(claimed, Refused):
            raise _REFUSALS[claimed.refused](claimed.detail, field="task", value=task.id)
        self._generations[task.id] = claimed.generation

    def mark_completed(
        self,
        task: Task,
        branch: str | None = None,
        log_file: str | None = None,
        report_file: str | None = None,
        output_content: str | None = None,
        has_commits: bool = False,
        stats: Mapping[str, Any] | None = None,
    ) -> None:
        """A task has succeeded; one that was not taken is taken first."""
        facts = {"branch": branch, "log_file": log_file, "has_commits": has_commits, "stats": stats}
        self._report(task, "success", facts, report_file=report_file, output_content=output_content)

    def mark_failed(
        self,
        task: Task,
        reason: str | None = None,
        branch: str | None = None,
        log_file: str | None = None,
        has_commits: bool = False,
        stats: Mapping[str, Any] | None = None,
    ) -> None:
        """A task has failed. Tasks that wait for it keep waiting, and say so."""
        facts = {"branch": branch, "log_file": log_file, "has_commits": has_commits, "stats": stats}
        self._report(task, "error", facts, reason=reason)

    def is_task_blocked(self, task: Task) -> tuple[bool, int | None, str | None]:
        """Whether a task has to wait, the id of the first that it waits for, and that one's status."""
        waits = self._ramet.work.blocked(task.id)
        if waits.by is None:
            return waits.blocked, None, waits.status
        blocker = self.get(waits.by)
        return True, waits.by, blocker.status if blocker else waits.status

    def get_task_output(self, task: Task) -> str | None:
        """A task's text: from the database, in which an empty one is an answer too; else from its report's file, which
        must lie inside the project; else None.
        """
        effort = self._ramet.work.get(task.id)
        if effort.output_content is not None:
            return effort.output_content
        return None if effort.report_file is None else self._read(effort.report_file)

    def _read(self, report_file: str) -> str | None:
        try:
            found = confined.read(self._project, report_file, _LARGEST_REPORT_BYTES)
            return None if found is None else found.data.decode()
        except (PathOutside, OSError, UnicodeDecodeError):
            return None

    def _report(
        self,
        task: Task,
        outcome: Outcome,
        facts: Mapping[str, Any],
        *,
        reason: str | None = None,
        report_file: str | None = None,
        output_content: str | None = None,
    ) -> None:
        if task.id not in self._generations:
            self.mark_in_progress(task)
        done = self._ramet.work.complete(
            task.id,
            self._generations.pop(task.id),
            outcome,
            reason=reason,
            report_file=report_file,
            output_content=output_content,
            git_branch=facts["branch"],
            metadata={name: facts[name] for name in ("log_file", "has_commits", "stats") if facts[name]},
        )
        if done.ignored:
            raise LeaseLost(f"another worker now has task {task.id}", field="task", value=task.id)

    def close(self) -> None:
        """Close the database. Twice does nothing."""
        self._ramet.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class SqliteTaskStore(QueueTaskStore):
    """Tasks in a file of your own. No daemon may have it open."""

    def __init__(self, path: str | PathLike[str], project: str | PathLike[str]) -> None:
        from ramet.library.local import LocalTransport  # noqa: PLC0415

        super().__init__(LocalTransport.open(path), project)


class PostgresTaskStore(QueueTaskStore):
    """Tasks on a server that a team shares. Several programs may have it open, and a daemon too."""

    def __init__(self, url: str, project: str | PathLike[str]) -> None:
        from ramet.library.local import LocalTransport  # noqa: PLC0415

        super().__init__(LocalTransport.share(url), project)


class ConnectedTaskStore(QueueTaskStore):
    """Tasks in the configured database, through its daemon: the queue that `ramet add` fills and `ramet work` runs."""

    def __init__(
        self,
        project: str | PathLike[str],
        *,
        autostart: bool | None = None,
        timeout_seconds: float | None = None,
    ) -> None:
        from ramet.library.remote import RemoteTransport  # noqa: PLC0415

        transport = RemoteTransport.connect(project, autostart=autostart, timeout_seconds=timeout_seconds)
        super().__init__(transport, project)


def _task(effort: EffortRow) -> Task:
    metadata = effort.metadata or {}
    return Task(
        id=effort.id,
        prompt=effort.prompt or "",
        task_type=_TYPES.get(effort.skill, effort.skill),
        status=_status(effort),
        based_on=effort.based_on,
        depends_on=tuple(effort.depends_on or ()),
        branch=effort.git_branch,
        log_file=metadata.get("log_file"),
        report_file=effort.report_file,
        output_content=effort.output_content,
        has_commits=bool(metadata.get("has_commits")),
        stats=metadata.get("stats"),
    )


def _status(effort: EffortRow) -> str:
    match effort.lifecycle:
        case "queued":
            return "pending"
        case "active":
            return "in_progress"
        case "finished":
            return {"success": "completed", "no_change": "completed", "dropped": "dropped"}.get(
                effort.outcome or "", "failed"
            )
