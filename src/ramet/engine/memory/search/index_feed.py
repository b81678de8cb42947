"""Feeding the index: behind the event log, from a stored cursor, in steps that are short and can be cut off anywhere.

A step is one transaction of the index: it reads some rows of the database, writes their words and moves the cursor. New
events come first. What was there before the index is read session by session, the newest first, so that a long build is
useful from its beginning. Each part can be read again without harm: a session remembers its last message, every other
text its source.
"""

from collections.abc import Iterator

from msgspec import Struct

from ramet.engine.memory.search.message_texts import read_message
from ramet.model.event import Event
from ramet.model.instant import from_datetime, from_iso
from ramet.model.memory.search.hit import Kind
from ramet.store import events
from ramet.store.database.blobs import Codec
from ramet.store.database.connection import Connection
from ramet.store.memory import sources
from ramet.store.memory.index.index_writer import IndexWriter, NewDoc
from ramet.store.memory.index.search_index import SearchIndex
from ramet.store.memory.sources import SourceChunk, SourceEffort, SourceSession

_EVENTS = 200
_MESSAGES = 16
_CHARACTERS = 40_000
"""How much one step reads: a few milliseconds' worth."""
_START = 2**62
_MOST_BEHIND = 100_000

_SILENT = frozenset(
    {
        "hook.seen",
        "session.heartbeat",
        "session.usage",
        "session.files",
        "session.directed",
        "effort.claimed",
        "effort.preparing",
        "effort.stop_requested",
        "agent.assigned",
        "agent.released",
        "budget.set",
        "ai.used",
        "chunk.embedded",
    }
)
"""Events that bring no text."""
_REMOVING = frozenset({"run.deleted", "project.removed"})
"""Events after which sessions may be gone."""
_PURGING = "session.purged"
"""The event after which exactly the words of one session are removed, and what is left of it is read again."""


class _Budget(Struct):
    """What a step may still read."""

    messages: int = _MESSAGES
    characters: int = _CHARACTERS

    @property
    def is_spent(self) -> bool:
        return self.messages <= 0 or self.characters <= 0

    def take(self, characters: int) -> None:
        self.messages -= 1
        self.characters -= characters


class _RebuildAsked(Exception):
    """The index is to be built again."""


class _OtherDatabase(Exception):
    """The index was made from another database, or from a state that was since undone."""


