"""Files that stay inside a folder, regardless of their names and of what was put there.

A path is opened one part at a time, and no part may be a symbolic link: an agent can create one at any moment, so
checking first and opening then would not be safe.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from ramet.errors import PathOutside

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""A pipe is opened without waiting for its other end, and then refused."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_GROWING = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CHUNK_BYTES = 1024 * 1024


class Read(NamedTuple):
    """A file's bytes, when it was last changed, and its size."""

    data: bytes
    modified: float
    size: int


def parts(relative: str) -> tuple[str, ...]:
    """The names in a path that can only lead down."""
    found = tuple(relative.split("/"))
    if "\0" in relative or any(part in ("", ".", "..") for part in found):
        raise PathOutside(f"{relative!r} is not a path inside a folder", value=relative)
    return found


def read(root: str | Path, relative: str, max_bytes: int, *, is_end_enough: bool = False) -> Read | None:
    """A regular file; None if there is none, or if it is larger and its end is not enough."""
    try:
        with _folder(root, relative) as (folder, name), _open(name, _FILE, folder, relative) as descriptor:
            facts = os.fstat(descriptor)
            excess = max(0, facts.st_size - max_bytes)
            if not stat.S_ISREG(facts.st_mode) or (excess and not is_end_enough):
                return None
            with os.fdopen(os.dup(descriptor), "rb") as file:
                file.seek(excess)
                return Read(file.read(max_bytes), facts.st_mtime, facts.st_size)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None


def write(root: str | Path, relative: str, data: bytes) -> None:
    """Put a file in place as a whole, or not at all; the folders on the way are made."""
    with _folder(root, relative, make=True) as (folder, name):
        temporary = f".{name}.{os.getpid()}.{os.urandom(4).hex()}"
        try:
            with _open(temporary, _NEW, folder, relative) as descriptor:
                _write_all(descriptor, data)
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)
            raise


def append(root: str | Path, relative: str, data: bytes) -> int:
    """Put data behind a regular file's end, wherever that is by then; the file and the folders on the way are made. Its
    size.
    """
    with _folder(root, relative, make=True) as (folder, name):
        _refuse_link(name, folder, relative)
        with _open(name, _GROWING, folder, relative) as descriptor:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise PathOutside(f"{relative!r} is not a regular file", value=relative)
            _write_all(descriptor, data)
            return os.fstat(descriptor).st_size


def has_folder(root: str | Path, relative: str) -> bool:
    """Whether there is a folder."""
    try:
        with _folder(root, f"{relative}/-"):
            return True
    except (FileNotFoundError, NotADirectoryError):
        return False


def identify(root: str | Path, relative: str) -> str:
    """Which folder it is, as device and inode: a name can lead elsewhere a moment later."""
    with _folder(root, f"{relative}/-") as (folder, _):
        found = os.fstat(folder)
    return f"{found.st_dev}:{found.st_ino}"


def copy(source: str | Path, target: str | Path, relative: str) -> None:
    """Copy a regular file from one folder to the same place in another, unless something is there."""
    with _folder(source, relative) as (folder, name), _open(name, _FILE, folder, relative) as original:
        facts = os.fstat(original)
        if not stat.S_ISREG(facts.st_mode):
            return
        with (
            suppress(FileExistsError),
            _folder(target, relative, make=True) as (place, _),
            _open(name, _NEW, place, relative) as descriptor,
        ):
            os.fchmod(descriptor, stat.S_IMODE(facts.st_mode))
            while chunk := os.read(original, _CHUNK_BYTES):
                _write_all(descriptor, chunk)


@contextmanager
def _folder(root: str | Path, relative: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """The folder that a file is in, open, and the file's name in it."""
    *folders, name = parts(relative)
    current = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in folders:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=current)
            _refuse_link(part, current, relative)
            following = os.open(part, _FOLDER, dir_fd=current)
            os.close(current)
            current = following
        yield current, name
    finally:
        os.close(current)


@contextmanager
def _open(name: str, flags: int, folder: int, relative: str) -> Iterator[int]:
    if flags == _FILE:
        _refuse_link(name, folder, relative)
    descriptor = os.open(name, flags, 0o666, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _refuse_link(name: str, folder: int, relative: str) -> None:
    """Say why, if it is a link already; O_NOFOLLOW stops a link that is created a moment later."""
    with suppress(FileNotFoundError):
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise PathOutside(f"{relative!r} goes through a symbolic link", value=relative)


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
