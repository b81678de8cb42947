"""The agent's output, numbered: on disk first, then on its way to the daemon until that has it.

Pieces of one text that come close together are joined before they get a number, because a number is given once. Waiting
events are held in memory up to a limit and read back from the file beyond it: a daemon that stays away costs no memory.
If the disk is full, all waiting events are held in memory.

No event is numbered before its secrets are removed. The end of a text that continues waits if a secret may be cut
there.
"""

import os
from collections import deque
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Raw, Struct

from ramet.keeper.event_json import EventRedactor, encode_event
from ramet.model.work.stream import (
    End,
    Limit,
    NativeId,
    Remark,
    Started,
    StreamEvent,
    Stuck,
    Text,
    Usage,
)
from ramet.protocol.work.keepers import KeeperRedaction

IDLE_SECONDS = 0.05
LONGEST_WAIT_SECONDS = 0.2
BATCH_BYTES = 64 * 1024
"""A batch is sent when nothing more came for a moment, when its first event has waited, or when it is this large."""
_REQUEST_BYTES = 256 * 1024
"""What has piled up is sent in requests of about this size."""
_MEMORY_BYTES = 2 * 1024 * 1024


class _Line(Struct, frozen=True):
    """One line of the spool, its event as it was written."""

    seq: int
    event: Raw


_lines = msgspec.json.Decoder(_Line)