class IndexFeed:
    """Feeds one index. One thread at a time uses it."""

    def __init__(self, index: SearchIndex, codec: Codec) -> None:
        self.index = index
        self._codec = codec
        self._is_checked = False

    def step(self, db: Connection) -> bool:
        """Read a little more; False if nothing is left. `db` has an open transaction that reads."""
        connection = self.index.writer()
        connection.begin()
        try:
            writer = IndexWriter(connection, self._codec)
            has_more = self._advance(db, writer)
            writer.flush()
            connection.commit()
        except _OtherDatabase:
            connection.rollback()
            self.index.discard()
            self._is_checked = False
            return True
        except _RebuildAsked:
            connection.rollback()
            self.index.supersede()
            return True
        except BaseException:
            connection.rollback()
            raise
        if self._must_scrub:
            self.index.scrub()
        if not has_more:
            self.index.complete()
        return has_more

    def catch_up(self, db: Connection) -> None:
        """Read everything."""
        while self.step(db):
            pass

    def _advance(self, db: Connection, writer: IndexWriter) -> bool:
        self._must_scrub = False
        cursor = writer.get("cursor")
        if cursor is None:
            self._begin(db, writer)
            return True
        if not self._is_checked:
            self._check(db, writer, cursor)
        budget = _Budget()
        news = events.list_after(db, cursor, _EVENTS, None)
        if news:
            self._follow(db, writer, news, budget)
            return True
        return self._sweep(db, writer, budget)

    def _begin(self, db: Connection, writer: IndexWriter) -> None:
        last = events.find_last(db)
        self._move(db, writer, last)
        self._begin_sweep(writer, last)

    def _begin_sweep(self, writer: IndexWriter, last: int) -> None:
        for name, value in (("sessions", _START), ("efforts", _START), ("notes", 0), ("chunks", 0), ("kept", 0)):
            writer.put(f"sweep_{name}", value)
        writer.put("sweep_notes_last", last)
        writer.put("is_sweeping", 1)

    def _move(self, db: Connection, writer: IndexWriter, event_id: int) -> None:
        writer.put("cursor", event_id)
        writer.put("mark", sources.find_event_time(db, event_id))

    def _check(self, db: Connection, writer: IndexWriter, cursor: int) -> None:
        """Whether this is the database that the index was made from: a restored backup has other events, or fewer."""
        self._is_checked = True
        mark, found = writer.get("mark"), sources.find_event_time(db, cursor)
        if (found is None and events.find_last(db) < cursor) or (found is not None and found != mark):
            raise _OtherDatabase

    # New events.

    def _follow(self, db: Connection, writer: IndexWriter, news: list[Event], budget: _Budget) -> None:
        """Read what some events are about; the cursor moves behind them only when all of it was read."""
        for event in news:
            if not self._follow_one(db, writer, event, budget):
                return
            if budget.is_spent:
                self._move(db, writer, event.id)
                return
        self._move(db, writer, news[-1].id)

    def _follow_one(self, db: Connection, writer: IndexWriter, event: Event, budget: _Budget) -> bool:
        kind: str = event.kind
        if kind in _SILENT:
            return True
        if kind in _REMOVING:
            writer.put("sweep_kept", 0)
            writer.put("is_sweeping", 1)
        if kind == _PURGING and event.session_id is not None and writer.get("purged_by") != event.id:
            writer.forget_session(event.session_id)
            if event.effort_id is not None:
                noted = writer.notes_of_effort(event.effort_id)
                for event_id in set(noted) - sources.existing_notes(db, noted):
                    writer.forget_source(f"n{event_id}")
            # What is left of a long session takes several steps, which must not begin with this again.
            writer.put("purged_by", event.id)
            self._must_scrub = True
        if kind == "session.logged" and event.data is not None and event.effort_id is not None:
            self._put_note(db, writer, event.id, from_datetime(event.at), event.effort_id, event.data["text"])
        if kind == "index.reset":
            raise _RebuildAsked  # the new one begins behind this event
        if kind.startswith("chunk."):
            self._follow_chunk(db, writer, event)
        if event.effort_id is not None and kind.startswith(("effort.", "run.", "session.reported", "session.ended")):
            self._feed_effort(db, writer, event.effort_id, budget)
        return event.session_id is None or self._feed_session(db, writer, event.session_id, budget)

    def _follow_chunk(self, db: Connection, writer: IndexWriter, event: Event) -> None:
        for chunk_id in (event.data or {}).get("chunks", []):
            chunk = sources.find_chunk(db, chunk_id)
            if chunk is None:
                writer.forget_source(f"c{chunk_id}")
                self._must_scrub = True
            else:
                writer.put_source(_chunk(chunk))

    # What was there before.

    def _sweep(self, db: Connection, writer: IndexWriter, budget: _Budget) -> bool:
        if not writer.get("is_sweeping"):
            return False
        parts = (self._sweep_sessions, self._sweep_efforts, self._sweep_notes, self._sweep_chunks, self._sweep_vanished)
        if any(part(db, writer, budget) for part in parts):
            return True
        writer.put("is_sweeping", None)
        return False

    def _sweep_sessions(self, db: Connection, writer: IndexWriter, budget: _Budget) -> bool:
        before = writer.get("sweep_sessions") or 0
        found = sources.list_sessions_before(db, before, _MESSAGES)
        for session_id in found:
            if not self._feed_session(db, writer, session_id, budget):
                return True
            writer.put("sweep_sessions", session_id)
            budget.messages -= 1
            if budget.is_spent:
                return True
        return bool(found)

    def _sweep_efforts(self, db: Connection, writer: IndexWriter, budget: _Budget) -> bool:
        before = writer.get("sweep_efforts") or 0
        found = sources.list_efforts_before(db, before, _MESSAGES)
        for effort_id in found:
            self._feed_effort(db, writer, effort_id, budget)
            writer.put("sweep_efforts", effort_id)
            budget.messages -= 1
            if budget.is_spent:
                return True
        return bool(found)

    def _sweep_notes(self, db: Connection, writer: IndexWriter, budget: _Budget) -> bool:  # noqa: ARG002
        after, last = writer.get("sweep_notes") or 0, writer.get("sweep_notes_last") or 0
        found = sources.list_notes(db, after, last, _MESSAGES)
        for event_id, at_ms, effort_id, text in found:
            if effort_id is not None:
                self._put_note(db, writer, event_id, at_ms, effort_id, text)
            writer.put("sweep_notes", event_id)
        return bool(found)

    def _sweep_chunks(self, db: Connection, writer: IndexWriter, budget: _Budget) -> bool:  # noqa: ARG002
        found = sources.list_chunks(db, writer.get("sweep_chunks") or 0, _MESSAGES)
        for chunk in found:
            writer.put_source(_chunk(chunk))
            writer.put("sweep_chunks", chunk.id)
        return bool(found)

    def _sweep_vanished(self, db: Connection, writer: IndexWriter, budget: _Budget) -> bool:  # noqa: ARG002
        """Remove the sessions that are no longer there."""
        known = writer.sessions_after(writer.get("sweep_kept") or 0, _EVENTS)
        for session_id in sorted(set(known) - sources.existing_sessions(db, known)):
            writer.forget_session(session_id)
            self._must_scrub = True
        if known:
            writer.put("sweep_kept", known[-1])
        return bool(known)

    # Sessions and efforts.

    def _feed_session(self, db: Connection, writer: IndexWriter, session_id: int, budget: _Budget) -> bool:
        """Read the new messages of a session; False if there are more than a step may read."""
        session = sources.find_session(db, session_id)
        if session is None:
            writer.forget_session(session_id)
            self._must_scrub = True
            return True
        self._forget_passed(db, writer, session_id)
        last = writer.last_message(session_id)
        limit = max(budget.messages, 1)
        found = sources.list_messages(db, self._codec, session_id, last, limit)
        has_more = len(found) == limit
        for message in found:
            read_message(writer, session, message)
            writer.read_until(session_id, message.id)
            budget.take(len(message.text))
            if budget.is_spent:
                has_more = True
                break
        if has_more:
            writer.leave_unit_open(session_id)
            return False
        writer.close_unit(session_id)
        if not found and not last:
            writer.read_until(session_id, 0)
        for doc in _session_docs(session):
            writer.put_source(doc)
        return True

    def _forget_passed(self, db: Connection, writer: IndexWriter, session_id: int) -> None:
        """What a hook reported gives way to what the transcript says."""
        passing = writer.passing(session_id)
        if passing:
            there = sources.existing_messages(db, list(passing))
            writer.remove([doc_id for message_id, doc_id in passing.items() if message_id not in there])

    def _feed_effort(self, db: Connection, writer: IndexWriter, effort_id: int, budget: _Budget) -> None:
        effort = sources.find_effort(db, effort_id)
        if effort is None:
            writer.forget_effort(effort_id)
            return
        docs = list(_effort_docs(db, effort))
        writer.forget_effort(effort_id, {doc.source for doc in docs if doc.source is not None})
        for doc in docs:
            writer.put_source(doc)
            budget.characters -= len(doc.text)

    def _put_note(
        self, db: Connection, writer: IndexWriter, event_id: int, at_ms: int, effort_id: int, text: str
    ) -> None:
        effort = sources.find_effort(db, effort_id)
        if effort is not None:
            doc = NewDoc(
                kind="note",
                text=text,
                time_ms=at_ms,
                source=f"n{event_id}",
                effort_id=effort_id,
                project_id=effort.project_id,
                driver=effort.driver,
            )
            writer.put_source(doc)


