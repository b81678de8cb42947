"""The branch of a sandboxed worktree: a copy of its ref, which the agent moves, and how the branch follows.

git replaces a ref by renaming a file in the ref's own folder. The repository's folder of our branches holds those of
other agents, too; so a sandboxed agent gets a folder with its own ref alone, mounted in the place of that one. The copy
is in Ramet's home, where no agent can put a link in its place. `synced` beside it says where the branch and its copy
last agreed, so that a branch that a person has moved is told from one that the agent has.

Whatever an agent writes here is data: a commit's hash, read without following a link.
"""

import os
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ramet.errors import PathOutside, SandboxUnavailable
from ramet.workspace.files import confined
from ramet.workspace.git.repository import BRANCHES, Repository
from ramet.workspace.worktrees import kept_work, traps
from ramet.workspace.worktrees.labels import BRANCH_PREFIX

_FOLDER = "branches"
_SYNCED = "synced"
_ANCHOR = ".sandbox"
"""An empty folder that git ignores. It keeps git from removing the folder around it, which would undo the mount."""
_COMMIT = re.compile(rb"([0-9a-f]{40,64})\n?")
_REF_BYTES = 100
_LOCK_SECONDS = 2.0
_LOOK_SECONDS = 0.05


class BranchCopy(NamedTuple):
    """The folders that stand in for those of the repository."""

    refs: Path
    logs: Path


def offer(repository: Repository, top: Path) -> BranchCopy:
    """Have the copy as the branch is. What an agent has left in it goes to the branch first."""
    if (repository.common / "reftable").exists():
        raise SandboxUnavailable(
            f"{repository.checkout} keeps its refs in the reftable format, which cannot be shared one by one",
            value=str(repository.checkout),
            fix=f"git -C {repository.checkout} refs migrate --ref-format=files",
        )
    take(repository, top)
    place = _place(top)
    copy = BranchCopy(place / "refs", place / "logs")
    for folder in copy:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for shared in (f"{BRANCHES}{BRANCH_PREFIX}", f"logs/{BRANCHES}{BRANCH_PREFIX}"):
        (repository.common / shared / _ANCHOR).mkdir(parents=True, exist_ok=True)
    _remove_old_lock(copy.refs / f"{top.name}.lock")
    publish(repository, top)
    return copy


def take(repository: Repository, top: Path) -> str | None:
    """Move the branch to where the agent has moved its copy; what a person should know if that cannot be done."""
    place, name = _place(top), top.name
    if not place.is_dir():
        return None
    traps.remove_of_repository(repository.common, top)
    tip, synced, moved = repository.commit(_ref(name)), _read(place, _SYNCED), _read(place / "refs", name)
    if moved is None or moved == synced or repository.commit(moved) is None:
        return None
    note = None
    if tip in (None, synced) or _is_ancestor(repository, tip, moved):
        message = "ramet: what its agent committed"
        repository.git.run(repository.checkout, "update-ref", "-m", message, _ref(name), moved, tip or "")
    elif tip != moved:
        kept = kept_work.keep(repository.git, repository.checkout, name, moved)
        note = f"{BRANCH_PREFIX}{name} was moved while its agent worked; what the agent committed is kept as {kept}"
    _write(place, _SYNCED, moved)
    return note


def publish(repository: Repository, top: Path) -> None:
    """Move the copy to where the branch is, if there is a copy and the agent has not moved it meanwhile."""
    place, name = _place(top), top.name
    tip = repository.commit(_ref(name)) if place.is_dir() else None
    current = _read(place / "refs", name)
    if tip is None or current not in (None, _read(place, _SYNCED)):
        return
    if current != tip:
        with suppress(FileExistsError):  # the agent is about to move it
            _replace(place / "refs", name, tip, current)
    if _read(place / "refs", name) == tip:
        _write(place, _SYNCED, tip)


def forget(top: Path) -> None:
    """Remove the copy with its worktree."""
    shutil.rmtree(_place(top), ignore_errors=True)


def _place(top: Path) -> Path:
    return top.parents[1].with_name(_FOLDER) / top.parent.name / top.name


def _ref(name: str) -> str:
    return f"{BRANCHES}{BRANCH_PREFIX}{name}"


def _remove_old_lock(lock: Path) -> None:
    """Remove the lock of a git that was killed; one that somebody holds is gone in a moment."""
    deadline = time.monotonic() + _LOCK_SECONDS
    while os.path.lexists(lock) and time.monotonic() < deadline:
        time.sleep(_LOOK_SECONDS)
    lock.unlink(missing_ok=True)


def _is_ancestor(repository: Repository, older: str | None, newer: str) -> bool:
    answer = repository.git.ask(repository.checkout, "merge-base", "--is-ancestor", older or newer, newer)
    return answer is not None


def _read(folder: Path, name: str) -> str | None:
    """The commit that a file names. An agent may have made anything of it, a link for example."""
    try:
        found = confined.read(folder, name, _REF_BYTES) if folder.is_dir() else None
    except PathOutside:
        return None
    match = _COMMIT.fullmatch(found.data) if found else None
    return match[1].decode() if match else None


def _write(folder: Path, name: str, commit: str) -> None:
    confined.write(folder, name, f"{commit}\n".encode())


def _replace(folder: Path, name: str, commit: str, current: str | None) -> None:
    """Write a ref as git does, under its lock, unless it has changed. `FileExistsError` if somebody has the lock."""
    lock = folder / f"{name}.lock"
    descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(f"{commit}\n".encode())
        if _read(folder, name) == current:
            lock.replace(folder / name)
    finally:
        lock.unlink(missing_ok=True)
