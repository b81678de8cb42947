"""Logs: an agent that logs its work may continue; the gate counts from zero. The file itself is written elsewhere."""

from ramet.engine.answers import answers
from ramet.engine.record import lookup
from ramet.engine.transaction import Transaction
from ramet.errors import InvalidParams
from ramet.model.instant import to_datetime
from ramet.model.record.effort import Effort
from ramet.model.record.skill import artifact_prefix
from ramet.protocol.hooks.notes import LogNoted, NoteLog
from ramet.store.record import sessions


@answers(NoteLog)
def note(tx: Transaction, request: NoteLog) -> LogNoted:
    """An entry was written into the log of an effort: its sessions count their tool calls from zero."""
    effort = _effort(tx, request)
    sessions.reset_heartbeats(tx.db, effort.id, tx.now)
    data = None if request.text is None else {"text": request.text}
    tx.record("session.logged", task_id=effort.task_id, effort_id=effort.id, data=data)
    return LogNoted(
        effort_id=effort.id,
        task_id=effort.task_id,
        artifact_prefix=artifact_prefix(effort.ordinal, effort.skill),
        at=to_datetime(tx.now_ms),
    )


def _effort(tx: Transaction, request: NoteLog) -> Effort:
    if (request.session_id is None) == (request.effort_id is None):
        raise InvalidParams(
            "give either session_id or effort_id",
            field="session_id",
            fix="give session_id for its effort's log, or effort_id",
        )
    if request.effort_id is not None:
        return lookup.effort(tx, request.effort_id)
    return lookup.effort(tx, lookup.session(tx, request.session_id or 0).effort_id)
