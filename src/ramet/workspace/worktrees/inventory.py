"""The worktrees that there are, what each holds that exists nowhere else, and how one goes without losing that."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal

from msgspec import Struct

from ramet.errors import RametError, WorktreeError
from ramet.workspace.git.command import Git
from ramet.workspace.git.repository import (
    BRANCHES,
    Registered,
    Repository,
    find,
)
from ramet.workspace.worktrees import branch_copies, kept_work, labels, leftovers
from ramet.workspace.worktrees.labels import BRANCH_PREFIX, Label
from ramet.workspace.worktrees.worktree import forget_vanished

_MOST_FILES = 200_000
"""A worktree with more files is not measured: it would take too long for a list."""


class Found(Struct, frozen=True, kw_only=True):
    """A directory among the worktrees."""

    top: Path
    label: Label | None
    repository: Repository | None = None
    registered: Registered | None = None
    state: Literal["idle", "vanished", "locked", "foreign"] = "foreign"
    """foreign: it is no worktree of ours, or its repository is gone; nothing touches it."""
    uncommitted_files: int = 0
    unpushed_commits: int = 0

    @property
    def branch(self) -> str | None:
        """The branch that it is on."""
        full = self.registered.branch if self.registered else None
        return full.removeprefix(BRANCHES) if full else None


def list_all(git: Git, folder: Path, project_path: str | None = None) -> list[Found]:
    """Every worktree below the folder, or those of one project."""
    if project_path is not None:
        places = [labels.home(folder, project_path)]
    else:
        places = sorted(entry for entry in folder.iterdir() if entry.is_dir()) if folder.is_dir() else []
    return [found for place in places if place.is_dir() for found in _in_place(git, place)]


def find_one(git: Git, top: Path) -> Found:
    """One worktree, by its directory."""
    return _look(git, top, labels.read(top.parent, top.name))


def remove(found: Found, *, discard: bool = False) -> str | None:
    """Remove a worktree; what exists only there is kept under a ref first, which is returned.

    Only `discard` gives that up. What cannot be kept is not removed, and a branch with commits of its own stays.
    """
    repository = found.repository
    if repository is None or found.state == "foreign":
        raise WorktreeError(f"Ramet did not create {found.top}", value=str(found.top), fix=_FIX_FOREIGN)
    with repository.locked():
        registered = repository.registered(found.top)
        if registered is None or registered.locked is not None:
            reason = "gone" if registered is None else f"locked: {registered.locked or 'no reason given'}"
            raise WorktreeError(f"{found.top} is {reason}", value=str(found.top), fix=_FIX_LOCKED)
        if not discard:
            branch_copies.take(repository, found.top)
        if found.top.is_dir():
            ref = None if discard else kept_work.preserve(repository.git, found.top)
            repository.git.run(repository.checkout, "worktree", "remove", "--force", "--", str(found.top))
        else:
            ref = forget_vanished(repository, registered, found.top.name)
        branch_copies.forget(found.top)
        _remove_merged_branch(repository, found.top)
    return ref


def measure(top: Path) -> int | None:
    """The size of a directory in bytes; None if it has too many files to count."""
    total = 0
    for count, entry in enumerate(_walk(top)):
        if count >= _MOST_FILES:
            return None
        with suppress(OSError):  # an agent may be at work there, and take it away
            total += entry.stat(follow_symlinks=False).st_size
    return total


_FIX_FOREIGN = "check it and remove it yourself; `git worktree list` shows what git knows about it"
_FIX_LOCKED = "if it is no longer needed, unlock it with `git worktree unlock PATH`"


def _in_place(git: Git, place: Path) -> Iterator[Found]:
    """A project's worktrees: what has a label, and what merely lies there."""
    directories = {entry.name for entry in place.iterdir() if not entry.name.endswith(".json")}
    for name in sorted(directories | labels.labelled(place)):
        found = _look(git, place / name, labels.read(place, name))
        if found.registered is not None or os.path.lexists(found.top):
            yield found


def _look(git: Git, top: Path, label: Label | None) -> Found:
    """The facts about one worktree. If git cannot answer, it is foreign, so that nothing touches it."""
    if label is None or top.is_symlink():
        return Found(top=top, label=label)
    try:
        repository = find(git, label.project)
        registered = repository.registered(top) if repository else None
        if repository is None or registered is None:
            return Found(top=top, label=label)
        return _describe(repository, registered, top, label)
    except RametError:
        return Found(top=top, label=label)


def _describe(repository: Repository, registered: Registered, top: Path, label: Label) -> Found:
    git, head = repository.git, registered.head
    is_there = (top / ".git").is_file()
    if not is_there and top.exists():
        return Found(top=top, label=label)
    state: Literal["idle", "vanished", "locked"] = "idle" if is_there else "vanished"
    left = leftovers.look(git, top) if is_there else None
    return Found(
        top=top,
        label=label,
        repository=repository,
        registered=registered,
        state="locked" if registered.locked is not None else state,
        uncommitted_files=len(left.paths) + len(left.nested) if left else 0,
        unpushed_commits=kept_work.count_unpushed(git, repository.checkout, head) if head else 0,
    )


def _remove_merged_branch(repository: Repository, top: Path) -> None:
    """A branch that adds nothing to the user's own goes with its worktree, and so does the label."""
    ref = f"{BRANCHES}{BRANCH_PREFIX}{top.name}"
    tip = repository.commit(ref)
    if tip is not None and kept_work.count_unpushed(repository.git, repository.checkout, tip):
        return
    if tip is not None:
        repository.git.run(repository.checkout, "update-ref", "--no-deref", "-d", ref, tip)
    labels.remove(top.parent, top.name)


def _walk(top: Path) -> Iterator["os.DirEntry[str]"]:
    with suppress(OSError), os.scandir(top) as entries:
        for entry in entries:
            yield entry
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(Path(entry.path))
