"""A project's `ramet.yaml`: where it is looked for, and when it is not read.

A repository that was cloned, and a folder that others can write to, are not trusted. The search therefore ends at the
project's root, and the file and its folder must belong to the user (or to root) and be writable by no one else. The
opened file is checked, so that it cannot be replaced in between. A link is never followed.
"""

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from ramet.config.files import MAX_BYTES, user_home
from ramet.config.git_folder import find_git_dir

PROJECT_FILE = "ramet.yaml"


class PassedOver(Struct, frozen=True):
    """A file that is not read, and why."""

    path: Path
    reason: str
    is_above: bool = False
    """Whether it is above the project, where it may belong to something else."""


class ProjectFile(Struct, frozen=True, kw_only=True):
    """A file that was read, and those that were passed over on the way to it."""

    path: Path | None = None
    content: bytes = b""
    passed_over: tuple[PassedOver, ...] = ()


def find_project_file(cwd: Path, environ: Mapping[str, str]) -> ProjectFile:
    """The nearest `ramet.yaml` that may be read, from `cwd` up to the project's root."""
    passed_over: list[PassedOver] = []
    folders = list(_list_folders(cwd, user_home(environ)))
    for folder in folders:
        path = folder / PROJECT_FILE
        try:
            return ProjectFile(path=path, content=_read(path), passed_over=tuple(passed_over))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except _NotReadError as error:
            passed_over.append(PassedOver(path, str(error)))
        except OSError as error:
            reason = "is a symbolic link" if error.errno == errno.ELOOP else f"cannot be read: {error.strerror}"
            passed_over.append(PassedOver(path, reason))
    above = (folder / PROJECT_FILE for folder in folders[-1].parents)
    if nearest := next(filter(_exists, above), None):
        passed_over.append(PassedOver(nearest, "is above the project", is_above=True))
    return ProjectFile(passed_over=tuple(passed_over))


def _list_folders(cwd: Path, home: Path) -> Iterator[Path]:
    """From `cwd` up to the repository's root; without one, up to the user's home; outside of that, `cwd` alone."""
    folders = (cwd, *cwd.parents)
    root = next((folder for folder in folders if find_git_dir(str(folder))), None)
    is_home = cwd == home or home in cwd.parents
    last = root or (home if is_home else cwd)
    for folder in folders:
        yield folder
        if folder in (last, home):
            return


def _exists(path: Path) -> bool:
    try:
        path.lstat()
    except OSError:
        return False
    return True


class _NotReadError(Exception):
    """The file is not to be read. The message says why."""


def _read(path: Path) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise _NotReadError("is not a regular file")
        _check_owner(found, "")
        _check_owner(path.parent.stat(), "its folder ")
        return file.read(MAX_BYTES + 1)


def _check_owner(found: os.stat_result, what: str) -> None:
    if found.st_uid not in (os.geteuid(), 0):
        raise _NotReadError(f"{what}belongs to another user")
    # Many systems give each user a group of their own, and make new files writable by it.
    if found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and found.st_gid != os.getegid()):
        raise _NotReadError(f"{what}can be written by other users")
