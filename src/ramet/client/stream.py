"""Lines over a Unix socket: sending, receiving and waiting, and nothing about what the lines say.

The socket never blocks by itself. While a line is being sent, what arrives is taken in; else a daemon that cannot
get rid of its replies and a client that cannot get rid of its requests would wait for each other for ever.
"""

import os
import select
import socket
import stat
import time
from contextlib import suppress

from ramet.errors import DaemonFailed, DaemonUnreachable, SocketUnsafe

_CHUNK_BYTES = 1024 * 1024
_QUEUE_SECONDS = 5
_CHECK = "check with `ramet events` whether it was done; a program repeats it with the same idempotency_key"


class LineStream:
    """One connection. After any failure it is closed, because what would come next belongs to the past."""

    def __init__(self, path: str, timeout_seconds: float | None) -> None:
        self.timeout_seconds = timeout_seconds
        self._received = bytearray()
        self._searched = 0
        self._socket = _connect(path)

    def close(self) -> None:
        """End the connection. Twice does nothing."""
        self._socket.close()

    def abort(self) -> None:
        """End the connection under a thread that waits for it: its wait fails as lost."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def send(self, line: bytes) -> None:
        """Send it all, taking in what arrives meanwhile."""
        rest = memoryview(line)
        while rest:
            try:
                rest = rest[self._socket.send(rest) :]
            except BlockingIOError:
                if self._wait(select.POLLIN | select.POLLOUT, self.timeout_seconds) & select.POLLIN:
                    self._receive()
            except OSError as error:
                if self._has_farewell():
                    return
                raise self._lost() from error

    def _has_farewell(self) -> bool:
        """Whether the daemon said something before it closed the connection. It is read instead of a reply."""
        with suppress(OSError):
            while b"\n" not in self._received and (chunk := self._socket.recv(_CHUNK_BYTES)):
                self._received += chunk
        return b"\n" in self._received

    def read_line(self, *, patiently: bool = False) -> bytes:
        """The next line without its end; `patiently` waits for it however long it takes."""
        while (end := self._received.find(b"\n", self._searched)) < 0:
            self._searched = len(self._received)
            self._wait(select.POLLIN, None if patiently else self.timeout_seconds)
            self._receive()
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        self._searched = 0
        return line

    def _receive(self) -> None:
        try:
            chunk = self._socket.recv(_CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError as error:
            raise self._lost() from error
        if not chunk:
            raise self._lost()
        self._received += chunk

    def _wait(self, events: int, timeout_seconds: float | None) -> int:
        """Wait for one of the events; which ones came."""
        poll = select.poll()
        poll.register(self._socket, events)
        ready = poll.poll(None if timeout_seconds is None else timeout_seconds * 1000)
        if not ready:
            self.close()
            raise DaemonUnreachable(
                f"the daemon did not answer within {timeout_seconds:g} seconds; "
                "it is not known whether the request was done",
                fix=_CHECK,
            )
        return ready[0][1]

    def _lost(self) -> DaemonUnreachable:
        self.close()
        return DaemonUnreachable(
            "the daemon closed the connection before it answered; it is not known whether the request was done",
            fix=_CHECK,
        )


def _connect(path: str) -> socket.socket:
    if not hasattr(socket, "AF_UNIX"):
        raise DaemonUnreachable(
            "this platform has no Unix sockets, which Ramet needs",
            fix="use Linux or macOS, or the Windows Subsystem for Linux (WSL) on Windows",
        )
    check_directory(path.rpartition("/")[0])
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.setblocking(False)
    try:
        _enter_queue(connection, path)
    except OSError as error:
        connection.close()
        if os.path.isdir(path):  # noqa: PTH112  no daemon can start, so none is started
            raise DaemonFailed(
                f"{path} is a directory, but the daemon's socket has to be there",
                field="socket",
                value=path,
                fix=f"remove it: rm -r {path}",
            ) from error
        reason = error.strerror or str(error)
        raise DaemonUnreachable(f"no daemon answers at {path}: {reason}", field="socket", value=path) from error
    return connection


def _enter_queue(connection: socket.socket, path: str) -> None:
    """Connect; a queue of waiting connections that is full for the moment is no reason to give up."""
    deadline = time.monotonic() + _QUEUE_SECONDS
    while True:
        try:
            return connection.connect(path)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.005)


def check_directory(directory: str) -> None:
    """Raise if another user could have put the socket there, and would receive everything that is sent to it."""
    try:
        found = os.stat(directory or ".")  # noqa: PTH116  pathlib would cost every command its import
    except OSError:
        return
    if found.st_uid not in (os.getuid(), 0) or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise SocketUnsafe(
            f"other users can write to {directory}, the directory of the daemon's socket",
            field="socket",
            value=directory,
            fix=f"remove their access: chmod 700 {directory}",
        )
