"""Whether the files of a SQLite database are still the ones that the daemon has open.

If a file is deleted or replaced, SQLite notices nothing: it writes to a file that has no name any more. The kernel
tells of such changes (inotify), and it queues its events before the call that caused them returns. So one read of an
empty queue after each commit is enough, which costs less than a microsecond. To ask for the files (`stat`) before each
commit makes Linux give each later write a time of its own, and commits became a third slower.

Without inotify (other systems, or no watch is left) the files are compared, on Linux at most ten times a second. They
are compared once a second in any case: no event tells that a folder above was moved, or of another machine's change.
"""

import ctypes
import errno
import os
import struct
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

_EVENT = struct.Struct("iIII")
_CREATE, _DELETE, _MOVED_FROM, _MOVED_TO = 0x100, 0x200, 0x40, 0x80
_DELETE_SELF, _MOVE_SELF = 0x400, 0x800
_UNMOUNT, _OVERFLOW, _IGNORED = 0x2000, 0x4000, 0x8000
_ONLY_A_FOLDER = 0x01000000
_ABOUT_ALL = _DELETE_SELF | _MOVE_SELF | _UNMOUNT | _OVERFLOW | _IGNORED
"""Events that say something about the folder, or that others were lost."""
_WATCHED = _CREATE | _DELETE | _MOVED_FROM | _MOVED_TO | _DELETE_SELF | _MOVE_SELF | _ONLY_A_FOLDER
_QUEUE_BYTES = 16 * 1024
_COMPARE_SECONDS = 1.0
_SECONDS_WITHOUT_EVENTS = 0.1 if sys.platform == "linux" else 0.0
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)


class FileWatch:
    """The files of one database, from the moment it is open. Only the writer's thread uses it."""

    def __init__(self, files: Sequence[Path], *, uses_events: bool = True) -> None:
        self._names = {os.fsencode(each.name) for each in files}
        self._events = _open_events(files[0].parent) if uses_events else None
        self._known = {each: _identity(each) for each in files}
        self._compared = time.monotonic()

    def find_loss(self) -> str | None:
        """What has happened to one of the files since they were opened, if anything. Called after each commit."""
        if self._events is None:
            is_due = time.monotonic() - self._compared >= _SECONDS_WITHOUT_EVENTS
            return self.compare() if is_due else None
        return self.compare() if self._events.concern(self._names) else None

    def compare(self) -> str | None:
        """The same, by looking at the files."""
        self._compared = time.monotonic()
        for path, known in self._known.items():
            if known is None:
                continue
            try:
                found = _identity(path)
            except OSError:
                continue  # it cannot be asked just now, which says nothing
            if found is None:
                return f"{path} was deleted or moved while the daemon was running"
            if found != known:
                return f"{path} was replaced by another file while the daemon was running"
        return None

    def is_due(self) -> bool:
        """Whether it is time to compare, for what no event tells."""
        return time.monotonic() - self._compared >= _COMPARE_SECONDS

    def seconds_left(self) -> float:
        """The time until then."""
        return max(0.0, self._compared + _COMPARE_SECONDS - time.monotonic())

    def close(self) -> None:
        """Watch no more."""
        if self._events is not None:
            self._events.close()


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file has this name; None if none has it. A file that is open keeps its number from being given again."""
    try:
        found = path.stat()
    except OSError as error:
        if error.errno in _GONE:
            return None
        raise
    return found.st_dev, found.st_ino


class _FolderEvents:
    """What the kernel says of the names in a folder."""

    def __init__(self, descriptor: int, read: Callable[..., int]) -> None:
        self._descriptor = descriptor
        self._read = read
        self._queue = ctypes.create_string_buffer(_QUEUE_BYTES)

    def concern(self, names: set[bytes]) -> bool:
        """Whether something has happened to one of these names, or to the folder itself."""
        is_concerned = False
        while (size := self._read(self._descriptor, self._queue, _QUEUE_BYTES)) > 0:
            is_concerned |= any(mask & _ABOUT_ALL or name in names for mask, name in _parse(self._queue.raw[:size]))
        return is_concerned

    def close(self) -> None:
        os.close(self._descriptor)


def _parse(queue: bytes) -> Iterator[tuple[int, bytes]]:
    place = 0
    while place < len(queue):
        _, mask, _, length = _EVENT.unpack_from(queue, place)
        place += _EVENT.size + length
        yield mask, queue[place - length : place].rstrip(b"\0")


def _open_events(folder: Path) -> _FolderEvents | None:
    """The events of a folder; None if the system has none, or none left."""
    try:
        # Its functions keep the interpreter's lock: giving it away would cost more than the call, and a busy event loop
        # would keep it for milliseconds.
        libc = ctypes.PyDLL(None, use_errno=True)
        descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    except (AttributeError, OSError):
        return None
    if descriptor < 0:
        return None
    if libc.inotify_add_watch(descriptor, os.fsencode(folder), ctypes.c_uint32(_WATCHED)) < 0:
        os.close(descriptor)
        return None
    read = libc.read
    read.argtypes, read.restype = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t), ctypes.c_ssize_t
    return _FolderEvents(descriptor, read)
