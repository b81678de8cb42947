"""An event: one row of the append-only log. Every change of state writes its event in the same transaction."""

from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

EventKind = Literal[
    "database.restored",
    "project.added",
    "project.changed",
    "project.removed",
    "task.added",
    "task.changed",
    "skill.added",
    "skill.changed",
    "skill.deleted",
    "effort.started",
    "effort.phase",
    "effort.finished",
    "effort.reopened",
    "effort.queued",
    "effort.claimed",
    "effort.attempted",
    "effort.preparing",
    "effort.requeued",
    "effort.late_report",
    "effort.stop_requested",
    "effort.output",
    "effort.awaited",
    "effort.edits",
    "effort.purged",
    "session.spawned",
    "session.started",
    "session.imported",
    "session.resumed",
    "session.bound",
    "session.continued",
    "session.forked",
    "session.titled",
    "session.heartbeat",
    "session.usage",
    "session.files",
    "session.reported",
    "session.limited",
    "session.stuck",
    "session.refused",
    "session.concluded",
    "session.ended",
    "session.collapsed",
    "session.ingested",
    "session.archived",
    "session.unarchived",
    "session.purged",
    "session.compacted",
    "session.handed_off",
    "session.logged",
    "session.directed",
    "session.injected",
    "hook.seen",
    "message.appended",
    "commit.added",
    "commit.annotated",
    "commit.tagged",
    "branch.created",
    "branch.moved",
    "branch.spawned",
    "branch.collapsed",
    "content_type.registered",
    "history.collected",
    "agent.registered",
    "agent.assigned",
    "agent.released",
    "run.started",
    "run.attended",
    "run.left",
    "run.turn",
    "run.finished",
    "run.archived",
    "run.purged",
    "run.deleted",
    "database.returned",
    "landing.queued",
    "landing.claimed",
    "landing.tested",
    "landing.requeued",
    "landing.finished",
    "landing.dropped",
    "landing.undone",
    "driver.parked",
    "driver.released",
    "host.parked",
    "host.resumed",
    "budget.set",
    "notice.added",
    "notice.dismissed",
    "archive.imported",
    "ai.used",
    "row.imported",
    "chunk.put",
    "chunk.deleted",
    "chunk.embedded",
    "index.reset",
    "database.damaged",
]


class Event(Struct, frozen=True, kw_only=True):
    """One row of `events`."""

    id: int
    kind: EventKind
    at: datetime
    project_id: int | None
    task_id: str | None
    effort_id: int | None
    session_id: int | None
    agent_id: str | None
    dedupe_key: str | None
    data: dict[str, Any] | None


class NewEvent(Struct, frozen=True, kw_only=True):
    """An event about to be written."""

    kind: EventKind
    project_id: int | None = None
    task_id: str | None = None
    effort_id: int | None = None
    session_id: int | None = None
    agent_id: str | None = None
    dedupe_key: str | None = None
    data: dict[str, Any] | None = None
