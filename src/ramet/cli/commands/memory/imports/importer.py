"""Importing: stored sessions are read here, in pieces, and the daemon writes them.

Pieces are sent while the next ones are read. Each request is one small transaction, so no hook waits for an
import, and it can be interrupted anywhere: a repeated import continues each session at the position of its last piece.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from ramet.cli.commands.memory.imports.requests import OneByOne, Reply, Sender
from ramet.errors import DaemonError, RametError, StoreError
from ramet.model.hooks.transcript import Entry
from ramet.model.memory.stored_session import Head, Piece, Source
from ramet.protocol.memory.imports import (
    MOST_PIECES,
    AddedPiece,
    AddPieces,
    KnownSource,
    ListSources,
    SourceCursor,
    StoredPiece,
)
from ramet.protocol.operation import Ask
from ramet.vendors import registry

_REQUEST_BYTES = 256 * 1024
"""How much text one request carries: it is written in one transaction, and hooks wait for that at most."""
_WAITING_REQUESTS = 4
"""How many requests are under way while the next pieces are read."""

_AROUND_BYTES = 64 * 1024
"""More than a request has around the entries of one piece."""
_ENTRY_BYTES = 300
"""About what an entry has around its text."""
_WORST_ESCAPE = 6
"""How many bytes a character may become in JSON."""

_FATAL = (DaemonError, StoreError)
"""With these, no other session can be imported either."""


class Place(NamedTuple):
    """The project of a directory, as the disk suggests it."""

    path: str | None
    is_repository: bool


class Failure(NamedTuple):
    """A session that could not be imported, or not to its end."""

    source: Source
    reason: str


class Results:
    """What became of the sessions."""

    def __init__(self) -> None:
        self.new: list[int] = []
        self.continued: list[int] = []
        self.unchanged = 0
        self.recorded = 0
        """Sessions of agents that Ramet ran itself, and that are in its record."""
        self.empty = 0
        """Files without a conversation."""
        self.entries = 0
        """What was said, thought and done, and was not known before."""
        self.skipped_lines = 0
        self.failed: list[Failure] = []


class Watcher(Protocol):
    """Shows how far an import is."""

    def __call__(self, done_sessions: int, done_bytes: int) -> None: ...


class _Sent(NamedTuple):
    """Pieces that are under way."""

    of: list["_Reading"]
    request: AddPieces
    reply: Reply


class _Reading:
    """A source that is read."""

    def __init__(self, source: Source, known: KnownSource | None) -> None:
        self.source = source
        self.known = known
        self.session_id: int | None = None
        self.is_new = False
        self.added = 0
        self.is_under_way = False
        """Whether a piece of it was sent."""
        self.waits = False
        self.is_repeated = False
        """Whether some of its pieces were sent again, behind those that continue them."""
        self.is_recorded = False
        self.failure: str | None = None

    @property
    def is_unfinished(self) -> bool:
        """Whether the daemon has pieces of it, and does not know that nothing follows."""
        return self.is_under_way or (self.known is not None and not self.known.is_whole)

    @property
    def is_over(self) -> bool:
        return self.waits or self.is_recorded or self.failure is not None


class Importer:
    """Imports sources, in the order in which they are given."""

    def __init__(
        self,
        ask: Ask,
        locate: Callable[[str | None], Place],
        *,
        host: str | None,
        max_request_bytes: int,
        watch: Watcher = lambda _sessions, _bytes: None,
        sender: Sender | None = None,
    ) -> None:
        """Without a sender, a request is sent when the one before it is answered."""
        self._ask = ask
        self._locate = locate
        self._host = host
        self._longest = max(max_request_bytes - _AROUND_BYTES, max_request_bytes // 2)
        """Of one piece: what is around it must fit as well."""
        self._watch = watch
        self._sender = sender or OneByOne(ask)
        self._batch: list[tuple[_Reading, StoredPiece]] = []
        self._batch_bytes = 0
        self._sent: deque[_Sent] = deque()
        self._waits = True
        self._done_sessions = 0
        self._done_bytes = 0
        self._counted: set[int] = set()
        self.results = Results()

    def run(self, sources: Sequence[Source]) -> Results:
        """Import all of them. What names a session that comes later is imported behind it."""
        known = self.list_known()
        try:
            left = self._import_all(sources, known)
            while left:
                again = self._import_all(left, known)
                if len(again) == len(left) and not self._waits:
                    self.results.failed += [Failure(each, "it does not say which session it is") for each in left]
                    break
                self._waits = len(again) < len(left)  # else nothing that they wait for will come
                left = again
        finally:
            self._sender.close()
        return self.results

    def list_known(self) -> dict[tuple[str, str], KnownSource]:
        """How far each source of this machine was imported."""
        known: dict[tuple[str, str], KnownSource] = {}
        after: SourceCursor | None = None
        while True:
            page = self._ask(ListSources(host=self._host, after=after))
            known |= {(each.vendor, each.source): each for each in page.items}
            if not page.has_more:
                return known
            after = SourceCursor(vendor=page.items[-1].vendor, source=page.items[-1].source)

    def _import_all(self, sources: Sequence[Source], known: dict[tuple[str, str], KnownSource]) -> list[Source]:
        """Import each in turn; those that have to wait for another one are left."""
        readings: list[_Reading] = []
        for source in sources:
            row = known.get((source.vendor, source.key))
            if row is not None and is_unchanged(source, row):
                self.results.unchanged += 1
                self._note_done(source)
                continue
            reading = _Reading(source, row)
            readings.append(reading)
            self._import(reading)
            self._note_done(source)
        self._flush()
        self._settle(0)
        for reading in readings:
            self._conclude(reading)
        return [each.source for each in readings if each.waits and each.failure is None]

    def _note_done(self, source: Source) -> None:
        self._done_sessions += 1
        self._done_bytes += source.size_bytes
        self._watch(self._done_sessions, self._done_bytes)

    def _import(self, reading: _Reading) -> None:
        source, position = reading.source, reading.known.position if reading.known else ""
        try:
            for piece, is_last in _with_end(registry.sessions()[source.vendor].read(source, position or None)):
                if reading.is_over:
                    return
                if piece.position != position or piece.entries or (is_last and reading.is_unfinished):
                    self._add(reading, piece, position, is_last=is_last)
                position = piece.position
        except OSError as error:
            reading.failure = error.strerror or str(error)
        except (ValueError, RecursionError) as error:
            reading.failure = str(error) or type(error).__name__

    def _add(self, reading: _Reading, piece: Piece, before: str, *, is_last: bool) -> None:
        """Queue a piece. One that is too large for a request is sent in parts, of which only the last moves on."""
        parts = list(self._split(piece))
        for number, part in enumerate(parts):
            is_end = number == len(parts) - 1
            moved = replace(part, position=part.position if is_end else before)
            # A source that is read from its start continues nothing, however far it was imported before.
            after = None if part.head is not None and not reading.is_under_way else before
            reading.is_under_way = True
            stored = self._store(reading, moved, after, is_last=is_last and is_end)
            size = _estimate_bytes(part)
            if self._batch and (self._batch_bytes + size > _REQUEST_BYTES or len(self._batch) == MOST_PIECES):
                self._flush()
            self._batch.append((reading, stored))
            self._batch_bytes += size

    def _split(self, piece: Piece) -> Iterator[Piece]:
        """A piece in parts of which each fits into a request; an entry that does not is skipped."""
        if _WORST_ESCAPE * _estimate_bytes(piece) <= self._longest:
            yield piece  # nearly every piece, so nothing is encoded to find that out
            return
        sizes = [len(msgspec.json.encode(entry)) for entry in piece.entries]
        fitting = [(entry, size) for entry, size in zip(piece.entries, sizes, strict=True) if size <= self._longest]
        taken: list[Entry] = []
        skipped, total, head = len(sizes) - len(fitting), 0, piece.head
        for entry, size in fitting:
            if total + size > self._longest:
                yield replace(piece, entries=taken, head=head, skipped=0)
                taken, total, head = [], 0, None
            taken.append(entry)
            total += size
        yield replace(piece, entries=taken, head=head, skipped=piece.skipped + skipped)

    def _store(self, reading: _Reading, piece: Piece, after: str | None, *, is_last: bool) -> StoredPiece:
        source = reading.source
        place = Place(None, is_repository=False) if piece.head is None else self._locate(_directory(piece.head))
        return StoredPiece(
            vendor=source.vendor,
            source=source.key,
            entries=piece.entries,
            position=piece.position,
            after=after,
            size_bytes=source.size_bytes,
            changed_ms=source.changed_ms,
            is_last=is_last,
            head=piece.head,
            skipped=piece.skipped,
            project=place.path,
            is_repository=place.is_repository,
        )

    # Sending, and what comes back.

    def _flush(self) -> None:
        """Send what was gathered, as soon as no more than a few requests are under way."""
        batch, self._batch, self._batch_bytes = self._batch, [], 0
        batch = [each for each in batch if not each[0].is_over]
        if batch:
            self._settle(_WAITING_REQUESTS - 1)
            readings, pieces = [each[0] for each in batch], [each[1] for each in batch]
            request = AddPieces(pieces=pieces, host=self._host, waits=self._waits)
            self._sent.append(_Sent(readings, request, self._sender.send(request)))

    def _settle(self, left: int) -> None:
        """Take replies until only so many are missing."""
        while len(self._sent) > left:
            sent = self._sent.popleft()
            try:
                items = sent.reply.result().items
            except _FATAL:
                raise
            except RametError as error:
                items = self._send_singly(sent, error)
            for reading, piece, item in zip(sent.of, sent.request.pieces, items, strict=True):
                self._note(reading, piece, item)

    def _send_singly(self, sent: _Sent, error: RametError) -> list[AddedPiece]:
        """One of several pieces was refused, and with it all: find out which."""
        if len(sent.of) == 1:
            sent.of[0].failure = error.message
            return [AddedPiece(state="added")]
        items: list[AddedPiece] = []
        for reading, piece in zip(sent.of, sent.request.pieces, strict=True):
            reading.is_repeated = True
            request = replace(sent.request, pieces=[piece])
            try:
                items += self._sender.send(request).result().items
            except _FATAL:
                raise
            except RametError as refusal:
                reading.failure = refusal.message
                items.append(AddedPiece(state="added"))
        return items

    def _note(self, reading: _Reading, piece: StoredPiece, item: AddedPiece) -> None:
        reading.waits |= item.state == "waits"
        reading.is_recorded |= item.state == "recorded"
        if item.state == "moved" and reading.is_repeated:
            reading.waits = True  # it came before the piece that it continues, so it is read again
        elif item.state == "moved" and reading.failure is None:
            reading.failure = "another import continues it; run `ramet import` again"
        if item.state == "added" and item.session_id is not None:
            reading.session_id = item.session_id
            reading.is_new |= item.is_new
            reading.added += item.added
            self.results.skipped_lines += piece.skipped

    def _conclude(self, reading: _Reading) -> None:
        """Count what became of a source."""
        results = self.results
        results.entries += reading.added
        if reading.failure is not None:
            results.failed.append(Failure(reading.source, reading.failure))
        if reading.is_recorded:
            results.recorded += 1
        elif reading.session_id is not None:
            self._count_session(reading.session_id, is_new=reading.is_new)
        elif reading.failure is None and not reading.waits:
            if reading.known is None:
                results.empty += 1
            else:
                results.unchanged += 1

    def _count_session(self, session_id: int, *, is_new: bool) -> None:
        """Once: a session may have several sources, and a source may be read in several rounds."""
        known = self.results.new if is_new else self.results.continued
        if session_id not in self._counted:
            self._counted.add(session_id)
            known.append(session_id)


def is_unchanged(source: Source, known: KnownSource) -> bool:
    """Whether a source was imported to its end and has not changed since."""
    return known.is_whole and (known.size_bytes, known.changed_ms) == (source.size_bytes, source.changed_ms)


def _estimate_bytes(piece: Piece) -> int:
    """About how large a piece is in a request."""
    images = sum(len(image.data) for entry in piece.entries for image in entry.images)
    return images * 4 // 3 + sum(_ENTRY_BYTES + len(entry.text) for entry in piece.entries)


def _directory(head: Head) -> str | None:
    return head.cwd if head.cwd and head.cwd.startswith("/") and "\0" not in head.cwd else None


def _with_end(pieces: Iterator[Piece]) -> Iterator[tuple[Piece, bool]]:
    """Each piece, and whether it is the last."""
    before: Piece | None = None
    for piece in pieces:
        if before is not None:
            yield before, False
        before = piece
    if before is not None:
        yield before, True
