"""Stop the daemon, and return only when it is gone."""

import os
import select
import time
from contextlib import suppress

from ramet.client.connection import Connection
from ramet.errors import DaemonError, DaemonStopping, DaemonUnreachable

_PAUSE_SECONDS = 0.02


def stop(socket_path: str, token: str | None, timeout_seconds: float) -> bool:
    """Ask the daemon to finish what it has and go, and wait for its end; whether there was one. To an agent, which says
    its token, the daemon refuses it.
    """
    try:
        connection = Connection(socket_path, timeout_seconds)
    except DaemonUnreachable:
        return False
    with connection:
        try:
            if token is not None:
                connection.call("daemon.hello", {"token": token})
            stop_over(connection, timeout_seconds)
        except (DaemonUnreachable, DaemonStopping):
            return _wait_for_absence(socket_path, timeout_seconds)  # somebody else has asked it already
    return True


def stop_over(connection: Connection, timeout_seconds: float, *, is_replaced: bool = False) -> None:
    """Ask the daemon at the other end, and wait for its end. If it is replaced, commands that wait for its agents wait
    for the next daemon instead; a daemon from before builds had names does not know that.
    """
    connection.set_timeout(timeout_seconds)
    pid: int = connection.call("daemon.status")["pid"]
    watch = _Watch(pid)
    with suppress(DaemonUnreachable, DaemonStopping):
        connection.call("daemon.stop", {"is_replaced": True} if is_replaced else {})
    if not watch.wait(timeout_seconds):
        fix = f"see `ramet daemon logs`; `kill -9 {pid}` stops it at once, and no acknowledged write is lost"
        raise DaemonError(f"the daemon (process {pid}) is still running after {timeout_seconds:g} seconds", fix=fix)


def _wait_for_absence(socket_path: str, timeout_seconds: float) -> bool:
    """Wait until the socket's file is gone, which a daemon removes at its end."""
    deadline = time.monotonic() + timeout_seconds
    while os.path.exists(socket_path):  # noqa: PTH110  pathlib would cost every command its import
        if time.monotonic() > deadline:
            raise DaemonError(f"the daemon is still stopping after {timeout_seconds:g} seconds")
        time.sleep(_PAUSE_SECONDS)
    return True


class _Watch:
    """Notices the end of a process; if the system can tell, also of one that stays a zombie."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._descriptor: int | None = None
        with suppress(OSError, AttributeError):
            self._descriptor = os.pidfd_open(pid)

    def wait(self, timeout_seconds: float) -> bool:
        """Whether it ended in time."""
        if self._descriptor is None:
            return self._wait_by_asking(timeout_seconds)
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        try:
            return bool(poll.poll(timeout_seconds * 1000))
        finally:
            os.close(self._descriptor)

    def _wait_by_asking(self, timeout_seconds: float) -> bool:
        deadline = time.monotonic() + timeout_seconds
        while time.monotonic() < deadline:
            try:
                os.kill(self._pid, 0)
            except ProcessLookupError:
                return True
            time.sleep(_PAUSE_SECONDS)
        return False
