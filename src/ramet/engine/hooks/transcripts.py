"""Ingests: transcripts, read into the histories of their sessions in the order of the file, each entry once.

A file is the truth about what was said. Its entries carry the vendor's own ids and times, so the same file gives the
same history whichever hooks were dropped, however often it is read, and from whichever place on. What a hook told of
before the file had it gives way to it.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from ramet.engine import secrets
from ramet.engine.answers import answers, prepares
from ramet.engine.contents import Contents
from ramet.engine.hooks import compactions, reactions
from ramet.engine.record import (
    budgets,
    lookup,
    messages,
    session_usage,
    sessions,
    subagents,
)
from ramet.engine.record.messages import Turn
from ramet.engine.transaction import Transaction
from ramet.model.history.content import (
    ContentPayload,
    DialogueContent,
    ReasoningContent,
    ToolIOContent,
)
from ramet.model.history.image import bounded
from ramet.model.hooks.transcript import MESSAGE_USAGE, Entry
from ramet.model.instant import from_datetime, to_iso
from ramet.model.names import LONGEST_NAME, clean_name
from ramet.model.record.budget import Amount
from ramet.model.record.session import native_name
from ramet.protocol.hooks.transcripts import AddEntries, Ingest, Ingested, Ingests, ListIngests
from ramet.protocol.pages import split, take, unite
from ramet.store.hooks import hooks, transcripts
from ramet.store.hooks.hooks import Hooked, Provisional
from ramet.store.hooks.transcripts import Position
from ramet.store.record import messages as message_rows
from ramet.store.record import sessions as session_rows
from ramet.store.record.messages import Transcript

_STATUSES: dict[bool, Literal["success", "error"]] = {False: "success", True: "error"}


class Read(Struct, frozen=True):
    """An entry, and the turn that it becomes, where it becomes one."""

    entry: Entry
    turn: Turn | None


class PreparedEntries(Struct, frozen=True):
    """Entries whose contents need no transaction any more."""

    request: AddEntries
    read: list[Read]


@prepares(AddEntries)
def prepare(request: AddEntries, contents: Contents) -> PreparedEntries:
    """Redact, hash and compress what was read."""
    return PreparedEntries(request, prepare_entries(request.entries, contents))


def prepare_entries(entries: Sequence[Entry], contents: Contents) -> list[Read]:
    """Entries without secrets, each with the turn that it becomes, if it becomes one."""
    return [_prepare(entry, contents) for entry in secrets.redact_all(entries, contents.redactor)]


def _prepare(entry: Entry, contents: Contents) -> Read:
    content = _content(entry)
    if content is None:
        return Read(entry, None)
    at_ms = None if entry.at is None or entry.at.tzinfo is None else from_datetime(entry.at)
    turn = messages.make_turn(contents, content, bounded(entry.images))
    return Read(entry, replace(turn, at_ms=at_ms))


def _content(entry: Entry) -> ContentPayload | None:
    """What an entry puts into the session's history."""
    match entry.kind:
        case "text" if entry.role != "tool":
            return DialogueContent(text=entry.text, role=entry.role)
        case "text":
            return ToolIOContent(text=entry.text, tool_name=clean_name(entry.tool or "tool"))
        case "reasoning":
            return ReasoningContent(text=entry.text)
        case "tool_call":
            name = clean_name(entry.tool or "tool")
            return ToolIOContent(text=entry.text, tool_name=name, direction="call", call_id=entry.call_id)
        case "tool_result":
            name, status = clean_name(entry.tool or "tool"), _STATUSES[entry.is_error]
            return ToolIOContent(text=entry.text, tool_name=name, call_id=entry.call_id, status=status)
        case "compaction":
            return compactions.boundary(entry.text)
        case "usage" | "meta":
            return None


@answers(AddEntries)
def add(tx: Transaction, prepared: PreparedEntries) -> Ingested:
    """Write what is new of a transcript, and how far it was read."""
    request = prepared.request
    known = transcripts.find(tx.db, request.path)
    hooked = _find_owner(tx, request, known)
    is_counted = request.counts_subagents and hooks.is_within_kept(tx.db, hooked.id)
    writing = Writing(tx, hooked, counts=not is_counted)
    is_told = is_counted and transcripts.find_sources(tx.db, hooked.id).has_stream
    if not hooked.is_kept and not is_told:
        # What a kept agent says comes from its keeper, and what its sub-agent says from whoever told of it first.
        writing.put_all(prepared.read)
    writing.close()
    is_further = known is None or (known.offset, known.inode) != (request.offset, request.inode)
    if is_further or writing.added or writing.returned:
        transcripts.put(tx.db, request.path, hooked.id, Position(request.offset, request.inode), tx.now)
        data = {"path": request.path, "offset": request.offset, "added": writing.added}
        data |= {"returned": writing.returned} if writing.returned else {}
        tx.record("session.ingested", effort_id=hooked.effort_id, session_id=hooked.id, data=data)
    return Ingested(session_id=hooked.id, offset=request.offset, added=writing.added, replaced=writing.replaced)


