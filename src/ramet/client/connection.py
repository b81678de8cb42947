"""A connection to the daemon: JSON-RPC 2.0, one document per line. One thread at a time may use it."""

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike, fspath
from types import TracebackType
from typing import Any, Self

from ramet.build import Build
from ramet.client.stream import LineStream
from ramet.errors import DaemonError, DaemonUnreachable, RametError, RequestTooLarge

_EVENT = "events.event"

_NOTIFICATION = b'{"jsonrpc":"2.0","method":'

_LINE_BYTES = 8 * 1024 * 1024
"""The default of `daemon.max_request_bytes`. A larger request is sent in parts."""
_PART_BYTES = 1024 * 1024
_AROUND_BYTES = 256
"""What a line has around its text or its parameters."""
_HEAD_BYTES = 64
"""Where a reply says whether it is an error."""

Params = Mapping[str, Any] | None


class Connection:
    """Asks the daemon; a refusal is raised as the `RametError` that it is."""

    def __init__(self, socket_path: str | PathLike[str], timeout_seconds: float | None = None) -> None:
        self._stream = LineStream(fspath(socket_path), timeout_seconds)
        self._next_id = 1
        self._line_bytes = _LINE_BYTES
        self._events: deque[dict[str, Any]] = deque()
        self.build = Build("?")
        """The daemon's build, as its greeting said it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def set_timeout(self, timeout_seconds: float | None) -> None:
        """How long to wait for each reply from now on."""
        self._stream.timeout_seconds = timeout_seconds

    def close(self) -> None:
        """End the connection. Twice does nothing."""
        self._stream.close()

    def abort(self) -> None:
        """End it under a thread that waits for a reply; the only thing that a second thread may do with it."""
        self._stream.abort()

    def call(self, method: str, params: Params = None) -> Any:
        """The result of one operation."""
        try:
            return self.call_many([(method, params)])[0]
        except RequestTooLarge as error:
            if not self._learn_limit(error):
                raise
        return self.call_many([(method, params)])[0]

    def call_many(self, requests: Sequence[tuple[str, Params]]) -> list[Any]:
        """The results of several, in their order, sent together; the first refusal is raised when all are done."""
        first = self._next_id
        encoded = [(method, _encode(params or {})) for method, params in requests]
        if any(self._is_large(params) for _, params in encoded):
            return [_result(reply) for reply in [_decode(self.call_raw(*each)) for each in encoded]]
        self._stream.send(b"".join(self._frame(method, params) for method, params in encoded))
        replies = {reply.get("id"): reply for reply in [self._read_reply() for _ in requests]}
        # A request that could not be read, for example one too large, is answered without its id.
        unread = replies.get(None, {})
        return [_result(replies.get(first + index, unread)) for index in range(len(requests))]

    def call_raw(self, method: str, params: bytes) -> bytes:
        """The whole reply line to one operation, from its parameters as JSON: for those who decode themselves. A large
        request is sent in parts.

        Not on a connection that has subscribed: there a line may also be an event.
        """
        if self._is_large(params):
            return self._ask_in_parts(method, params)
        self._stream.send(self._frame(method, params))
        line = self._stream.read_line()
        if b'"error"' in line[:_HEAD_BYTES] and b'"request_too_large"' in line:
            error = RametError.from_wire(_decode(line)["error"])
            return self._ask_in_parts(method, params) if self._learn_limit(error) else line
        return line

    def send_raw(self, method: str, params: bytes) -> int:
        """Send one operation without waiting; its id, which its reply has. `read_raw` gives the replies."""
        request_id = self._next_id
        self._stream.send(self._frame(method, params))
        return request_id

    def read_raw(self) -> bytes:
        """The next whole reply line. Replies may come in another order than their requests."""
        return self._stream.read_line()

    def subscribe(self, after: int | None = None) -> Iterator[dict[str, Any]]:
        """The events behind `after`, or from now on, as they happen. The subscription is made at once."""
        self.call("events.subscribe", {} if after is None else {"after": after})
        return self._follow()

    def _follow(self) -> Iterator[dict[str, Any]]:
        while True:
            while self._events:
                yield self._events.popleft()
            try:
                line = self._stream.read_line(patiently=True)
            except DaemonUnreachable as error:
                fix = "subscribe again after the id of the last event"
                raise DaemonUnreachable(
                    "the daemon closed the connection, so no more events arrive", fix=fix
                ) from error
            self._keep_event(_decode(line))

    # Large requests.

    def _is_large(self, params: bytes) -> bool:
        return len(params) + _AROUND_BYTES > self._line_bytes

    def _learn_limit(self, error: RametError) -> bool:
        """Whether a line was refused because it was longer than we thought that it may be; the error says how long."""
        if error.field != "request" or not isinstance(error.value, int) or error.value >= self._line_bytes:
            return False
        self._line_bytes = max(error.value, 2 * _AROUND_BYTES)
        return True

    def _ask_in_parts(self, method: str, params: bytes) -> bytes:
        """The reply line to a request that is sent in parts. A part that is refused takes the place of the reply."""
        text = self._frame(method, params)[:-1].decode()
        # A character takes up to four bytes, and its escape in JSON up to twice as many as the character.
        length = (min(self._line_bytes, _PART_BYTES) - _AROUND_BYTES) // 8
        starts = range(0, len(text), length)
        for start in starts:
            self._stream.send(
                _frame_part(self._next_id, start // length, text[start : start + length], start == starts[-1])
            )
        lines = [self._read_reply_line() for _ in starts]
        refused = next((line for line in lines if b'"error"' in line[:_HEAD_BYTES]), None)
        return refused or self._read_reply_line()

    def _read_reply_line(self) -> bytes:
        while (line := self._stream.read_line()).startswith(_NOTIFICATION):
            self._keep_event(_decode(line))
        return line

    def _frame(self, method: str, params: bytes) -> bytes:
        request_id, self._next_id = self._next_id, self._next_id + 1
        return b'{"jsonrpc":"2.0","id":%d,"method":%s,"params":%s}\n' % (request_id, _encode(method), params)

    def _read_reply(self) -> dict[str, Any]:
        while True:
            document = _decode(self._stream.read_line())
            if "method" not in document:
                return document
            self._keep_event(document)

    def _keep_event(self, document: dict[str, Any]) -> None:
        if document.get("method") == _EVENT:
            self._events.append(document["params"])


def _frame_part(request_id: int, index: int, text: str, is_last: bool) -> bytes:
    params = {"request": str(request_id), "index": index, "text": text, "is_last": is_last}
    document = {"jsonrpc": "2.0", "id": f"part {index}", "method": "daemon.part", "params": params}
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def _encode(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _decode(line: bytes) -> dict[str, Any]:
    try:
        document = json.loads(line)
    except ValueError as error:
        raise DaemonError("the daemon sent a line that is not JSON") from error
    if not isinstance(document, dict):
        raise DaemonError("the daemon sent a JSON document that is not a reply")
    return document


def _result(reply: dict[str, Any]) -> Any:
    if "result" in reply:
        return reply["result"]
    raise RametError.from_wire(reply.get("error") or {"message": "the daemon sent a reply without a result"})
