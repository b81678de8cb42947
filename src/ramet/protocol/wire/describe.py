"""The machine-readable account of what may be asked and what is told.

`ramet rpc list --json` prints it, `docs/reference` is generated from it, and a test keeps both the same. It says
nothing of its own but what the kinds of event mean: all else is read from the table of operations and the types.
"""

from typing import Any

import msgspec

from ramet.errors import RametError
from ramet.model.event import EventKind
from ramet.protocol.operation import reply_kinds
from ramet.protocol.operations import OPERATIONS, Operation

EVENT_PURPOSES: dict[EventKind, str] = {
    "project.added": "A project was registered.",
    "project.changed": "A project got another name.",
    "task.added": "A task was created.",
    "task.changed": "A task's description changed.",
    "skill.added": "A project registered a skill.",
    "skill.changed": "A project replaced parts of a skill.",
    "skill.deleted": "A project forgot a skill.",
    "effort.started": "A skill was applied to a task.",
    "effort.phase": "An effort entered a phase.",
    "effort.finished": "An effort came to its outcome.",
    "effort.reopened": "A session that somebody started by hand goes on, and its light effort is active again.",
    "effort.queued": "An effort waits to be run.",
    "effort.claimed": "A worker took an effort; `data` has the lease's generation.",
    "effort.attempted": "An attempt at an effort begins, in its worktree, with its driver.",
    "effort.requeued": "An attempt came to nothing and another will be made; `data` says why and when.",
    "effort.late_report": "Somebody whose lease was gone reported an outcome; it was written down and ignored.",
    "effort.stop_requested": "Somebody wants a running effort to end.",
    "effort.output": "The text of an effort's output was replaced.",
    "effort.awaited": "A session waits for an effort, which then is not the queue's; or does so no more.",
    "session.spawned": "A session got a child; `data` has its parent and its depth.",
    "session.started": "A context window began to serve an effort.",
    "session.resumed": "A context window that had ended goes on.",
    "session.bound": "A session went on with another effort of its task.",
    "session.continued": "An open context window, with all below it, went on behind another one; `data` says which.",
    "session.heartbeat": "A session gave a sign of life.",
    "session.usage": "A session said how full its context window is, or what it has cost.",
    "session.files": "A session said which files it has in its context.",
    "session.reported": "An agent said or did something; `data` counts what was written.",
    "session.limited": "An agent's account may use no more for now; `data` says until when.",
    "session.stuck": "An agent does not get on; `data` has the reason, the tool, its arguments and the turns.",
    "session.concluded": "A session left its closing report.",
    "session.ended": "A session ended.",
    "session.collapsed": "What came of a child session was folded into its parent's history.",
    "session.ingested": "A session's transcript was read on; `data` has how far, and how much of it was new.",
    "session.compacted": "A session's context is compacted; `data` has the commit up to which it was whole.",
    "session.handed_off": "A context window left what the next one needs; `data` has the boundary commit.",
    "session.logged": "Somebody wrote into the log of an effort; its sessions count their tool calls anew.",
    "session.directed": "A session was told the directives of where it works; `data` has their paths.",
    "hook.seen": "A program told of something in which nothing else changes; `data` has the moment and its name.",
    "message.appended": "A turn was added to a session's transcript.",
    "commit.added": "Something was added to a branch.",
    "commit.annotated": "Somebody said how much a commit matters.",
    "commit.tagged": "A commit got other tags.",
    "branch.created": "A branch was created.",
    "branch.moved": "A branch was rewritten: `data` says why, and `undo` takes it back.",
    "branch.spawned": "A child history came out of a parent's.",
    "branch.collapsed": "A child's work was folded into its parent.",
    "content_type.registered": "A kind of content was registered.",
    "history.collected": "What nothing reached any more was deleted.",
    "agent.registered": "An agent was registered, or what is known of it changed.",
    "agent.assigned": "An agent took hold of an effort.",
    "agent.released": "An agent let go of its effort.",
    "run.started": "A run was recorded, and its lines queued.",
    "run.attended": "Somebody works on a run.",
    "run.left": "Nobody works on a run any more; what is not done is interrupted.",
    "run.turn": "A run's conversation grew by a turn.",
    "run.finished": "All lines of a run are done, or its bound is reached.",
    "run.archived": "A run was hidden from the list, or shown again.",
    "run.deleted": "A run was deleted with what it said.",
    "driver.parked": "A driver is left alone for a while; `data` says until when and why.",
    "driver.released": "A driver may be used again.",
    "budget.set": "Somebody bounded what a session and all below it may use.",
    "notice.added": "Something needs a person's attention.",
    "notice.dismissed": "A person has seen a notice.",
    "ai.used": "A model was asked; `data` has its name and what it used, never what was said.",
}
"""What each kind of event says."""


def describe() -> list[dict[str, Any]]:
    """Every operation: what it is for, what it takes, what it answers, how it may fail."""
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
    """The errors of its own; those that every operation shares are in the reference's preface."""
    return sorted(set(operation.errors), key=lambda error: error.code)


def _schema(kind: Any) -> dict[str, Any]:
    """The JSON Schema of a type, its own definition on top and the others under `$defs`."""
    kinds = reply_kinds(kind)
    schemas, definitions = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    if len(kinds) > 1:
        return {"anyOf": list(schemas), "$defs": definitions}
    (schema,) = schemas
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    top = definitions.pop(name, schema)
    return {**top, "$defs": definitions} if definitions else dict(top)
