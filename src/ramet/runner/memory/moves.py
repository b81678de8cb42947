"""Lines that were moved. git also follows lines that were copied, and a copy was put there by whoever copied it.

A line counts as moved only if the commit that put it there added such a line as often as it removed one, if it took it
from the place that git names, and if nobody typed or copied such a line there since it was written.
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
        self._histories = {path: list(history) for path in {pair.new.path for pair in moved}}
        for path in list(dict.fromkeys(pair.old.path for pair in moved))[:_MOST_FILES]:
            if path not in self._histories:
                with suppress(GitFailed):
                    self._histories[path] = read_history(repository, path)
        hashes = {pair.hash for pair in moved}
        wanted = dict.fromkeys(pair.new.commit for pair in moved)
        wanted |= dict.fromkeys(
            commit.hash
            for commits in self._histories.values()
            for commit in commits
            if hashes & (+_net(commit.files)).keys()
        )
        with suppress(GitFailed):
            read = read_commits(repository, list(wanted)[:_MOST_COMMITS])
            self._whole = {commit.hash: commit for commit in read}
            self._nets = {commit.hash: _net(commit.files) for commit in read}
            return
        self._whole, self._nets = {}, {}

    def is_moved(self, pair: _Pair) -> bool:
        mover = self._whole.get(pair.new.commit)
        if mover is None or self._nets[mover.hash][pair.hash] > 0 or not self._is_taken(mover, pair):
            return False
        paths = {pair.new.path, pair.old.path}
        return all(self._is_unrepeated(path, pair) for path in paths)

    def _is_taken(self, mover: FileCommit, pair: _Pair) -> bool:
        """Whether the commit took the line from where git says that it was."""
        names = {pair.old.path, pair.new.path}
        return any(
            file.old_path in names and any(hash_line(line) == pair.hash for line in file.removed)
            for file in mover.files
        )

    def _is_unrepeated(self, path: str, pair: _Pair) -> bool:
        """Whether no commit since the line was written has added one like it."""
        for commit in self._histories.get(path, ()):
            if commit.hash == pair.old.commit:
                return True
            if (+_net(commit.files))[pair.hash] and self._nets.get(commit.hash, Counter({pair.hash: 1}))[pair.hash] > 0:
                return False
        return True


def _net(files: Iterable[ChangedFile]) -> Counter[int]:
    """The lines that files have more often than before, by their hashes; less often is negative."""
    net: Counter[int] = Counter()
    for file in files:
        net.update(map(hash_line, file.added))
        net.subtract(Counter(map(hash_line, file.removed)))
    return net
