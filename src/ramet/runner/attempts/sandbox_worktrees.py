"""What a sandboxed agent gets of its repository: enough to commit in its worktree, and no more.

A child works where its parent does, so two agents may share a worktree. Each gets all of it; the folder that is shared
is always one that no agent could have put a link in the place of, or its identity is checked inside.
"""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

from ramet.errors import PathOutside, SandboxUnavailable
from ramet.runner.context import RunnerContext
from ramet.sandbox import entry
from ramet.sandbox.plan import Checkout
from ramet.vendors.contract.driver_protocol import GitPlaces
from ramet.workspace.files import confined
from ramet.workspace.git.command import Git
from ramet.workspace.git.repository import BRANCHES, Repository, find
from ramet.workspace.worktrees import branch_copies, kept_work
from ramet.workspace.worktrees import worktree as worktrees
from ramet.workspace.worktrees.labels import BRANCH_PREFIX

_OWN_FILES = ("commondir", "gitdir", "config.worktree")
_ALTERNATES_BYTES = 100_000
_FIX_WORKTREE = "`ramet worktree list` shows its state; `git worktree repair` corrects links to a moved repository"


class SharedWorktree(Struct, frozen=True, kw_only=True):
    """The folder that an agent may change, and how git works in it."""

    root: str
    identity: str
    read_only: tuple[str, ...] = ()
    checkout: Checkout | None = None
    borrowed: tuple[str, ...] = ()
    """Folders of other repositories that this one reads objects from. Only their owner can share them."""
    committer: dict[str, str]


def share(runner: RunnerContext, project_path: str, directory: str, *, is_spawned: bool) -> SharedWorktree:
    """What to share with an agent that works in this directory."""
    repository = find(runner.machine.git, project_path)
    top = worktrees.find_top(runner.places.worktrees, directory)
    if top is not None and repository is not None:
        return SharedWorktree(
            root=str(top),
            identity=entry.identify(str(top)),
            read_only=(str(top / ".git"),),
            checkout=_checkout(repository, top),
            borrowed=tuple(_borrowed(repository.common)),
            committer=_committer(runner.machine.git, top),
        )
    if is_spawned and repository is not None:
        raise PathOutside(
            f"{directory} is not in the worktree of the agent that asked for this work",
            field="workspacePath",
            value=directory,
            fix="leave workspacePath out, or name a folder in the worktree",
        )
    return _folder(runner, project_path, directory)


def _folder(runner: RunnerContext, project_path: str, directory: str) -> SharedWorktree:
    """A project that is not a repository, or a folder that a person chose: git can be read there, not written."""
    if runner.places.home.is_relative_to(directory):
        raise SandboxUnavailable(
            f"Ramet's home {runner.places.home} is inside {directory}, which the agent may change",
            value=directory,
            fix="set RAMET_HOME to a folder outside of the project",
        )
    inside = Path(directory).relative_to(project_path) if Path(directory).is_relative_to(project_path) else None
    relative = "" if inside is None or inside == Path() else str(inside)
    repository = Path(directory) / ".git"
    return SharedWorktree(
        root=directory,
        identity=confined.identify(project_path, relative) if relative else entry.identify(directory),
        read_only=(str(repository),) if repository.exists() and not repository.is_symlink() else (),
        committer=_committer(runner.machine.git, Path(directory)),
    )


def _checkout(repository: Repository, top: Path) -> Checkout:
    common, own = repository.common, kept_work.git_directory(top)
    if own.parent != common / "worktrees":
        raise SandboxUnavailable(
            f"{top / '.git'} leads to {own}, which is not a worktree of {common}", value=str(top), fix=_FIX_WORKTREE
        )
    with repository.locked():
        copy = branch_copies.offer(repository, top)
    (common / "objects" / "info").mkdir(exist_ok=True)
    _create(own / "config.worktree")
    for folder in (common / "objects", common / "objects" / "info", common / "refs" / "heads", own):
        _require(folder, stat.S_ISDIR)
    for file in (top / ".git", *(own / name for name in _OWN_FILES)):
        _require(file, stat.S_ISREG)
    return Checkout(
        common=str(common),
        own=str(own),
        branches=str(common / f"{BRANCHES}{BRANCH_PREFIX}").rstrip("/"),
        logs=str(common / f"logs/{BRANCHES}{BRANCH_PREFIX}").rstrip("/"),
        branches_source=str(copy.refs),
        logs_source=str(copy.logs),
    )


def find_git_places(runner: RunnerContext, project_path: str, directory: str) -> GitPlaces | None:
    """What a commit in a worktree of Ramet's writes, for programs with a sandbox of their own: new objects, the
    worktree's own state, and Ramet's branches.
    """
    repository = find(runner.machine.git, project_path)
    top = worktrees.find_top(runner.places.worktrees, directory)
    if repository is None or top is None:
        return None
    common, own = repository.common, kept_work.git_directory(top)
    if own.parent != common / "worktrees":
        return None
    branches = f"{BRANCHES}{BRANCH_PREFIX}".rstrip("/")
    writable = [common / "objects", own, common / branches, common / "logs" / branches]
    for folder in writable:
        folder.mkdir(parents=True, exist_ok=True)
        _require(folder, stat.S_ISDIR)
    _create(own / "config.worktree")  # a file that is absent cannot be kept from being made
    read_only = [own / name for name in _OWN_FILES]
    return GitPlaces(writable=[str(path) for path in writable], read_only=[str(path) for path in read_only])


def _borrowed(common: Path) -> Iterator[str]:
    """What `objects/info/alternates` names. An agent cannot write it; whoever packed the repository could."""
    found = confined.read(common / "objects", "info/alternates", _ALTERNATES_BYTES)
    for line in os.fsdecode(found.data).splitlines() if found else ():
        if line and not line.startswith("#"):
            yield os.path.realpath(common / "objects" / line)


def _create(file: Path) -> None:
    """Have a file, so that it can be mounted read-only."""
    os.close(os.open(file, os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644))


def _require(path: Path, is_kind: Callable[[int], bool]) -> None:
    """A link would lead the mount elsewhere."""
    if not is_kind(path.lstat().st_mode):
        raise SandboxUnavailable(
            f"{path} is a link or something else that git did not make", value=str(path), fix=_FIX_WORKTREE
        )


def _committer(git: Git, directory: Path) -> dict[str, str]:
    """Who commits: the user, if git knows who that is, else Ramet. The user's own configuration is absent inside."""
    name, email = (git.ask(directory, "config", "--get", f"user.{field}") for field in ("name", "email"))
    if not (name and email):
        name, email = "Ramet", "ramet@localhost"
    return {
        f"GIT_{role}_{field}": value
        for role in ("AUTHOR", "COMMITTER")
        for field, value in (("NAME", name), ("EMAIL", email))
    }
