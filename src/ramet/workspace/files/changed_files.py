"""Which files of a folder changed since the last look: a bounded walk that needs no git and follows no link."""

import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_GENERATED = frozenset(
    {".git", ".hg", ".mypy_cache", ".nox", ".pytest_cache", ".ruff_cache", ".tox", "__pycache__", "node_modules"}
)
_GENERATED_MARKS = frozenset({"CACHEDIR.TAG", "pyvenv.cfg", ".git"})
"""A folder that has one of these was made by a tool, or is another checkout."""
_CHECK_EVERY = 64


class Stamp(NamedTuple):
    """What tells one state of a file from another. Programs can set the other times of a file, but not this one."""

    changed_ns: int
    size: int
    inode: int


class _OutOfTime(Exception):
    """The walk takes too long."""


def look(root: Path, cpu_seconds: float, wall_seconds: float) -> dict[str, Stamp] | None:
    """The regular files below a folder, by their relative paths; None if that takes too long."""
    ends = (time.thread_time() + cpu_seconds, time.monotonic() + wall_seconds)
    try:
        return dict(_walk(str(root), ends))
    except (_OutOfTime, OSError):
        return None


def _walk(root: str, ends: tuple[float, float]) -> Iterator[tuple[str, Stamp]]:
    waiting, seen = [""], 0
    while waiting:
        below = waiting.pop()
        with os.scandir(os.path.join(root, below)) as found:  # noqa: PTH118  a walk of thousands of files
            entries = list(found)
        if below and any(entry.name in _GENERATED_MARKS for entry in entries):
            continue
        for entry in entries:
            seen += 1
            if seen % _CHECK_EVERY == 0 and (time.thread_time() > ends[0] or time.monotonic() > ends[1]):
                raise _OutOfTime
            path = f"{below}/{entry.name}" if below else entry.name
            with suppress(FileNotFoundError):
                facts = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(facts.st_mode):
                    if entry.name not in _GENERATED:
                        waiting.append(path)
                elif stat.S_ISREG(facts.st_mode):
                    yield path, Stamp(facts.st_ctime_ns, facts.st_size, facts.st_ino)


def read_text(root: Path, path: str, stamp: Stamp, most_bytes: int) -> str | None:
    """A text file as it was when it was looked at; None if it is binary or too large, or has changed since."""
    if stamp.size > most_bytes:
        return None
    try:
        descriptor = os.open(root / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(most_bytes + 1)
        facts = os.fstat(descriptor)
    if (facts.st_ctime_ns, facts.st_size, facts.st_ino) != tuple(stamp) or len(data) != stamp.size or b"\0" in data:
        return None
    return os.fsdecode(data)
