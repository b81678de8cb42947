"""Where a repository is, found by reading files: git would read the repository's configuration to answer.

What is found here may have been written by an agent. That is safe: `git.view` takes data from it, and no program.
"""

import os
import re
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_LONGEST_LINK = 8192
_HASH = re.compile(rb"[0-9a-f]{40}")


class Location(NamedTuple):
    """A checkout, and the folders that git keeps for it."""

    top: Path
    """Where its files are."""
    git_dir: Path
    """What belongs to this checkout alone: HEAD, the index."""
    common: Path
    """What all worktrees of the repository share: objects, refs, the configuration."""

    @property
    def is_linked(self) -> bool:
        """Whether this is a worktree that was added to a repository."""
        return self.git_dir != self.common


def locate(directory: Path) -> Location | None:
    """The checkout that a directory is in; None if it is in none."""
    folder = str(directory)
    while True:
        git_dir = _git_dir(folder)
        if git_dir is not None:
            return Location(Path(folder), Path(git_dir), Path(_common(git_dir)))
        above = os.path.dirname(folder)  # noqa: PTH120  before every git: four times as fast as Path
        if above == folder:
            return None
        folder = above


def has_owner(location: Location, environ: Mapping[str, str], safe_directories: Iterable[str] = ()) -> bool:
    """Whether the checkout belongs to this user, or to one that the user's own configuration calls safe.

    git has this rule too, but only applies it if it finds the repository itself.
    """
    users = {os.geteuid()}
    if 0 in users and environ.get("SUDO_UID", "").isdecimal():
        users.add(int(environ["SUDO_UID"]))
    places = (location.top, location.top / ".git", location.git_dir, location.common)
    if all(os.lstat(place).st_uid in users for place in places):
        return True
    return any(_matches(pattern, str(location.top)) for pattern in safe_directories)


def read_small(path: str | Path, max_bytes: int) -> bytes | None:
    """A regular file's bytes; None if there is none, or a larger one. A pipe is refused without waiting."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        facts = os.fstat(descriptor)
        is_right = stat.S_ISREG(facts.st_mode) and facts.st_size <= max_bytes
        return os.read(descriptor, max_bytes) if is_right else None
    finally:
        os.close(descriptor)


def _git_dir(folder: str) -> str | None:
    """The git directory of a checkout with this top. A `.git` that is no repository is skipped: agent programs leave
    empty ones behind.
    """
    link = f"{folder}/.git"
    said = read_small(link, _LONGEST_LINK)
    if said is None:
        found: str | None = os.path.realpath(link)
    else:
        found = _follow(folder, said.removeprefix(b"gitdir: ")) if said.startswith(b"gitdir: ") else None
    return found if found is not None and _is_repository(found) else None


def _is_repository(git_dir: str) -> bool:
    """Whether git takes a folder for a repository, by the parts that git looks for."""
    if not _is_head(f"{git_dir}/HEAD"):
        return False
    common = _common(git_dir)
    return os.path.isdir(f"{common}/objects") and os.path.isdir(f"{common}/refs")  # noqa: PTH112  as above


def _is_head(path: str) -> bool:
    with suppress(OSError):
        return os.readlink(path).startswith("refs/")  # noqa: PTH115  an old form, which may lead nowhere
    said = read_small(path, _LONGEST_LINK) or b""
    return said.startswith(b"ref:") or _HASH.match(said) is not None


def _common(git_dir: str) -> str:
    said = read_small(f"{git_dir}/commondir", _LONGEST_LINK)
    return (_follow(git_dir, said) if said else None) or git_dir


def _follow(folder: str, said: bytes) -> str | None:
    """The folder that a path in a file leads to."""
    with suppress(OSError, ValueError):  # a NUL in it, or a name that is too long
        found = os.path.realpath(os.path.join(folder, os.fsdecode(said.rstrip(b"\r\n"))), strict=True)  # noqa: PTH118
        return found if stat.S_ISDIR(os.stat(found).st_mode) else None  # noqa: PTH116
    return None


def _matches(pattern: str, top: str) -> bool:
    if pattern.endswith("/*"):
        return top.startswith(pattern[:-1])
    return pattern in ("*", top)
