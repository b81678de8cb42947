"""Scratch worktrees: where checks run on a candidate. Each is new, on no branch, and gone when the checks have ended.

Whatever a check writes there goes with it. Nothing in it counts: what lands is a commit that was made before.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec.structs import replace

from ramet.errors import GitFailed, WorktreeError
from ramet.workspace.git import links
from ramet.workspace.git.repository import Repository
from ramet.workspace.worktrees import branch_copies, includes, labels
from ramet.workspace.worktrees.labels import Label


@contextmanager
def scratch(repository: Repository, folder: Path, project_path: str, name: str, commit: str) -> Iterator[Path]:
    """A worktree of a commit. One that a killed process left under this name is removed first."""
    place = labels.home(folder, project_path)
    place.mkdir(parents=True, exist_ok=True)
    top = place / name
    label = Label(owner=None, project=project_path)
    remove(repository, top)
    try:
        with repository.locked():
            labels.write(place, name, label)
            (repository.common / "worktrees").mkdir(exist_ok=True)
            options = ("worktree", "add", "--quiet", "--detach", "--", str(top), commit)
            repository.git.run(repository.checkout, *options)
            links.join(repository.common, top)
            repository.git.pass_on(repository.checkout, top)
        includes.copy(repository, top)
        labels.write(place, name, replace(label, is_ready=True))
        yield top
    finally:
        remove(repository, top)


def enter(top: Path, prefix: str) -> Path:
    """The project's folder in a scratch worktree. A branch may have put a link there that leads out of it."""
    directory = top / prefix
    is_file = directory.exists() and not directory.is_dir()
    if is_file or directory.resolve() != top.resolve() / prefix:
        raise WorktreeError(
            f"{prefix} is not a folder in what is to land, but a file or a link",
            value=prefix,
            fix="land it with git, if that is meant",
        )
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def remove(repository: Repository, top: Path) -> None:
    """Remove a scratch worktree and what git knows of it."""
    if labels.read(top.parent, top.name) is None:
        return
    with repository.locked():
        shutil.rmtree(top, ignore_errors=True)
        with suppress(GitFailed):
            if repository.registered(top) is not None:
                repository.git.run(repository.checkout, "worktree", "remove", "--force", "--force", "--", str(top))
        branch_copies.forget(top)
        if not top.exists():
            labels.remove(top.parent, top.name)
