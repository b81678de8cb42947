"""Recorded edits: what calls and commits of efforts added to files. `memory.why` matches lines with them.

They are derived behind the history, from calls that are stored anyway, so that no hook and no report waits for them.
"""

from ramet.engine.answers import answers
from ramet.engine.record import lookup
from ramet.engine.transaction import Transaction
from ramet.errors import InvalidParams
from ramet.protocol.memory.edits import (
    Calls,
    Described,
    DescribeEdit,
    FindEdits,
    FoundEdits,
    ListCalls,
    ListUnread,
    RecordedCount,
    RecordEdits,
    UnreadSessions,
)
from ramet.store.memory import edits
from ramet.store.record import efforts


@answers(ListUnread)
def list_unread(tx: Transaction, request: ListUnread) -> UnreadSessions:
    """The sessions that have calls which were not read."""
    return UnreadSessions(items=edits.list_behind(tx.db, request.project_id, request.limit))


@answers(ListCalls)
def list_calls(tx: Transaction, request: ListCalls) -> Calls:
    """The next calls of a session."""
    session = lookup.session(tx, request.session_id)
    return Calls(items=edits.list_calls(tx.db, tx.codec, session.id, request.after, request.limit))


@answers(RecordEdits)
def record(tx: Transaction, request: RecordEdits) -> RecordedCount:
    """Write edits, and how far their session was read."""
    effort = lookup.effort(tx, request.effort_id)
    if request.session_id is not None and lookup.session(tx, request.session_id).effort_id != effort.id:
        raise InvalidParams(
            f"session {request.session_id} does not serve effort {effort.id}",
            field="session_id",
            value=request.session_id,
            fix="give a session of the effort",
        )
    project_id = efforts.project_of(tx.db, effort.id)
    kept = request.edits
    if any(edit.kind == "shell" for edit in kept) and edits.has_children(tx.db, effort.id):
        # Children work in the same files, so that nobody knows whose change a look at them found.
        kept = [edit for edit in kept if edit.kind != "shell"]
    edits.put(tx.db, project_id, effort.id, request.session_id, kept)
    if request.session_id is not None and request.last_message_id is not None:
        edits.note_reading(tx.db, request.session_id, request.last_message_id)
    data = {"edits": len(kept), "read_to": request.last_message_id}
    tx.record("effort.edits", task_id=effort.task_id, effort_id=effort.id, session_id=request.session_id, data=data)
    return RecordedCount(edits=len(kept))


@answers(FindEdits)
def find(tx: Transaction, request: FindEdits) -> FoundEdits:
    """The edits of files, and who made them."""
    found = edits.list_of_paths(tx.db, request.project_id, request.paths)
    makers_of = {commit: edits.find_commit_maker(tx.db, request.project_id, commit) for commit in request.commits}
    own = {commit: effort_id for commit, effort_id in makers_of.items() if effort_id is not None}
    makers = {edit.effort_id for edit in found} | set(own.values())
    known = [edits.find_maker(tx.db, request.project_id, effort_id) for effort_id in sorted(makers)]
    return FoundEdits(edits=found, makers=[each for each in known if each is not None], commits=own)


@answers(DescribeEdit)
def describe(tx: Transaction, request: DescribeEdit) -> Described:
    """An edit in its surroundings."""
    effort = lookup.effort(tx, request.effort_id)
    known = None if request.message_id is None else edits.describe_call(tx.db, tx.codec, request.message_id)
    described = known or edits.describe_effort(tx.db, effort.id)
    notes = edits.list_notes(tx.db, effort.id)
    return Described(
        origin=described.origin,
        prompt=_asked(effort.prompt, described.prompt),
        decisions=described.decisions,
        notes=notes,
        given=described.given,
    )


def _asked(task: str | None, given: str | None) -> str | None:
    """What was asked for: without the instructions that Ramet adds to the prompt of an effort."""
    return task if given is None or (task and task in given) else given
