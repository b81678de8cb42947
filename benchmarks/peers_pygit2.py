"""Git as a store of turns, through libgit2: a blob, a tree of one entry, a commit and a move of the branch for each.

Git flushes nothing unless it is told to; `flushed` tells it to, which is what ours does.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pygit2
from pygit2.enums import FileMode

from benchmarks.contenders import Append

_BRANCH = "refs/heads/main"


@contextmanager
def unflushed(folder: Path) -> Iterator[Append]:
    """As it comes."""
    yield _appender(folder, is_flushed=False)


@contextmanager
def flushed(folder: Path) -> Iterator[Append]:
    """Each object on the disk before the next."""
    yield _appender(folder, is_flushed=True)


def _appender(folder: Path, *, is_flushed: bool) -> Append:
    repository = pygit2.init_repository(str(folder / "git"), bare=True)
    author = pygit2.Signature("bench", "bench@example.com", 0, 0)
    parents: list[pygit2.Oid] = []

    def append(turns: Sequence[str]) -> None:
        pygit2.settings.enable_fsync_gitdir(is_flushed)
        for text in turns:
            builder = repository.TreeBuilder()
            builder.insert("turn", repository.create_blob(text.encode()), FileMode.BLOB)
            parents[:] = [repository.create_commit(_BRANCH, author, author, "turn", builder.write(), parents)]

    return append