def _find_owner(tx: Transaction, request: AddEntries, known: Ingest | None) -> Hooked:
    """The session of a transcript. One that was handed on stays where it is, whatever a reader has yet to hear."""
    above = subagents.must_find(tx, lookup.session(tx, request.session_id).id)
    if known is not None:
        return subagents.must_find(tx, known.session_id)
    return above if request.agent_id is None else subagents.begin(tx, above, request.agent_id)


def _key(hooked: Hooked, entry: Entry) -> str:
    """The vendor's id of an entry. A copy of a session has the same ones, so it names an entry only within its own."""
    return f"{hooked.id}:{entry.key}".replace("\0", "")[: 2 * LONGEST_NAME]


def one_line(title: Any) -> str:
    """A title as it is shown: one line of printable characters."""
    words = clean_name(title).split() if isinstance(title, str) else []
    return "".join(each for each in " ".join(words) if each.isprintable())


def _output(entry: Entry) -> float:
    return (entry.usage or {}).get("output_tokens", 0)


class Writing:
    """The entries of one request on their way into a session's history."""

    def __init__(self, tx: Transaction, hooked: Hooked, *, counts: bool) -> None:
        """`counts`: whether what it used is not counted elsewhere."""
        self._tx = tx
        self._hooked = hooked
        self._counts = counts
        self._provisional = hooks.list_provisional(tx.db, hooked.id)
        self._turns: list[Turn] = []
        self._keys: set[str] = set()
        self._known: set[str] = set()
        """The keys of turns that were here before."""
        self._tools: dict[str, str] = {}
        """The tools of the calls that are among the turns, by the ids of these."""
        self._usage: dict[str, Entry] = {}
        """What was used, by its key: programs repeat it with every line, and what is said last holds."""
        self._model: str | None = None
        """The model that the transcript has named, if it names it apart from what was used."""
        self._at: datetime | None = None
        """The time of the newest entry that has one, for those without."""
        self._origin: str | None = None
        self._newest_ms = 0
        self._answered_ms = 0
        """When the agent said the newest thing that is no call of a tool."""
        self._results: set[str] = set()
        """The calls that have come back."""
        self.added = 0
        self.replaced = 0
        self.returned = 0

    def put_all(self, read: Sequence[Read], *, is_new: bool = False) -> None:
        """Entries behind the others, each unless it is there; of a new session, none is."""
        keys = [_key(self._hooked, each.entry) for each in read if each.turn is not None and each.turn.is_message]
        self._known = transcripts.list_known(self._tx.db, keys) if keys and not is_new else set()
        for each in read:
            self._put(each)

    def _put(self, read: Read) -> None:
        self._at = read.entry.at or self._at
        if read.entry.kind == "meta":
            self._note_meta(read.entry)
        if read.entry.usage and self._counts:
            self._note_usage(read.entry)
        if read.turn is None:
            return
        self._note_return(read.entry, read.turn)
        key = _key(self._hooked, read.entry)
        if not self._is_new(key, read.turn):
            return
        turn = replace(self._named(read), source_key=key)
        self._newest_ms = max(self._newest_ms, turn.at_ms or 0)
        self.added += 1
        if read.entry.kind == "compaction":
            self._flush()
            compactions.write_boundary(self._tx, self._transcript(), turn)
        else:
            self._forget_told(read.entry, turn)
            self._turns.append(turn)

    def _note_usage(self, entry: Entry) -> None:
        """What is said last stands last: a cost of the whole session holds for the calls before it. But of a message,
        which is written while it is streamed, the one with the most output is the whole one.
        """
        before = self._usage.pop(entry.key, None)
        if before is not None and entry.key.startswith(MESSAGE_USAGE) and _output(before) > _output(entry):
            entry = before
        self._usage[entry.key] = replace(entry, model=entry.model or self._model, at=entry.at or self._at)

    def _note_meta(self, entry: Entry) -> None:
        """What a transcript says of its session as a whole."""
        meta, session_id = entry.meta or {}, self._hooked.id
        if entry.model is not None:
            self._model = clean_name(entry.model)
        if title := one_line(meta.get("title")):
            sessions.note_title(self._tx, session_id, title, is_given=meta.get("is_given") is True)
        origin = meta.get("origin")
        if isinstance(origin, str) and origin != self._origin and self._hooked.driver is not None:
            self._origin = origin  # which every line of a copy repeats
            found = session_rows.find_native(self._tx.db, self._hooked.driver, native_name(origin, None))
            if found is not None:
                sessions.note_origin(self._tx, session_id, found.id)

    def _note_return(self, entry: Entry, turn: Turn) -> None:
        if entry.kind == "tool_result" and entry.call_id is not None:
            self._results.add(clean_name(entry.call_id))
        if entry.kind == "text" and entry.role == "assistant":
            self._answered_ms = max(self._answered_ms, turn.at_ms or 0)

    def _is_new(self, key: str, turn: Turn) -> bool:
        """A line may stand in a file twice; a thought, which is no message, is noted here for the next time."""
        if key in self._keys:
            return False
        self._keys.add(key)
        if turn.is_message:
            return key not in self._known
        return transcripts.add_thought(self._tx.db, self._hooked.id, key)

    def _named(self, read: Read) -> Turn:
        """A result says only which call it answers; that says of which tool."""
        entry, turn = read.entry, read.turn
        assert turn is not None  # noqa: S101
        if entry.call_id is None:
            return turn
        if entry.kind == "tool_call" and turn.tool_name is not None:
            self._tools[entry.call_id] = turn.tool_name
        if entry.kind != "tool_result" or entry.tool is not None:
            return turn
        tool = self._tools.get(entry.call_id) or transcripts.find_tool(self._tx.db, self._hooked.id, entry.call_id)
        return turn if tool is None else messages.name_tool(turn, tool)

    def _flush(self) -> None:
        """Put what was gathered behind each other, with one look at the branch and one move of it."""
        if self._turns:
            messages.write(self._tx, self._transcript(), self._turns)
            self._turns = []

    def _transcript(self) -> Transcript:
        found = message_rows.find_transcript(self._tx.db, self._hooked.id)
        if found is None:
            raise lookup.no_session(self._hooked.id)
        author = found.agent_id or f"{self._hooked.driver}:{self._hooked.native_id}"
        return replace(found, agent_id=author)

    def _forget_told(self, entry: Entry, turn: Turn) -> None:
        """What a hook told of before gives way to what the file says."""
        told = self._find_told(entry, turn)
        if told is not None:
            hooks.forget_provisional(self._tx.db, told.message_id)
            self._provisional.remove(told)
            self.replaced += 1

    def _find_told(self, entry: Entry, turn: Turn) -> Provisional | None:
        """The prompt of which a hook told before: by its id, else by what it says."""
        if entry.kind != "text" or (entry.role != "user" and entry.prompt_id is None):
            return None
        if entry.prompt_id is not None:
            key = reactions.provisional_key(self._hooked.id, entry.prompt_id)
            named_so = [each for each in self._provisional if each.source_key == key]
            if named_so:
                return named_so[0]
        same = [each for each in self._provisional if each.content_hash == turn.content.blob.hash]
        return same[0] if same else None

    def close(self) -> None:
        """Write what is left, and what the entries mean for the session: it lives, and it has used something."""
        self._flush()
        self._take_back()
        if self._newest_ms:
            transcripts.show_alive(self._tx.db, self._hooked.id, self._by_now(self._newest_ms))
        self._count()

    def _count(self) -> None:
        """What was used. Programs that name their model apart do so once, perhaps before what was read now."""
        tx = self._tx
        if self._model is not None:
            session_rows.observe(tx.db, self._hooked.id, self._model, None)
        if not self._usage:
            return
        session = lookup.session(tx, self._hooked.id)
        entries = self._usage.values()
        used = [more for said in entries for more in session_usage.put(tx, session.id, said, session.model)]
        if used:
            budgets.check_usage(tx, session.id, sum(used, Amount()))
        if session.parent_session_id is not None:
            session_usage.settle_above(tx, session.parent_session_id)

    def _take_back(self) -> None:
        """Where the hook after a tool was dropped its call would be at work for ever. It is over when its result is
        there, and all are when the agent has answered since the last sign of life.
        """
        calls, last = self._hooked.tools_in_flight, self._hooked.last_heartbeat or ""
        has_answered = self._answered_ms and self._by_now(self._answered_ms) > last
        left = [] if has_answered else [call for call in calls if call not in self._results]
        self.returned = len(calls) - len(left)
        if self.returned:
            hooks.take_back(self._tx.db, self._hooked.id, left)

    def _by_now(self, at_ms: int) -> str:
        """What a file dates later than now was at the latest now."""
        return to_iso(min(at_ms, self._tx.now_ms))


@answers(ListIngests)
def list_all(tx: Transaction, request: ListIngests) -> Ingests:
    """Which transcripts are read, and how far."""
    named = tx.asker if request.session_id is None else request.session_id
    session_id = None if named is None else lookup.session(tx, named).id
    if request.path is not None:
        known = transcripts.find(tx.db, request.path)
        found = [] if known is None else [known]
    elif session_id is not None:
        found = transcripts.list_of_session(tx.db, session_id)
    else:
        found = transcripts.list_all(tx.db)
    if session_id is not None:
        found = [each for each in found if each.session_id == session_id]
    items, last = take(
        found, lambda each: (each.session_id, each.path), after=split(request.cursor), limit=request.limit
    )
    return Ingests(items=items, next=None if last is None else unite(*last))
