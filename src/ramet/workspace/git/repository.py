"""A git repository that a project is in: its commits and refs, and which worktrees git knows of."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from ramet.errors import FolderMissing, WorktreeError, WorktreeRefused
from ramet.workspace.git.command import Git
from ramet.workspace.git.location import locate

BRANCHES = "refs/heads/"
_LOCK_SECONDS = 600
_LOCK_PAUSE_SECONDS = 0.02


class Registered(NamedTuple):
    """A worktree as git has it on its list."""

    path: str
    head: str | None
    branch: str | None
    """The full name of the branch that is checked out; None if HEAD is detached."""
    locked: str | None
    """Why it is locked, which may be the empty text."""


class Repository(Struct, frozen=True):
    """The repository around a project."""

    git: Git
    checkout: Path
    """The top of the checkout that the project is in."""
    common: Path
    """The folder that all of its worktrees share: `.git` of the first one."""
    prefix: str
    """The project's path below the top; empty if it is the top."""
    head: str
    """The commit that the checkout is on."""

    def commit(self, name: str) -> str | None:
        """The hash of the commit that a name refers to."""
        return self.git.ask(self.checkout, "rev-parse", "--quiet", "--verify", f"{name}^{{commit}}")

    def worktrees(self) -> list[Registered]:
        """What git knows of, the first checkout included."""
        said = self.git.run(self.checkout, "worktree", "list", "--porcelain")
        return [_parse(block) for block in said.split("\n\n") if block.strip()]

    def registered(self, path: Path) -> Registered | None:
        """The worktree at a path."""
        real = path.parent.resolve() / path.name
        return next((found for found in self.worktrees() if Path(found.path) in (path, real)), None)

    def is_checked_out(self, branch: str) -> bool:
        """Whether some worktree is on the branch, which keeps every other from it."""
        return any(found.branch == BRANCHES + branch for found in self.worktrees())

    @contextmanager
    def locked(self) -> Iterator[None]:
        """One at a time makes or removes worktrees here: git's own list of them is not safe against two."""
        descriptor = os.open(self.common, os.O_RDONLY | os.O_CLOEXEC)
        try:
            _lock(descriptor)
            yield
        finally:
            os.close(descriptor)


def find(git: Git, project_path: str) -> Repository | None:
    """The repository that has a project; None if none does, even if there is one around it."""
    project = Path(project_path)
    if not project.is_dir():
        raise FolderMissing(
            f"the project's directory {project_path} does not exist",
            value=project_path,
            fix="restore it, or register its new path with `ramet project add PATH`",
        )
    project = project.resolve()
    location = locate(project)
    if location is None:
        return None
    top = location.top
    head = git.ask(top, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
    if head is None:
        raise WorktreeRefused(
            f"the repository {top} has no commit to create a worktree from",
            value=str(top),
            fix=f"create one: git -C {top} commit --allow-empty -m start",
        )
    prefix = "" if project == top else str(project.relative_to(top))
    repository = Repository(git, top, location.common, prefix, head)
    return repository if _holds_project(repository) else None


def _holds_project(repository: Repository) -> bool:
    """Whether the project is part of what is committed, and not merely below a checkout of something else."""
    if not repository.prefix:
        return True
    tree = f"HEAD:{repository.prefix}"
    return repository.git.ask(repository.checkout, "rev-parse", "--quiet", "--verify", tree) is not None


def _parse(block: str) -> Registered:
    facts = dict(line.partition(" ")[::2] for line in block.strip("\n").split("\n"))
    return Registered(facts.get("worktree", ""), facts.get("HEAD"), facts.get("branch"), facts.get("locked"))


def _lock(descriptor: int) -> None:
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise WorktreeError(
                    "another process has been creating a worktree of this repository for too long",
                    fix="try again later",
                ) from None
            time.sleep(_LOCK_PAUSE_SECONDS)
        except OSError:
            return  # a file system without locks; git's own are left
        else:
            return
