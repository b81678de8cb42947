"""The daemon's end of a connection, in the hands of a test."""

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Peer:
    """One connection, as the script wants it."""

    def __init__(self, accepted: socket.socket) -> None:
        self._socket = accepted
        self._file = accepted.makefile("rb")

    def read(self) -> dict[str, Any]:
        """The next request."""
        document: dict[str, Any] = json.loads(self._file.readline())
        return document

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def reply(self, request: dict[str, Any], result: Any) -> None:
        self.send(self.line(id=request["id"], result=result))

    def line(self, **document: Any) -> bytes:
        return json.dumps({"jsonrpc": "2.0", **document}).encode() + b"\n"

    def close(self) -> None:
        self._file.close()
        self._socket.close()


Script = Callable[[Peer], None]
Listen = Callable[[Script], Path]
