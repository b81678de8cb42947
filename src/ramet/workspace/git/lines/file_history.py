"""The commits that changed a file, under each of its names, and what each of them added to it."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ramet.workspace.git.repository import Repository

_FORMAT = "--format=%x00%H%x01%at%x01%ct%x01%s%x01%B%x02"
_MOST_COMMITS = 300
_OPTIONS = ("--no-textconv", "--no-ext-diff", "--no-color")
_EFFORT = re.compile(r"Ramet-Effort: e(\d{1,18})\b")

_PLACE = re.compile(r"@@ -[0-9,]+ \+(\d+)")


class ChangedFile(NamedTuple):
    """What a commit did to one file: runs of lines, each a text and whether it was added."""

    path: str
    old_path: str
    hunks: list[list[tuple[str, bool]]]
    """The lines of the new version in each hunk, with those that stayed around the added ones."""
    starts: list[int]
    """The number of the first line of each hunk in the new version."""
    gone: list[list[str]]
    """The removed lines of each hunk."""

    @property
    def added(self) -> list[str]:
        """All added lines."""
        return [text for hunk in self.hunks for text, is_added in hunk if is_added]

    @property
    def removed(self) -> list[str]:
        """All removed lines."""
        return [text for hunk in self.gone for text in hunk]


class FileCommit(NamedTuple):
    """A commit, with what it says of itself and what it changed."""

    hash: str
    authored_s: int
    committed_s: int
    subject: str
    efforts: frozenset[int]
    """The efforts that its message names, as Ramet's own commits do."""
    files: list[ChangedFile]


def read_history(repository: Repository, path: str) -> list[FileCommit]:
    """The newest commits of a file, the newest first, through its renames."""
    limits = (f"--max-count={_MOST_COMMITS}", "-U0", "-M", "--follow", "--no-merges")
    named = f":(top,literal){path}"  # a name can look like a pattern
    said = repository.git.run(repository.checkout, "log", "-p", *limits, *_OPTIONS, _FORMAT, "HEAD", "--", named)
    return list(_parse(said))


def read_commits(repository: Repository, commits: Sequence[str], *, context: int = 0) -> list[FileCommit]:
    """Some commits by their hashes, with all that they changed against their first parents."""
    if not commits:
        return []
    limits = (f"-U{context}", "-M", "--first-parent", "-m", "--no-walk=unsorted", "--stdin")
    stdin = "".join(f"{commit}\n" for commit in commits)
    said = repository.git.run(repository.checkout, "log", "-p", *limits, *_OPTIONS, _FORMAT, stdin=stdin)
    return list(_parse(said))


def read_change(repository: Repository, base: str, head: str, *, context: int) -> list[ChangedFile]:
    """What changed between two commits."""
    limits = (f"-U{context}", "-M")
    said = repository.git.run(repository.checkout, "diff", *limits, *_OPTIONS, base, head, "--")
    return list(_files(said.split("\n")))


def _parse(said: str) -> Iterator[FileCommit]:
    for part in said.split("\0")[1:]:
        head, _, diff = part.partition("\x02")
        fields = head.split("\x01", 4)
        if len(fields) != 5:
            continue
        named = frozenset(int(found) for found in _EFFORT.findall(fields[4]))
        files = list(_files(diff.split("\n")))
        yield FileCommit(fields[0], int(fields[1]), int(fields[2]), fields[3], named, files)


def _files(lines: list[str]) -> Iterator[ChangedFile]:
    path = old_path = ""
    hunks: list[list[tuple[str, bool]]] = []
    starts: list[int] = []
    gone: list[list[str]] = []
    in_hunk = False
    for line in [*lines, "diff --git "]:
        if line.startswith("diff --git "):
            if path or old_path:
                yield ChangedFile(path, old_path or path, hunks, starts, gone)
            path, old_path, hunks, starts, gone, in_hunk = "", "", [], [], [], False
        elif line.startswith("@@ ") and (place := _PLACE.match(line)):
            in_hunk = True
            hunks.append([])
            gone.append([])
            starts.append(int(place[1]))
        elif in_hunk and line[:1] == "+":
            hunks[-1].append((line[1:], True))
        elif in_hunk and line[:1] == "-":
            gone[-1].append(line[1:])
        elif in_hunk and line[:1] == " ":
            hunks[-1].append((line[1:], False))
        elif not in_hunk:
            path, old_path = _named(line, path, old_path)


def _named(line: str, path: str, old_path: str) -> tuple[str, str]:
    for mark, is_new in (("+++ b/", True), ("--- a/", False), ("rename to ", True), ("rename from ", False)):
        if line.startswith(mark):
            name = line.removeprefix(mark).rstrip("\t")
            return (name, old_path) if is_new else (path, name)
    return path, old_path
