"""The socket: a file that only its user can open, in a directory that no other user can change.

The peer's user is checked as well if the system provides it; otherwise the directory alone is the guard.

A daemon whose socket is gone serves nobody, but it holds the database and would keep the next one from starting. The
socket is gone if the home was deleted or moved, or if the folder of temporary files was cleaned. So the daemon stops.
"""

import asyncio
import errno
import logging
import socket
import stat
import struct
import sys
from collections.abc import Callable
from pathlib import Path

from ramet.config.places import make_private
from ramet.errors import DaemonFailed, SocketUnsafe

log = logging.getLogger(__name__)

BACKLOG = 1024
"""How many connections may wait to be accepted."""
_CHECK_SECONDS = 5.0
_DISK_ERRORS = frozenset((errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT))
"""What is wrong with the folder, not with the socket."""


def open_socket(path: Path, owner_uid: int) -> socket.socket:
    """Listen there. A file at that path is stale: call this only while holding the database's lock."""
    make_private(path.parent)
    _refuse_unsafe(path.parent, owner_uid)
    _remove_stale(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno in _DISK_ERRORS:
            error.filename = str(path)  # the system does not say it of a socket
            raise
        raise DaemonFailed(
            f"cannot listen on {path}: {error}", field="socket", value=str(path), fix="set RAMET_HOME to a shorter path"
        ) from error
    listener.setblocking(False)
    return listener


async def follow_socket(path: Path, stop: Callable[[], None]) -> None:
    """Check every few seconds whether the socket is still the one that is there now; if not, stop the daemon."""
    first = now = _identify(path)
    while now is not None and now == first:
        await asyncio.sleep(_CHECK_SECONDS)
        now = _identify(path)
    log.warning("socket gone path=%s", path)
    stop()


def _identify(path: Path) -> tuple[int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _remove_stale(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        if error.errno in _DISK_ERRORS and not path.is_dir():
            raise
        raise DaemonFailed(
            f"cannot listen on {path}: a directory is there" if path.is_dir() else f"cannot listen on {path}: {error}",
            field="socket",
            value=str(path),
            fix=f"remove it: rm -r {path}",
        ) from error


def _refuse_unsafe(directory: Path, owner_uid: int) -> None:
    status = directory.stat()
    if status.st_uid != owner_uid:
        raise SocketUnsafe(
            f"{directory} belongs to user {status.st_uid}, not to {owner_uid}",
            field="socket",
            value=str(directory),
            fix="set RAMET_HOME to a directory that belongs to you",
        )
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise SocketUnsafe(
            f"other users can write to {directory}",
            field="socket",
            value=str(directory),
            fix=f"remove their access: chmod 700 {directory}",
        )


def peer_uid(connected: socket.socket) -> int | None:
    """The user at the other end, or None if the system does not say."""
    if hasattr(socket, "SO_PEERCRED"):
        credentials = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", credentials)[1])
    if sys.platform == "darwin":
        local_level, local_peercred = 0, 1  # SOL_LOCAL, LOCAL_PEERCRED: the socket module does not name them
        credentials = connected.getsockopt(local_level, local_peercred, 76)
        return int(struct.unpack_from("2I", credentials)[1])
    return None


def peer_pid(connected: socket.socket) -> int | None:
    """The process at the other end, as it is numbered here; None if the system does not say, or it is not here."""
    try:
        if hasattr(socket, "SO_PEERCRED"):
            credentials = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            return int(struct.unpack("3i", credentials)[0]) or None
        if sys.platform == "darwin":
            local_level, local_peerpid = 0, 2  # SOL_LOCAL, LOCAL_PEERPID
            return connected.getsockopt(local_level, local_peerpid) or None
    except (OSError, ValueError):
        pass  # it has gone: Python's own loop says so with the first, uvloop with the second
    return None
