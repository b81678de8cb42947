"""The commit that brought each line of a file, through moves and new indentation.

git also follows lines that were copied. A copy was put there by whoever copied it, so a line counts as moved only if it
is no longer at the place it came from.
"""

import os
from collections import Counter
from typing import NamedTuple

from ramet.workspace.git.command import Git
from ramet.workspace.git.lines.versions import read_versions
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


def blame(repository: Repository, path: str, ignored: tuple[str, ...] = ()) -> list[Blamed]:
    """Every line of a file in the checkout, in its order. `ignored` are commits that only changed the format."""
    top, git = repository.checkout, repository.git
    skipped = tuple(part for commit in ignored for part in ("--ignore-rev", commit))
    plain = _run(git, str(top), path, ("-w", *skipped))
    moved = _run(git, str(top), path, (*_FOLLOWING, *skipped))
    if len(plain) != len(moved):
        return plain  # the file was changed between the two
    return _settle_copies(repository, plain, moved)


def _settle_copies(repository: Repository, plain: list[Blamed], moved: list[Blamed]) -> list[Blamed]:
    taken = {(line.commit, line.path, line.place) for line in plain}
    claims = Counter((line.commit, line.path, line.place) for line in moved)
    current = plain[0].path if plain else ""
    others = {line.path for line, old in zip(moved, plain, strict=True) if line != old and line.path != old.path}
    still_there = _read_current(repository, others - {current})
    settled = []
    for line, old in zip(moved, plain, strict=True):
        origin = (line.commit, line.path, line.place)
        is_copy = line != old and (
            origin in taken or claims[origin] > 1 or "".join(line.text.split()) in still_there.get(line.path, ())
        )
        settled.append(old if is_copy else line)
    return settled


def _read_current(repository: Repository, paths: set[str]) -> dict[str, set[str]]:
    """The lines that files have now, without their white space."""
    texts = read_versions(repository, [("HEAD", path) for path in sorted(paths)])
    return {path: {"".join(line.split()) for line in text.split("\n")} for (_, path), text in texts.items()}


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
