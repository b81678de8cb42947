"""The daemon's end of a hook, in the hands of a test: it keeps what it is sent, and answers by a function."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ramet.protocol.hooks.hooks import HookOutput
from ramet.protocol.wire import frames

PATIENCE_SECONDS = 30.0

Respond = Callable[[dict[str, Any]], bytes | None]
"""The line that answers a request; None: the connection is closed without a word. It may also wait."""


def saying(output: Any, status: int = 0) -> Respond:
    """Answer as the daemon does."""
    return lambda request: frames.encode_reply(request["id"], HookOutput(output=output, status=status)) + b"\n"


class Listener:
    """Answers on a real socket, a thread for each connection."""

    def __init__(self, path: Path, respond: Respond) -> None:
        self.respond = respond
        self.requests: list[dict[str, Any]] = []
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen(128)
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def params(self) -> dict[str, Any]:
        """What the last hook sent."""
        params: dict[str, Any] = self.requests[-1]["params"]
        return params

    def close(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as lines, suppress(OSError):
            request = json.loads(next(lines))
            self.requests.append(request)
            if answer := self.respond(request):
                connection.sendall(answer)


@contextmanager
def listening(path: Path, respond: Respond) -> Iterator[Listener]:
    """A daemon's stand-in for a while."""
    listener = Listener(path, respond)
    try:
        yield listener
    finally:
        listener.close()
        path.unlink(missing_ok=True)
