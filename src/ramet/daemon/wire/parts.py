"""A request that is too large for one line, and comes in parts: texts that make one request when they are joined.

A connection has one such request at a time. Parts that do not follow each other, or are those of two requests, are
refused, and what was there before is forgotten: the client starts again with the first part.
"""

from ramet.errors import InvalidParams, RequestTooLarge
from ramet.protocol.system.daemon import SendPart


class Parts:
    """The parts of one connection's request that have arrived."""

    __slots__ = ("_joined", "_max_bytes", "_next", "_request")

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._joined = bytearray()
        self._next = 0
        self._request = ""

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return len(self._joined)

    def add(self, part: SendPart) -> bytes | None:
        """Keep a part; the whole request if it was the last."""
        if part.index != self._next or (part.index and part.request != self._request):
            expected, request = self._next, self._request
            self.clear()
            raise InvalidParams(
                f"part {part.index} of request {part.request!r} does not follow: "
                + (f"part {expected} of request {request!r} was expected" if expected else "part 0 was expected"),
                field="index",
                value=part.index,
                fix="send the parts of one request after the other, starting with index 0",
            )
        text = part.text.encode(errors="surrogatepass")
        if len(self._joined) + len(text) > self._max_bytes:
            self.clear()
            raise RequestTooLarge(
                f"the parts of the request are larger than {self._max_bytes} bytes",
                field="text",
                fix="send less in one request, or raise daemon.max_parts_bytes (`ramet config daemon.max_parts_bytes`)",
            )
        self._joined += text
        self._next += 1
        self._request = part.request
        if not part.is_last:
            return None
        line = bytes(self._joined)
        self.clear()
        return line

    def clear(self) -> None:
        """Forget the parts."""
        self._joined = bytearray()
        self._next = 0
        self._request = ""
