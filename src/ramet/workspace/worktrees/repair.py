"""What an agent that was killed, or went its own way, leaves behind in a worktree: locks, another branch, half a merge.

Nothing here changes a file of the worktree, and nothing is forgotten.
"""

import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ramet.workspace.git.command import Git
from ramet.workspace.git.repository import BRANCHES, Repository
from ramet.workspace.worktrees import kept_work

_OPERATIONS = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisection",
}
_LOCK_SECONDS = 2.0
"""A lock that stays this long, in a worktree that is no longer used, is stale."""
_LOOK_SECONDS = 0.05


class Astray(NamedTuple):
    """A worktree that is not on its branch, and why."""

    why: str
    is_unfinished: bool = False
    """Whether it is in the middle of a merge or the like, which a person may want to continue."""


def put_locks_aside(repository: Repository, top: Path, branch: str) -> None:
    """Take away the locks of a git that was killed. The index that one was writing stays, under another name."""
    folder = kept_work.git_directory(top)
    index_lock = folder / "index.lock"
    locks = [index_lock, folder / "HEAD.lock", repository.common / f"{BRANCHES}{branch}.lock"]
    deadline = time.monotonic() + _LOCK_SECONDS
    while any(lock.exists() for lock in locks) and time.monotonic() < deadline:
        time.sleep(_LOOK_SECONDS)
    with suppress(FileNotFoundError):
        index_lock.replace(folder / "index.lock.left")
    for lock in locks[1:]:
        lock.unlink(missing_ok=True)


def rejoin(git: Git, top: Path, branch: str) -> Astray | None:
    """Put the worktree back on its branch, if that only means moving a pointer; else say why it is not there.

    If an agent created a branch of its own, or detached HEAD, and continued from ours, ours follows.
    """
    folder = kept_work.git_directory(top)
    operation = next((text for name, text in _OPERATIONS.items() if (folder / name).exists()), None)
    if operation is not None:
        return Astray(f"{operation} was not finished in {top}", is_unfinished=True)
    ours = BRANCHES + branch
    current = git.ask(top, "symbolic-ref", "--quiet", "HEAD")
    if current == ours:
        return None
    head = git.ask(top, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
    tip = git.ask(top, "rev-parse", "--quiet", "--verify", f"{ours}^{{commit}}")
    where = current.removeprefix(BRANCHES) if current else "no branch"
    if head is None or (tip is not None and not _is_ancestor(git, top, tip, head)):
        return Astray(f"{top} is on {where}, which does not continue {branch}")
    git.run(top, "update-ref", "--no-deref", "-m", "ramet: continued", ours, head, tip or "")
    git.run(top, "symbolic-ref", "-m", "ramet: back on its branch", "HEAD", ours)
    return None


def _is_ancestor(git: Git, top: Path, older: str, newer: str) -> bool:
    return git.ask(top, "merge-base", "--is-ancestor", older, newer) is not None
