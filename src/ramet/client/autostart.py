"""Reach the daemon, and start it if none is running.

Several clients may do so at once. Each starts a daemon; the database's lock lets one of them live, and the clients
of the others keep waiting for its socket.
"""

import time
from typing import TYPE_CHECKING

from ramet.build import is_own, read_build
from ramet.client.connection import Connection
from ramet.client.target import Target
from ramet.errors import (
    DaemonFailed,
    DaemonRunning,
    DaemonStopping,
    DaemonUnreachable,
    DatabaseHeld,
    RametError,
)

if TYPE_CHECKING:
    from ramet.client.processes import StartedDaemon

_PAUSE_SECONDS = 0.02
_STOP_SECONDS = 30.0
"""How long a daemon of an older build may take to finish its requests."""
_RETRY_SECONDS = 2.0
"""How long to wait for the daemon that was faster than ours, before starting ours again."""


def connect(
    socket_path: str,
    timeout_seconds: float | None = None,
    *,
    first_timeout_seconds: float | None = None,
    token: str | None = None,
) -> Connection:
    """A connection on which the daemon has answered once, so that it is neither starting nor going."""
    connection = Connection(socket_path, first_timeout_seconds or timeout_seconds)
    try:
        connection.build = read_build(connection.call("daemon.hello", {} if token is None else {"token": token}))
    except BaseException:
        connection.close()
        raise
    connection.set_timeout(timeout_seconds)
    return connection


def ensure(
    target: Target,
    *,
    autostart: bool,
    start_timeout_seconds: float,
    timeout_seconds: float | None = None,
    stop_timeout_seconds: float = _STOP_SECONDS,
) -> Connection:
    """A connection to a daemon that answers. One that is on its way out is waited for and replaced, and so is one of an
    older build, unless we are an agent.
    """

    def connect_or_start() -> Connection:
        return _connect_or_start(target, autostart, start_timeout_seconds, timeout_seconds)

    connection = connect_or_start()
    if is_own(connection.build) or not autostart or target.entrance is not None:
        return connection
    from ramet.client.replacement import replace_older  # noqa: PLC0415  only an upgrade needs it

    return replace_older(connection, connect_or_start, stop_timeout_seconds)


def _connect_or_start(
    target: Target, autostart: bool, start_timeout_seconds: float, timeout_seconds: float | None
) -> Connection:
    deadline = time.monotonic() + start_timeout_seconds
    try:
        return _connect(target, timeout_seconds, start_timeout_seconds)
    except (DaemonUnreachable, DaemonStopping):
        if not autostart:
            raise
    _start(target, deadline)
    return _connect(target, timeout_seconds, start_timeout_seconds)


def _connect(target: Target, timeout_seconds: float | None, first_timeout_seconds: float) -> Connection:
    socket, token = target.way
    return connect(socket, timeout_seconds, first_timeout_seconds=first_timeout_seconds, token=token)


def _start(target: Target, deadline: float) -> None:
    """Return when a daemon answers, ours or one that was faster."""
    from ramet.client.processes import StartedDaemon  # noqa: PLC0415  most commands find a daemon running

    refusal: RametError | None = None
    while time.monotonic() < deadline:
        started, pid, former = StartedDaemon(target), None, refusal
        try:
            pid, refusal = _wait(started, target.socket, deadline)
        finally:
            started.let_go(pid)
        if pid is not None:
            return
        if isinstance(former, DatabaseHeld) and isinstance(refusal, DatabaseHeld):
            break  # twice, seconds apart, and no daemon in sight: the holder is a program of somebody's own
    raise refusal or _too_slow()


def _wait(
    started: "StartedDaemon", socket_path: str, deadline: float
) -> tuple[int, None] | tuple[None, RametError | None]:
    """The pid of the daemon that answers, or why ours had to give way; raises if it failed by itself."""
    refusal: RametError | None = None
    while time.monotonic() < deadline:
        if (pid := _answering_pid(socket_path, deadline)) is not None:
            return pid, None
        if refusal is not None:
            time.sleep(_PAUSE_SECONDS)
        elif started.has_ended(_PAUSE_SECONDS):
            refusal = started.failure()
            if not isinstance(refusal, DaemonRunning | DatabaseHeld):
                raise refusal
            deadline = min(deadline, time.monotonic() + _RETRY_SECONDS)
    return None, refusal


def _answering_pid(socket_path: str, deadline: float) -> int | None:
    left = max(deadline - time.monotonic(), _PAUSE_SECONDS)
    try:
        with Connection(socket_path, left) as connection:
            pid: int = connection.call("daemon.status")["pid"]
    except (DaemonUnreachable, DaemonStopping):
        return None
    return pid


def _too_slow() -> DaemonFailed:
    return DaemonFailed(
        "the daemon did not answer in time; it may still be migrating the database, or wait for another host to do so",
        field="daemon.start_timeout_seconds",
        fix="try again in a moment: it keeps starting; `ramet daemon logs` shows what it does",
    )