class _Joined:
    """The pieces of one kind of text that have no number yet."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.length = 0
        """Of the pieces that came since it was last passed on; what waits for them does not count."""

    def add(self, piece: str) -> None:
        self.pieces.append(piece)
        self.length += len(piece)


class Spool:
    """The numbered events of one agent."""

    def __init__(self, path: Path, redaction: KeeperRedaction | None = None) -> None:
        self._redactor = EventRedactor(redaction or KeeperRedaction())
        self._joined: dict[type[Text | Remark], _Joined] = {Text: _Joined(), Remark: _Joined()}
        self._last_seq = 0
        self._offered_seq = 0
        self._fresh_bytes = 0
        self._first_at = self._last_at = 0.0
        """When the first and the last of what was never offered came."""
        self._waiting: deque[tuple[int, bytes]] = deque()
        self._waiting_bytes = 0
        self._written_bytes = 0
        self._resume_at: int | None = None
        """Where in the file the waiting events continue, when memory does not have all of them."""
        self._trouble = ""
        self._file: int | None = None
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        except OSError as error:
            self._go_on_without(error)

    @property
    def is_delivered(self) -> bool:
        """Whether the daemon has everything."""
        return not (self._waiting or self._resume_at is not None or any(each.pieces for each in self._joined.values()))

    @property
    def _joined_length(self) -> int:
        return sum(each.length for each in self._joined.values())

    @property
    def due_at(self) -> float:
        """When there is something to be sent; infinity if nothing waits."""
        if not (self._waiting or self._resume_at is not None or self._joined_length):
            return float("inf")
        was_offered = bool(self._waiting) and self._waiting[0][0] <= self._offered_seq
        fresh_bytes = self._fresh_bytes + self._joined_length
        if was_offered or self._resume_at is not None or fresh_bytes >= BATCH_BYTES:
            return 0.0
        return min(self._first_at + LONGEST_WAIT_SECONDS, self._last_at + IDLE_SECONDS)

    def add(self, event: StreamEvent, now: float) -> None:
        """Add an event. It is on disk when this returns, unless it is a piece of a text that continues."""
        if not (self._fresh_bytes or self._joined_length):
            self._first_at = now
        self._last_at = now if not isinstance(event, End) else float("-inf")  # nothing follows it
        if isinstance(event, Remark) or (isinstance(event, Text) and event.is_partial):
            self._join(event)
        else:
            # An aside, such as what was used, does not end a text; its next piece may complete a secret.
            self._close_texts(is_over=not isinstance(event, Started | Usage | NativeId | Limit | Stuck))
            self._number(self._redactor.redact(event))

    def batch(self) -> tuple[int, list[bytes]]:
        """What to send, and the number of its first event. The same, or more, until it is acknowledged."""
        self._close_texts(is_over=False)
        self._offered_seq = self._last_seq
        self._fresh_bytes = 0
        if not self._waiting and self._resume_at is not None:
            self._read_back()
        events: list[bytes] = []
        size = 0
        for _, event in self._waiting:
            size += len(event)
            if events and size > _REQUEST_BYTES:
                break
            events.append(event)
        return self._waiting[0][0] if events else self._last_seq + 1, events

    def acknowledge(self, seq: int) -> None:
        """The daemon has everything up to this number."""
        while self._waiting and self._waiting[0][0] <= seq:
            self._waiting_bytes -= len(self._waiting.popleft()[1])

    def _join(self, event: Text | Remark) -> None:
        kind = type(event)
        if self._joined[kind].length >= BATCH_BYTES or any(
            each.length for other, each in self._joined.items() if other is not kind
        ):
            self._close_texts(is_over=False)
        self._joined[kind].add(event.text if kind is Text else f"{event.text}\n")

    def _close_texts(self, *, is_over: bool) -> None:
        """Number the texts that were joined so far. If they are not over, their ends may wait."""
        for kind, joined in self._joined.items():
            if not joined.pieces:
                continue
            text, rest = "".join(joined.pieces), ""
            if not is_over:
                text, rest = self._redactor.split(text)
            joined.pieces, joined.length = [rest] if rest else [], 0
            if text:
                text = self._redactor.redact_text(text)
                self._number(Text(text=text, is_partial=True) if kind is Text else Remark(text=text.removesuffix("\n")))

    def _number(self, event: StreamEvent) -> None:
        if self._trouble:
            trouble, self._trouble = self._trouble, ""
            self._number(Remark(text=trouble))
        encoded = encode_event(event)
        place = self._written_bytes
        self._write(b'{"seq":%d,"event":%s}\n' % (self._last_seq + 1, encoded))
        if self._trouble:
            self._number(event)  # behind the trouble, because an end has to be the last
            return
        self._last_seq += 1
        self._fresh_bytes += len(encoded)
        has_room = self._resume_at is None and self._waiting_bytes < _MEMORY_BYTES
        if has_room or self._file is None:
            self._hold(self._last_seq, encoded)
        elif self._resume_at is None:
            self._resume_at = place

    def _hold(self, seq: int, encoded: bytes) -> None:
        self._waiting.append((seq, encoded))
        self._waiting_bytes += len(encoded)

    def _write(self, line: bytes) -> None:
        if self._file is None:
            return
        try:
            written = os.write(self._file, line)
            if written < len(line):
                written += os.write(self._file, line[written:])  # says why, where there is no room
        except OSError as error:
            self._go_on_without(error)
            return
        self._written_bytes += len(line)

    def _go_on_without(self, error: OSError) -> None:
        """Nothing more is written; what only the file has is read into memory, while that can be done."""
        while self._resume_at is not None:
            self._read_back()
        if self._file is not None:
            with suppress(OSError):
                os.ftruncate(self._file, self._written_bytes)  # without half a line at its end
            os.close(self._file)
            self._file = None
        self._trouble = f"the keeper can no longer write its spool, and continues without it: {error.strerror}"

    def _read_back(self) -> None:
        """Read on in the file, about as much as a request has room for, at least one line."""
        assert self._file is not None  # noqa: S101
        assert self._resume_at is not None  # noqa: S101
        size = min(_MEMORY_BYTES, self._written_bytes - self._resume_at)
        data = os.pread(self._file, size, self._resume_at)
        while b"\n" not in data:
            size *= 2
            data = os.pread(self._file, size, self._resume_at)
        whole = data[: data.rindex(b"\n") + 1]
        for line in whole[:-1].split(b"\n"):
            read = _lines.decode(line)
            self._hold(read.seq, bytes(read.event))
        self._resume_at += len(whole)
        if self._resume_at >= self._written_bytes:
            self._resume_at = None
