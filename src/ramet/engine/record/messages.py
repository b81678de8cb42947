"""Messages: the transcript of a session. Each turn is a commit on the session's branch, and a row that points at it."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ramet.engine.answers import answers, prepares
from ramet.engine.contents import Contents, Prepared
from ramet.engine.record import lookup
from ramet.engine.transaction import Transaction
from ramet.model.history.commit import CommitFacts, ContentType
from ramet.model.history.content import (
    IMAGES,
    PAYLOAD,
    ContentPayload,
    ReasoningContent,
    ToolIOContent,
    pack,
)
from ramet.model.history.image import Image
from ramet.model.instant import to_datetime
from ramet.model.record.message import Message, Role
from ramet.protocol.record.messages import AppendMessage, ListMessages, MessagePage
from ramet.store.history import images as image_rows
from ramet.store.history import segments
from ramet.store.history.segments import Committed, NewCommit
from ramet.store.record import messages
from ramet.store.record.messages import Transcript

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


@prepares(AppendMessage)
def prepare(request: AppendMessage, contents: Contents) -> PreparedMessage:
    """Redact, hash and compress the text."""
    return PreparedMessage(request, contents.prepare(request.content))


class Turn(Struct, frozen=True, kw_only=True):
    """Something said or done in a session, about to be written."""

    content: Prepared
    content_type: str
    role: Role
    tool_name: str | None = None
    is_message: bool = True
    """Whether it is part of the transcript; what an agent thought is only in its history."""
    source_key: str | None = None
    """By which a program's own transcript names it."""
    at_ms: int | None = None
    """When it was said, where a source knows that better than we do."""
    images: Sequence[Image] = ()
    """The images that its text names."""


class Written(Struct, frozen=True):
    """A turn in its place."""

    commit: Committed
    message_id: int | None


def make_turn(contents: Contents, content: ContentPayload, images: Sequence[Image] = ()) -> Turn:
    """A typed content as a turn, with the images that it names. It needs no transaction."""
    packed = pack(content)
    metadata: dict[str, Any] = {PAYLOAD: packed.payload} if packed.payload else {}
    prepared = contents.prepare(packed.text, metadata or None)
    if images:
        # Behind the redaction, which has nothing to look for in a hash.
        named = [image.hash.hex() for image in images]
        prepared = replace(prepared, metadata={**(prepared.metadata or {}), IMAGES: named})
    return Turn(
        content=prepared,
        images=images,
        content_type=packed.content_type,
        role=packed.role,
        tool_name=content.tool_name if isinstance(content, ToolIOContent) else None,
        is_message=not isinstance(content, ReasoningContent),
    )


def name_tool(turn: Turn, tool: str) -> Turn:
    """The same turn as that of a tool whose name became known later."""
    payload = {**(turn.content.metadata or {}).get(PAYLOAD, {}), "tool_name": tool}
    content = replace(turn.content, metadata={**(turn.content.metadata or {}), PAYLOAD: payload})
    return replace(turn, tool_name=tool, content=content)


@answers(AppendMessage)
def append(tx: Transaction, prepared: PreparedMessage) -> Message:
    """Add one turn. A session that has ended still takes what comes late."""
    request = prepared.request
    transcript = messages.find_transcript(tx.db, request.session_id)
    if transcript is None:
        raise lookup.no_session(request.session_id)
    turn = Turn(
        content=prepared.content,
        content_type=_CONTENT_TYPES[request.role],
        role=request.role,
        tool_name=request.tool_name,
    )
    (written,) = write(tx, transcript, [turn])
    message_id = written.message_id
    assert message_id is not None  # noqa: S101
    tx.record("message.appended", session_id=transcript.session_id, data={"message": message_id})
    return Message(
        id=message_id,
        session_id=transcript.session_id,
        role=request.role,
        content=prepared.content.text,
        tool_name=request.tool_name,
        timestamp=to_datetime(tx.now_ms),
        commit=written.commit.hash.hex(),
    )


def write(tx: Transaction, transcript: Transcript, turns: Sequence[Turn]) -> list[Written]:
    """Put turns behind each other on a session's branch."""
    head, written = transcript.head, []
    for turn in turns:
        commit = segments.put(tx.db, head, _commit(turn, transcript, head.commit_hash), tx.now_ms)
        image_rows.put(tx.db, turn.images)
        head = commit.as_head(head.branch_id)
        written.append(Written(commit, _add_row(tx, transcript.session_id, turn, commit.id)))
    if written:
        segments.move(tx.db, head.branch_id, head.commit_id)
    return written


def _commit(turn: Turn, transcript: Transcript, parent: bytes | None) -> NewCommit:
    payload = {PAYLOAD: {"tool_name": turn.tool_name}} if turn.tool_name else None
    facts = CommitFacts(
        content_hash=turn.content.blob.hash,
        content_type=turn.content_type,
        role=turn.role,
        author="user" if turn.role == "user" else transcript.agent_id or "user",
        parent=parent,
        metadata=turn.content.metadata or payload,
        at_ms=turn.at_ms,
    )
    return NewCommit(facts=facts, blob=turn.content.blob, tokens=turn.content.tokens)


def _add_row(tx: Transaction, session_id: int, turn: Turn, commit_id: int) -> int | None:
    if not turn.is_message:
        return None
    return messages.append(
        tx.db,
        session_id=session_id,
        role=turn.role,
        commit_id=commit_id,
        tool_name=turn.tool_name,
        now_ms=tx.now_ms if turn.at_ms is None else turn.at_ms,
        source_key=turn.source_key,
    )


@answers(ListMessages)
def list_page(tx: Transaction, request: ListMessages) -> MessagePage:
    """A part of a transcript; `next` is the offset of the part after it."""
    session = lookup.session(tx, request.session_id)
    limit = min(request.limit, tx.limits.page_max)
    if request.newest:
        items = messages.list_newest(tx.db, tx.codec, session.id, limit)
        return MessagePage(items=items, earlier=messages.count(tx.db, session.id) - len(items))
    items = messages.list_page(tx.db, tx.codec, session.id, limit + 1, request.offset)
    more = len(items) > limit
    return MessagePage(items=items[:limit], next=request.offset + limit if more else None, earlier=request.offset)
