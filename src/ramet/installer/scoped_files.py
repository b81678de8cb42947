"""Files below a folder, the scope: no link leads a read or a write out of it, at whatever moment it was put there.

A link from one place of the scope to another is followed, because people keep settings so. The target of a path is
found first. Then it is opened one part at a time, and no part may be a link: one that is put there in between is
refused. A file is replaced and never written into, so that another name of it (a hard link) keeps what it has.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ramet.errors import ConfigError

MAX_BYTES = 4 * 1024 * 1024
"""Settings of agent programs have some kilobytes, but some programs keep what they remember beside them."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""A pipe is opened without waiting for its other end, and then refused."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def read(file: Path, scope: Path) -> str | None:
    """The file's text as it is, line ends included; None if there is none."""
    with _naming(file, "read"):
        try:
            with _folder(file, scope) as (folder, name):
                found = _read(folder, name)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return None if found is None else found.decode()


def replace(file: Path, scope: Path, before: str | None, after: str | None, *, mode: int = 0o644) -> None:
    """Put a text in place of another, whole or not at all; without one, remove the file. `mode` is for a new file.

    If the file no longer says `before`, nothing is written: whoever agreed to the change has not seen that text.
    """
    with _naming(file, "written"), _folder(file, scope, make=True) as (folder, name):
        if _read(folder, name) != (None if before is None else before.encode()):
            raise ConfigError(f"{file} was changed in the meantime", fix="run the command again")
        if after is not None:
            _write(folder, name, after.encode(), mode)
        elif before is not None:
            os.unlink(name, dir_fd=folder)


@contextmanager
def _naming(file: Path, done: str) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8 text", fix="fix the file first") from error
    except OSError as error:
        fix = f"make sure that {file.parent} is a folder that you can write to"
        raise ConfigError(f"{file} cannot be {done}: {error.strerror or error}", fix=fix) from error


@contextmanager
def _folder(file: Path, scope: Path, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """The folder that a file really is in, open, and the file's name there."""
    top, real = os.path.realpath(scope), os.path.realpath(file)
    if not Path(real).is_relative_to(top) or real == top:
        raise ConfigError(
            f"{file} leads through a symbolic link to {real}, which is outside {scope}",
            fix=f"remove the link, or change {real} by hand",
        )
    *folders, name = Path(real).relative_to(top).parts
    if make:
        Path(top).mkdir(parents=True, exist_ok=True)
    current = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in folders:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=current)
            following = os.open(part, _FOLDER, dir_fd=current)
            os.close(current)
            current = following
        yield current, name
    finally:
        os.close(current)


def _read(folder: int, name: str) -> bytes | None:
    try:
        descriptor = os.open(name, _FILE, dir_fd=folder)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ConfigError(f"{name} is not a regular file", fix="remove it")
        found = stream.read(MAX_BYTES + 1)
    if len(found) > MAX_BYTES:
        raise ConfigError(f"{name} is larger than {MAX_BYTES} bytes", fix="make the file smaller first")
    return found


def _write(folder: int, name: str, data: bytes, mode: int) -> None:
    with suppress(FileNotFoundError):
        mode = stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    fresh = f".{name}.{os.getpid()}.{os.urandom(4).hex()}"
    descriptor = os.open(fresh, _NEW, 0o600, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            os.fchmod(descriptor, mode)
            stream.write(data)
        os.replace(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(fresh, dir_fd=folder)
        raise
