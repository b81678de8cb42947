"""A connection to the daemon: JSON-RPC 2.0, one document per line. One thread at a time may use it."""

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike, fspath
from types import TracebackType
from typing import Any, Self

from ramet.client.stream import LineStream
from ramet.errors import DaemonError, DaemonUnreachable, RametError

_EVENT = "events.event"

Params = Mapping[str, Any] | None


class Connection:
    """Asks the daemon; a refusal is raised as the `RametError` that it is."""

    def __init__(self, socket_path: str | PathLike[str], timeout_seconds: float | None = None) -> None:
        self._stream = LineStream(fspath(socket_path), timeout_seconds)
        self._next_id = 1
        self._events: deque[dict[str, Any]] = deque()

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
        return self.call_many([(method, params)])[0]

    def call_many(self, requests: Sequence[tuple[str, Params]]) -> list[Any]:
        """The results of several, in their order, sent together; the first refusal is raised when all are done."""
        first = self._next_id
        self._stream.send(b"".join(self._frame(method, _encode(params or {})) for method, params in requests))
        replies = {reply.get("id"): reply for reply in [self._read_reply() for _ in requests]}
        # A request that could not be read, for example one too large, is answered without its id.
        unread = replies.get(None, {})
        return [_result(replies.get(first + index, unread)) for index in range(len(requests))]

    def call_raw(self, method: str, params: bytes) -> bytes:
        """The whole reply line to one operation, from its parameters as JSON: for those who decode themselves.

        Not on a connection that has subscribed: there a line may also be an event.
        """
        self._stream.send(self._frame(method, params))
        return self._stream.read_line()

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
