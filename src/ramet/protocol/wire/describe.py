"""The machine-readable description of operations and events.

`ramet rpc list --json` prints it, `docs/reference` is generated from it, and a test keeps both the same. Only the
meanings of the kinds of event are written here. The rest is read from the table of operations and the types.
"""

from typing import Any

import msgspec

from ramet.errors import RametError
from ramet.model.event import EventKind
from ramet.protocol.operation import reply_kinds
from ramet.protocol.operations import OPERATIONS, Operation

EVENT_PURPOSES: dict[EventKind, str] = {
    "database.restored": "A backup took the place of the database; `data` names the efforts that were dropped.",
    "project.added": "A project was registered.",
    "project.changed": "A project was renamed.",
    "project.removed": "A project was taken off the list; its records stay.",
    "task.added": "A task was created.",
    "task.changed": "A task's description changed.",
    "skill.added": "A project's skill was registered.",
    "skill.changed": "Parts of a project's skill were replaced.",
    "skill.deleted": "A project's skill was deleted.",
    "effort.started": "An effort started: a skill was applied to a task.",
    "effort.phase": "An effort entered a phase.",
    "effort.finished": "An effort finished with an outcome.",
    "effort.reopened": "A session that a person started was resumed, and its light effort is active again.",
    "effort.queued": "An effort was added to the queue.",
    "effort.claimed": "A worker claimed an effort; `data` has the lease's generation.",
    "effort.attempted": "An attempt at an effort started, in its worktree, with its driver.",
    "effort.preparing": "The worktree of an attempt is prepared; `data` says how, with the command and its log.",
    "effort.requeued": "An attempt failed and the effort will be retried; `data` says why and when.",
    "effort.late_report": "A worker that had lost its lease reported an outcome; `data` says whether it was accepted.",
    "effort.stop_requested": "A stop of a running effort was requested.",
    "effort.output": "The text of an effort's output was replaced.",
    "effort.awaited": "A session started to wait for an effort, which then leaves the queue, or stopped waiting.",
    "effort.edits": "Edits of an effort were recorded: the lines that its calls or commits added to files.",
    "effort.purged": "The texts of an effort were removed, because all its sessions were purged.",
    "session.spawned": "A session spawned a child; `data` has the parent and the depth.",
    "session.started": "A session started to work on an effort.",
    "session.imported": "A stored session of an agent program was imported; `data` has its program and its id there.",
    "session.resumed": "A session that had ended was resumed.",
    "session.bound": "A session moved to another effort of its task.",
    "session.continued": "An open session and its descendants now continue another session; `data` says which.",
    "session.forked": "A session is known to be a copy of another one; `data` says of which.",
    "session.titled": "A session has a title in its program, which a person or the program gave it.",
    "session.heartbeat": "A session sent a heartbeat.",
    "session.usage": "A session reported how full its context window is, or its cost.",
    "session.files": "A session reported which files it has in its context.",
    "session.reported": "Output of an agent was recorded; `data` has the counts.",
    "session.limited": "An agent's account reached a usage limit; `data` says until when.",
    "session.stuck": "An agent makes no progress; `data` has the reason, the tool, its arguments and the turns.",
    "session.refused": "An agent was refused a host or a call; `data` has its name, how often, and what allows it.",
    "session.concluded": "A session recorded its closing report.",
    "session.ended": "A session ended.",
    "session.collapsed": "A child session's result was folded into its parent's history.",
    "session.ingested": "More of a session's transcript was read; `data` has the offset and the number of new entries.",
    "session.archived": "A session was archived: lists leave it out.",
    "session.unarchived": "An archived session is listed again.",
    "session.purged": "The texts of a session are removed: once when that starts, and once when it is done.",
    "session.compacted": "A session's context was compacted; `data` has the last commit before that.",
    "session.handed_off": "A session recorded a handoff for the next one; `data` has the boundary commit.",
    "session.logged": "A note was added to an effort's log; its sessions' counts of tool calls were reset.",
    "session.directed": "A session received the directives for its directory; `data` has their paths.",
    "session.injected": "A hook gave a session text to read; `data` has its source, size in bytes and tokens.",
    "hook.seen": "A hook was called that changes nothing else; `data` has the moment and its name.",
    "message.appended": "A message was added to a session's transcript.",
    "commit.added": "A commit was added to a branch.",
    "commit.annotated": "A commit's priority was set.",
    "commit.tagged": "A commit's tags were set.",
    "branch.created": "A branch was created.",
    "branch.moved": "A branch was rewritten; `data` says why, and `history.undo` restores it.",
    "branch.spawned": "A child branch was spawned.",
    "branch.collapsed": "A child branch was folded into its parent.",
    "content_type.registered": "A content type was registered.",
    "history.collected": "Unreachable commits and contents were deleted.",
    "agent.registered": "An agent was registered or changed.",
    "agent.assigned": "An effort was assigned to an agent.",
    "agent.released": "An agent released its effort.",
    "run.started": "A run was recorded and its lines were queued.",
    "run.attended": "A run was attended: its lines are now worked on.",
    "run.left": "A run is no longer attended; it is interrupted if lines are left.",
    "run.turn": "A turn was added to a run's conversation.",
    "run.finished": "All lines of a run are done, or one of its limits was reached.",
    "run.archived": "A run was archived, or restored to the list.",
    "run.purged": "The texts of a run are removed.",
    "run.deleted": "A run was deleted with its conversation.",
    "database.returned": "A shared database answered again; `data` says since when it had not, and who noticed.",
    "landing.queued": "A branch was queued to land, or queued again.",
    "landing.claimed": "A lander took a landing.",
    "landing.tested": "A candidate passed the checks. The target moves to it next.",
    "landing.requeued": "A landing was put back into the queue.",
    "landing.finished": "A landing landed, failed a check, conflicted or was stopped.",
    "landing.dropped": "A landing was removed from the queue.",
    "landing.undone": "The changes of a landing were taken back.",
    "driver.parked": "A driver was parked; `data` says until when and why.",
    "driver.released": "A driver may be used again.",
    "host.parked": "A host claims no efforts for a while; `data` says until when and why.",
    "host.resumed": "A host claims efforts again.",
    "budget.set": "The budget of a session and its descendants was set.",
    "notice.added": "Something needs a person's attention.",
    "notice.dismissed": "A person dismissed a notice.",
    "archive.imported": "Rows of an archive were added.",
    "ai.used": "A model was called; `data` has its name and usage, never the prompt or the answer.",
    "row.imported": "A row of a predecessor was imported or linked; `data` has its key and the rows that it became.",
    "chunk.put": "A text was added to be searched.",
    "chunk.deleted": "Texts that were added to be searched were deleted.",
    "chunk.embedded": "Texts that were added to be searched have their vectors.",
    "index.reset": "The search index is to be built again.",
    "database.damaged": "The database is damaged, and the daemon writes nothing more; `data` has the first sign.",
}
"""The meaning of each kind of event."""


