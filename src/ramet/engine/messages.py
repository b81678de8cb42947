"""Messages: the transcript of a session. Each turn is a commit on the session's branch, and a row that points at it."""

from msgspec import Struct

from ramet.engine import named
from ramet.engine.contents import Prepared
from ramet.engine.transaction import Transaction
from ramet.model.commit import CommitFacts, ContentType
from ramet.model.content import PAYLOAD
from ramet.model.instant import to_datetime
from ramet.model.message import Message, Role
from ramet.protocol.replies import Page
from ramet.protocol.requests import AppendMessage, ListMessages
from ramet.store import history, messages
from ramet.store.history import NewCommit

_CONTENT_TYPES: dict[Role, ContentType] = {
    "user": "dialogue",
    "assistant": "dialogue",
    "system": "instruction",
    "tool": "tool_io",
}


class PreparedMessage(Struct, frozen=True):
    """A message whose content needs no transaction any more."""

    request: AppendMessage
    content: Prepared


def append(tx: Transaction, prepared: PreparedMessage) -> Message:
    """Add one turn. A session that has ended still takes what comes late."""
    request = prepared.request
    transcript = messages.find_transcript(tx.db, request.session_id)
    if transcript is None:
        raise named.no_session(request.session_id)
    session_id, head = transcript.session_id, transcript.head
    facts = CommitFacts(
        content_hash=prepared.content.blob.hash,
        content_type=_CONTENT_TYPES[request.role],
        role=request.role,
        author=transcript.agent_id or "user",
        parent=head.commit_hash,
        metadata={PAYLOAD: {"tool_name": request.tool_name}} if request.tool_name else None,
    )
    commit = history.append(
        tx.db,
        head,
        NewCommit(facts=facts, blob=prepared.content.blob, tokens=prepared.content.tokens),
        tx.now_ms,
    )
    message_id = messages.append(
        tx.db,
        session_id=session_id,
        role=request.role,
        commit_id=commit.id,
        tool_name=request.tool_name,
        now_ms=tx.now_ms,
    )
    tx.record("message.appended", session_id=session_id, data={"message": message_id})
    return Message(
        id=message_id,
        session_id=session_id,
        role=request.role,
        content=prepared.content.text,
        tool_name=request.tool_name,
        timestamp=to_datetime(tx.now_ms),
        commit=commit.hash.hex(),
    )


def list_page(tx: Transaction, request: ListMessages) -> Page[Message]:
    """A part of a transcript; `next` is the offset of the part behind it."""
    session = named.session(tx, request.session_id)
    limit = min(request.limit, tx.limits.page_max)
    items = messages.list_page(tx.db, tx.codec, session.id, limit + 1, request.offset)
    more = len(items) > limit
    return Page(items=items[:limit], next=request.offset + limit if more else None)
