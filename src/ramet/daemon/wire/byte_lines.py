"""Lines out of a stream of bytes, each of at most so many bytes.

However a client cuts its bytes, and however long it goes on without a newline, no more than one line of the
largest size is held, beside the lines of the last read that nobody has taken yet.
"""

from collections import deque


class Lines:
    """The lines that have arrived and wait to be taken."""

    __slots__ = ("_beginning", "_is_skipping", "_max_bytes", "_waiting")

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._waiting: deque[bytes | None] = deque()
        self._beginning = bytearray()
        self._is_skipping = False

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def unfinished_bytes(self) -> int:
        """How much has arrived of a line whose end has not."""
        return len(self._beginning)

    def feed(self, data: bytes) -> None:
        """Add what was read."""
        pieces = data.split(b"\n")
        last = pieces.pop()
        for piece in pieces:
            self._end_line(piece)
        if last:
            self._keep(last)

    def take(self) -> bytes | None:
        """The next line, without its newline; None stands in the place of one that was too long."""
        return self._waiting.popleft()

    def put_first(self, line: bytes) -> None:
        """A line that is taken before all others."""
        self._waiting.appendleft(line)

    def clear(self) -> None:
        """Forget everything."""
        self._waiting.clear()
        self._beginning.clear()

    def _end_line(self, piece: bytes) -> None:
        if self._beginning or self._is_skipping or len(piece) > self._max_bytes:
            self._keep(piece)
            piece = bytes(self._beginning)
            self._beginning.clear()
            self._is_skipping = False
        if piece and not piece.isspace():
            self._waiting.append(piece)

    def _keep(self, piece: bytes) -> None:
        """Add to the line that has begun. One that grows too long is reported at once and skipped to its end."""
        if self._is_skipping:
            return
        if len(self._beginning) + len(piece) > self._max_bytes:
            self._is_skipping = True
            self._beginning.clear()
            self._waiting.append(None)
        else:
            self._beginning += piece