def describe() -> list[dict[str, Any]]:
    """Every operation: its purpose, parameters, reply and errors."""
    return [_describe(operation) for operation in OPERATIONS.values()]


def describe_events() -> list[dict[str, Any]]:
    """Every kind of event."""
    return [{"kind": kind, "purpose": purpose} for kind, purpose in EVENT_PURPOSES.items()]


def _describe(operation: Operation) -> dict[str, Any]:
    return {
        "name": operation.name,
        "purpose": operation.purpose,
        "audience": operation.audience,
        "changes": operation.changes,
        "host": operation.host,
        "params": _schema(operation.request),
        "reply": _schema(operation.reply),
        "errors": [error.code for error in _errors(operation)],
    }


def _errors(operation: Operation) -> list[type[RametError]]:
    """The operation's specific errors. The reference's preface lists the errors that all operations share."""
    return sorted(set(operation.errors), key=lambda error: error.code)


def _schema(kind: Any) -> dict[str, Any]:
    """The JSON Schema of a type: its own definition at the top level, the others under `$defs`."""
    kinds = reply_kinds(kind)
    schemas, definitions = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    if len(kinds) > 1:
        return {"anyOf": list(schemas), "$defs": definitions}
    (schema,) = schemas
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    top = definitions.pop(name, schema)
    return {**top, "$defs": definitions} if definitions else dict(top)
