"""The daemon's part of the conversation, in the hands of a test: it answers by a function, and can be away."""

import json
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ramet.errors import RametError

PATIENCE_SECONDS = 30.0
_TICK_SECONDS = 0.01

Respond = Callable[[str, dict[str, Any]], Any]
"""What is answered to a method with its parameters; None: nothing, ever. An error is a refusal."""


def wait_for(fact: Callable[[], Any], what: str) -> None:
    """Until it is so; a bounded wait."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not fact():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(_TICK_SECONDS)


class ScriptedDaemon:
    """Answers on a real socket."""

    def __init__(self, path: Path, respond: Respond) -> None:
        self.path = path
        self.respond = respond
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self._connections: set[socket.socket] = set()
        self._listener: socket.socket | None = None
        self._threads: list[threading.Thread] = []

    @property
    def connections(self) -> int:
        return len(self._connections)

    def come(self) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.path))
        self._listener.listen()
        self._run(self._accept, self._listener)

    def go(self) -> None:
        """Be gone, in the middle of whatever is being said."""
        if self._listener is None:
            return
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._listener = None
        self.path.unlink()
        for connection in list(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(PATIENCE_SECONDS)
        self._threads.clear()

    def params(self, method: str) -> list[dict[str, Any]]:
        """What was asked with this method, in order."""
        return [params for name, params in self.asked if name == method]

    def _run(self, target: Callable[[socket.socket], None], argument: socket.socket) -> None:
        thread = threading.Thread(target=target, args=(argument,))
        self._threads.append(thread)
        thread.start()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            self._connections.add(connection)
            self._run(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as lines, suppress(OSError):
            for line in lines:
                request = json.loads(line)
                self.asked.append((request["method"], request["params"]))
                try:
                    reply = {"result": self.respond(request["method"], request["params"])}
                except RametError as error:
                    reply = {"error": error.to_wire()}
                if reply.get("result", True) is not None:
                    document = {"jsonrpc": "2.0", "id": request["id"], **reply}
                    connection.sendall(json.dumps(document).encode() + b"\n")
        self._connections.discard(connection)
