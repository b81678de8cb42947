"""Whether a folder is the top of a git checkout, decided by reading files: git would read its configuration to answer.

What is found here may have been written by an agent, so nothing is opened that could make us wait.
"""

import os
import re
import stat
from contextlib import suppress
from pathlib import Path

_LONGEST_LINK = 8192
_HASH = re.compile(rb"[0-9a-f]{40}")


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


def find_git_dir(folder: str) -> str | None:
    """The git directory of a checkout with this top. A `.git` that is no repository is skipped: agent programs leave
    empty ones behind.
    """
    link = f"{folder}/.git"
    said = read_small(link, _LONGEST_LINK)
    if said is None:
        # Asked first: a real path takes a look at each folder above, and all of these are asked about in turn.
        found = os.path.realpath(link) if os.path.isdir(link) else None  # noqa: PTH112  much faster than Path
    else:
        found = _follow(folder, said.removeprefix(b"gitdir: ")) if said.startswith(b"gitdir: ") else None
    return found if found is not None and _is_repository(found) else None


def _is_repository(git_dir: str) -> bool:
    """Whether git takes a folder for a repository, by the parts that git looks for."""
    if not _is_head(f"{git_dir}/HEAD"):
        return False
    common = find_common(git_dir)
    return os.path.isdir(f"{common}/objects") and os.path.isdir(f"{common}/refs")  # noqa: PTH112  as above


def _is_head(path: str) -> bool:
    with suppress(OSError):
        return os.readlink(path).startswith("refs/")  # noqa: PTH115  an old form, which may lead nowhere
    said = read_small(path, _LONGEST_LINK) or b""
    return said.startswith(b"ref:") or _HASH.match(said) is not None


def find_common(git_dir: str) -> str:
    """The folder that all worktrees of a repository share."""
    said = read_small(f"{git_dir}/commondir", _LONGEST_LINK)
    return (_follow(git_dir, said) if said else None) or git_dir


def _follow(folder: str, said: bytes) -> str | None:
    """The folder that a path in a file leads to."""
    with suppress(OSError, ValueError):  # a NUL in it, or a name that is too long
        found = os.path.realpath(os.path.join(folder, os.fsdecode(said.rstrip(b"\r\n"))), strict=True)  # noqa: PTH118
        return found if stat.S_ISDIR(os.stat(found).st_mode) else None  # noqa: PTH116
    return None
