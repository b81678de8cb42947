"""Lines that were moved. git also follows lines that were copied, and a copy was put there by whoever copied it.

A line counts as moved only if every commit that put such a line into its file, since it was written, took it away
elsewhere. The same then holds for the files that it was taken from.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from ramet.errors import GitFailed
from ramet.model.memory.edited_lines import hash_line
from ramet.workspace.git.lines.blame import UNCOMMITTED, Blamed
from ramet.workspace.git.lines.file_history import ChangedFile, FileCommit, read_commits, read_history
from ramet.workspace.git.repository import Repository

_MOST_COMMITS = 100
_MOST_FILES = 20


class _Pair(NamedTuple):
    """A line where it is since its last commit, and where it was before that."""

    new: Blamed
    old: Blamed
    hash: int


def settle(
    repository: Repository, history: Sequence[FileCommit], blamed: Sequence[tuple[Blamed, Blamed]]
) -> list[Blamed]:
    """For each line, the place that counts."""
    pairs = [_Pair(new, old, hash_line(new.text)) for new, old in blamed]
    moved = [pair for pair in pairs if pair.new != pair.old and pair.new.commit != UNCOMMITTED]
    if not moved:
        return [pair.new for pair in pairs]
    checks = _Checks(repository, history, moved)
    return [pair.old if pair.new != pair.old and checks.is_moved(pair) else pair.new for pair in pairs]


class _Checks:
    def __init__(self, repository: Repository, history: Sequence[FileCommit], moved: Sequence[_Pair]) -> None:
        self._repository = repository
        self._histories = {path: _with_nets(history) for path in {pair.new.path for pair in moved}}
        self._whole: dict[str, _Whole | None] = {}
        hashes = {pair.hash for pair in moved}
        arrivals = (commit.hash for each in self._histories.values() for commit, net in each if hashes & net.keys())
        self._read(list(dict.fromkeys([*(pair.new.commit for pair in moved), *arrivals]))[:_MOST_COMMITS])

    def is_moved(self, pair: _Pair) -> bool:
        """Whether a line came to its place by moves alone, from file to file, since it was written."""
        waiting, seen = [pair.new.path], {pair.new.path}
        while waiting:
            for commit, net in self._history(waiting.pop()):
                if commit.hash == pair.old.commit:
                    break
                if net[pair.hash] > 0:
                    sources = self._sources(commit.hash, pair.hash)
                    if not sources or len(seen | sources) > _MOST_FILES:
                        return False
                    waiting += sources - seen
                    seen |= sources
        return True

    def _sources(self, commit: str, hashed: int) -> set[str]:
        """The files from which a commit took a line; none if it added more of them than it took."""
        if commit not in self._whole:
            self._read([commit])
        whole = self._whole.get(commit)
        return set() if whole is None or whole.net[hashed] > 0 else whole.removed.get(hashed, set())

    def _history(self, path: str) -> list[tuple[FileCommit, Counter[int]]]:
        if path not in self._histories:
            self._histories[path] = []
            with suppress(GitFailed):
                self._histories[path] = _with_nets(read_history(self._repository, path))
        return self._histories[path]

    def _read(self, commits: Sequence[str]) -> None:
        self._whole |= dict.fromkeys(commits)
        with suppress(GitFailed):
            for commit in read_commits(self._repository, commits):
                removed: dict[int, set[str]] = {}
                for file in commit.files:
                    for line in file.removed:
                        removed.setdefault(hash_line(line), set()).add(file.old_path)
                self._whole[commit.hash] = _Whole(_net(commit.files), removed)


class _Whole(NamedTuple):
    """What a commit did to all files together."""

    net: Counter[int]
    removed: dict[int, set[str]]
    """The files from which lines were removed, by the hashes of these."""


def _with_nets(history: Sequence[FileCommit]) -> list[tuple[FileCommit, Counter[int]]]:
    return [(commit, +_net(commit.files)) for commit in history]


def _net(files: Iterable[ChangedFile]) -> Counter[int]:
    """The lines that files have more often than before, by their hashes; less often is negative."""
    net: Counter[int] = Counter()
    for file in files:
        net.update(map(hash_line, file.added))
        net.subtract(Counter(map(hash_line, file.removed)))
    return net
