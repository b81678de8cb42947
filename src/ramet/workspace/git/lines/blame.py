"""The commit that brought each line of a file, through moves and new indentation.

git also follows lines that were copied. Whoever copied a line put it there, so both answers are given: which of them
counts depends on whether the commit that put it there took it away elsewhere.
"""

import os
from typing import NamedTuple

from ramet.workspace.git.command import Git
from ramet.workspace.git.repository import Repository

UNCOMMITTED = "0" * 40
_FOLLOWING = ("-w", "-M", "-C")


class Blamed(NamedTuple):
    """A line of a file as it is now."""

    number: int
    text: str
    commit: str
    """`UNCOMMITTED` for a line that no commit has."""
    path: str
    """The file's name in that commit, relative to the top."""
    place: int
    """The line's number there."""


def blame(repository: Repository, path: str, ignored: tuple[str, ...] = ()) -> list[tuple[Blamed, Blamed]]:
    """Every line of a file in the checkout, in its order: where it is since, and where it was before it was moved or
    copied. `ignored` are commits that only changed the format.
    """
    top, git = str(repository.checkout), repository.git
    skipped = tuple(part for commit in ignored for part in ("--ignore-rev", commit))
    plain = _run(git, top, path, ("-w", *skipped))
    moved = _run(git, top, path, (*_FOLLOWING, *skipped))
    # If the file was changed between the two, nothing counts as moved.
    return list(zip(plain, moved if len(plain) == len(moved) else plain, strict=True))


def _run(git: Git, top: str, path: str, options: tuple[str, ...]) -> list[Blamed]:
    said = git.run(top, "blame", "--porcelain", "--no-textconv", *options, "--", path)
    return _parse(said)


def _parse(said: str) -> list[Blamed]:
    lines: list[Blamed] = []
    names: dict[str, str] = {}
    commit, place, number, name = "", 0, 0, ""
    for line in said.split("\n"):
        if line.startswith("\t"):
            lines.append(Blamed(number, line[1:], commit, name or names.get(commit, ""), place))
            names[commit] = name or names.get(commit, "")
            name, commit = "", ""
        elif not commit:
            words = line.split(" ")
            if len(words) >= 3 and len(words[0]) >= 40:
                commit, place, number = words[0], int(words[1]), int(words[2])
        elif line.startswith("filename "):
            name = _unquoted(line.removeprefix("filename "))
    return lines


def _unquoted(name: str) -> str:
    """Git writes a name with control characters in quotation marks."""
    if not (name.startswith('"') and name.endswith('"')):
        return name
    return os.fsdecode(name[1:-1].encode(errors="surrogateescape").decode("unicode_escape").encode("latin-1"))
