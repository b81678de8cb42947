"""Compactions: the place where a session's context was whole is marked, so that it can be had again.

The hook before a compaction marks where the history stands. The transcript, which has the last word, puts the mark in
its place when it comes to the compaction itself, and leaves a boundary behind it: so a hook that was dropped costs
nothing.
"""

from ramet.engine.answers import answers
from ramet.engine.history import references
from ramet.engine.record import lookup, messages
from ramet.engine.record.messages import Turn, Written
from ramet.engine.transaction import Transaction
from ramet.model.history.branch import Head, session_branch
from ramet.model.history.content import SessionContent
from ramet.model.instant import to_datetime
from ramet.protocol.hooks.compactions import Compaction, Compactions, ListCompactions
from ramet.protocol.pages import take
from ramet.store.hooks import compactions
from ramet.store.record import messages as message_rows
from ramet.store.record.messages import Transcript


@answers(ListCompactions)
def list_of_session(tx: Transaction, request: ListCompactions) -> Compactions:
    """Where a session's context was whole, the newest first."""
    session = lookup.session(tx, request.session_id)
    spans = references.spans(tx, references.head(tx, session.branch))
    found = [
        Compaction(number=each.number, commit=each.hash.hex(), tokens=each.tokens, at=to_datetime(each.at_ms))
        for each in compactions.list_whole(tx.db, spans)
    ]
    after = None if request.cursor is None else -request.cursor
    items, last = take(found, lambda each: -each.number, after=after, limit=request.limit)
    return Compactions(items=items, next=None if last is None else -last)


def mark(tx: Transaction, session_id: int, head: Head) -> int:
    """A context is whole where its branch stands; which compaction follows. One mark for each, at the latest place."""
    spans = references.spans(tx, head)
    number = compactions.count_done(tx.db, spans) + 1
    if head.commit_id is None or head.commit_hash is None:
        return number
    marked = compactions.list_marked(tx.db, spans, number)
    if head.commit_id in marked:
        return number
    for commit_id in marked:
        compactions.unmark_whole(tx.db, commit_id, number)
    compactions.mark_whole(tx.db, head.commit_id, number)
    data = {"number": number, "commit": head.commit_hash.hex()}
    tx.record("session.compacted", session_id=session_id, data=data)
    return number


def boundary(summary: str | None) -> SessionContent:
    """What a compaction leaves in a history."""
    return SessionContent(session_type="checkpoint", summary=summary or "The context was compacted.")


def leave_boundary(tx: Transaction, session_id: int, summary: str | None) -> None:
    """A compaction is over: its boundary, behind the mark."""
    transcript = message_rows.find_transcript(tx.db, session_id)
    if transcript is None:
        raise lookup.no_session(session_id)
    turn = messages.make_turn(tx.contents, boundary(summary))
    write_boundary(tx, transcript, turn)
    tx.record("commit.added", session_id=session_id, data={"branch": session_branch(session_id)})


def write_boundary(tx: Transaction, transcript: Transcript, turn: Turn) -> Written:
    """Put a boundary behind the place where the context was whole."""
    number = mark(tx, transcript.session_id, transcript.head)
    (written,) = messages.write(tx, transcript, [turn])
    compactions.mark_done(tx.db, written.commit.id, number)
    return written