def lag(db: Connection, index: SearchIndex, codec: Codec) -> int:
    """How many events the index has not read. If it has not read what was there before, that counts as well."""
    reader = index.reader()
    if reader is None:
        return sources.count_behind(db, 0, _MOST_BEHIND)
    writer = IndexWriter(reader, codec)
    cursor = writer.get("cursor") or 0
    behind = sources.count_behind(db, cursor, _MOST_BEHIND)
    if not writer.get("is_sweeping"):
        return behind
    return behind + len(sources.list_sessions_before(db, writer.get("sweep_sessions") or 0, _MOST_BEHIND))


def _session_docs(session: SourceSession) -> Iterator[NewDoc]:
    """What a session says of itself as a whole."""
    texts: list[tuple[Kind, str | None]] = [
        ("title", session.title),
        ("note", session.notes),
        ("report", session.report),
    ]
    for kind, text in texts:
        yield NewDoc(
            kind=kind,
            text=text or "",
            time_ms=from_datetime(from_iso(session.created_at)),
            source=f"s{session.id}/{kind}",
            session_id=session.id,
            effort_id=session.effort_id,
            project_id=session.project_id,
            driver=session.driver,
            agent_id=session.agent_id,
            is_below=session.is_below,
        )


def _effort_docs(db: Connection, effort: SourceEffort) -> Iterator[NewDoc]:
    """What an effort was asked, proved, delivered, and was told by its reviews."""
    texts: list[tuple[str, Kind, str, str]] = [
        ("goal", "goal", effort.prompt or "", effort.created_at),
        ("report", "report", effort.output or "", effort.ended_at),
    ]
    for phase_id, label, proof, reason, created_at in sources.list_phases(db, effort.id):
        texts.append((f"phase/{phase_id}", "phase", "\n".join(filter(None, (label, proof, reason))), created_at))
    for finding_id, severity, file, line, text in sources.list_findings(db, effort.id):
        place = "" if file is None else f" {file}" + ("" if line is None else f":{line}")
        texts.append((f"finding/{finding_id}", "finding", f"{severity}{place}: {text}", effort.ended_at))
    for name, kind, text, at in texts:
        yield NewDoc(
            kind=kind,
            text=text,
            time_ms=from_datetime(from_iso(at)),
            source=f"e{effort.id}/{name}",
            effort_id=effort.id,
            project_id=effort.project_id,
            driver=effort.driver,
        )


def _chunk(chunk: SourceChunk) -> NewDoc:
    return NewDoc(
        kind="chunk",
        text=chunk.text,
        time_ms=from_datetime(from_iso(chunk.updated_at)),
        source=f"c{chunk.id}",
        role=chunk.source_type,
        project_id=chunk.project_id,
    )
