"""The daemon's part of the conversation, in the hands of a test: it keeps what it is told, as the engine does, and can
be away, deaf, forgetful or of another opinion.
"""

import json
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ramet.errors import RametError
from ramet.model.record.effort import StopRequest
from ramet.model.work.stream import StreamEvent
from ramet.protocol.wire.frames import decode_frame, decode_params, find_operation
from ramet.protocol.work.attempts import Reported, ReportStream

PATIENCE_SECONDS = 30.0

Event = TypeVar("Event")


class ScriptedDaemon:
    """Answers `work.report` on a real socket."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.events: list[StreamEvent] = []
        """What was reported, each number once."""
        self.reports: list[tuple[float, ReportStream]] = []
        self.is_current = True
        self.stop: StopRequest | None = None
        self.is_child_alive = False
        self.refusal: RametError | None = None
        self.answers_to_lose = 0
        """How many reports are taken in without a word, and the connection closed."""
        self.is_deaf = False
        """Whether reports are neither taken in nor answered."""
        self._connections: set[socket.socket] = set()
        self._listener: socket.socket | None = None
        self._threads: list[threading.Thread] = []

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

    def kinds(self) -> list[str]:
        return [event.__struct_config__.tag for event in self.events]  # type: ignore[misc]

    def find(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]

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
                if self.is_deaf:
                    continue
                reply = self._answer(line)
                if self.answers_to_lose > 0:
                    self.answers_to_lose -= 1
                    break
                connection.sendall(json.dumps({"jsonrpc": "2.0", **reply}).encode() + b"\n")
            connection.shutdown(socket.SHUT_RDWR)
        self._connections.discard(connection)

    def _answer(self, line: bytes) -> dict[str, Any]:
        frame = decode_frame(line)
        request = decode_params(find_operation(frame.method), frame.params)
        assert isinstance(request, ReportStream)
        self.reports.append((time.monotonic(), request))
        if self.refusal is not None:
            return {"id": frame.id, "error": self.refusal.to_wire()}
        assert request.seq <= len(self.events) + 1, "a number was left out"
        self.events.extend(request.events[len(self.events) + 1 - request.seq :])
        reported = Reported(
            seq=len(self.events),
            is_current=self.is_current,
            is_renewed=True,
            stop=self.stop,
            is_child_alive=self.is_child_alive,
        )
        return {"id": frame.id, "result": msgspec.to_builtins(reported)}


def wait_for(fact: Callable[[], Any], seconds: float = PATIENCE_SECONDS) -> Any:
    """The fact, as soon as there is one."""
    deadline = time.monotonic() + seconds
    while not (found := fact()):
        assert time.monotonic() < deadline, "it did not come to that in time"
        time.sleep(0.01)
    return found
