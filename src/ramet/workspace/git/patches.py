"""What differs between a commit and another one, or the files of a worktree: file by file, and as a patch.

Only git's own comparison runs: no external diff, no `textconv`, no submodule's git. Replies are bounded, however much
has changed.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ramet.protocol.work.changes import ChangedFile, FileStatus
from ramet.workspace.git.command import Git

_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty", "--submodule=short", "-M")
_PATCH = ("--src-prefix=a/", "--dst-prefix=b/")
_COUNTS = re.compile(rb"(\d+|-)\t(\d+|-)\t(.*)", re.DOTALL)
_LIST_BYTES = 8 * 1024 * 1024
_MOST_FILES = 20_000
_STATUSES: dict[str, FileStatus] = {
    "A": "added",
    "C": "copied",
    "D": "deleted",
    "M": "modified",
    "R": "renamed",
    "T": "retyped",
    "U": "unmerged",
}


class Sides(NamedTuple):
    """What is compared."""

    directory: Path
    base: str
    head: str | None
    """None for the files of the directory's worktree."""
    names: Path | None = None
    """An index that has the names of the files to compare, in the place of the worktree's own."""


class FileList(NamedTuple):
    """The files that differ."""

    files: list[ChangedFile]
    is_cut: bool


class Patch(NamedTuple):
    """The difference as text."""

    text: str
    is_cut: bool


def list_files(git: Git, sides: Sides) -> FileList:
    """The files, with their lines. If very many have changed, only the first are listed."""
    sample = git.sample(
        sides.directory,
        "diff",
        *_PLAIN,
        "--raw",
        "--numstat",
        "-z",
        *_commits(sides),
        most_bytes=_LIST_BYTES,
        index=sides.names,
    )
    fields = sample.out.split(b"\0")[:-1]  # what follows the last NUL is empty, or the beginning of a field
    files = list(_join(fields))
    return FileList(files[:_MOST_FILES], sample.is_cut or len(files) > _MOST_FILES)


def read_patch(git: Git, sides: Sides, most_bytes: int) -> Patch:
    """The difference as git prints it, to the last whole line that fits."""
    if most_bytes < 1:
        return Patch("", is_cut=True)
    sample = git.sample(
        sides.directory, "diff", *_PLAIN, *_PATCH, *_commits(sides), most_bytes=most_bytes, index=sides.names
    )
    out = sample.out
    if sample.is_cut:
        out = out[: out.rfind(b"\n") + 1]
    return Patch(out.decode(errors="backslashreplace"), sample.is_cut)


def _commits(sides: Sides) -> tuple[str, ...]:
    return (sides.base, *([] if sides.head is None else [sides.head]), "--")


def _join(fields: list[bytes]) -> Iterator[ChangedFile]:
    """Each file once. git lists all of them with their status, then all of them with their lines."""
    statuses: dict[bytes, tuple[FileStatus, bytes | None]] = {}
    rest = iter(fields)
    for field in rest:
        if field.startswith(b":"):
            status = _STATUSES.get(chr(field.rpartition(b" ")[2][0]), "modified")
            former = next(rest, b"") if status in ("renamed", "copied") else None
            statuses[next(rest, b"")] = status, former
            continue
        counts = _COUNTS.fullmatch(field)
        if counts is None:
            continue
        path = counts[3]
        if not path:  # a renamed file: its names follow
            next(rest, b"")
            path = next(rest, b"")
        status, former = statuses.pop(path, ("modified", None))
        yield _file(path, status, former, counts[1], counts[2])
    for path, (status, former) in statuses.items():  # of a list that is cut, and of conflicts
        yield _file(path, status, former, b"-", b"-")


def _file(path: bytes, status: FileStatus, former: bytes | None, added: bytes, deleted: bytes) -> ChangedFile:
    return ChangedFile(
        path=_text(path),
        status=status,
        former_path=None if former is None else _text(former),
        insertions=None if added == b"-" else int(added),
        deletions=None if deleted == b"-" else int(deleted),
    )


def _text(path: bytes) -> str:
    return path.decode(errors="backslashreplace")
