"""Real repositories, and what an agent does in a worktree: with git itself, past the code that is tested."""

import os
import subprocess
from pathlib import Path

from ramet.workspace.git.command import Git
from ramet.workspace.worktrees import inventory
from ramet.workspace.worktrees import worktree as worktrees
from ramet.workspace.worktrees.inventory import Found
from ramet.workspace.worktrees.worktree import Finished, Worktree

_PATIENCE_SECONDS = 60


def mark_repository(top: Path) -> None:
    """The parts by which git knows a repository, without running git."""
    for folder in ("objects", "refs"):
        (top / ".git" / folder).mkdir(parents=True)
    (top / ".git" / "HEAD").write_text("ref: refs/heads/main\n")


class Shop:
    """A project in a repository, the folder of its worktrees, and the user's environment."""

    def __init__(self, folder: Path) -> None:
        self.root = folder
        self.home = folder / "home"
        self.home.mkdir()
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "GIT_CONFIG_GLOBAL": str(self.home / "gitconfig"),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        self.git = self.allow()
        self.folder = folder / "worktrees"
        self.project = self.make_repository("shop")

    def allow(self, *filters: str) -> Git:
        """The daemon's git, for a user who allows these filters."""
        self.git = Git(self.environ, self.root / "views", filters=filters)
        return self.git

    def make_repository(self, name: str) -> Path:
        """A repository with one commit."""
        path = self.root / name
        path.mkdir(parents=True)
        self.run(path, "init", "-q", "-b", "main")
        (path / "a.txt").write_text("one\n")
        self.commit(path, "start")
        return path

    def run(self, directory: str | Path, *arguments: str, check: bool = True) -> str:
        """What git says."""
        identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
        done = subprocess.run(
            ["git", "-C", str(directory), *identity, *arguments],
            env=self.environ,
            capture_output=True,
            timeout=_PATIENCE_SECONDS,
            check=False,
        )
        assert done.returncode == 0 or not check, os.fsdecode(done.stderr)
        return os.fsdecode(done.stdout).strip()

    def commit(self, directory: str | Path, message: str) -> str:
        """Commit everything, as an agent would."""
        self.run(directory, "add", "-A")
        self.run(directory, "commit", "-q", "--no-verify", "--allow-empty", "-m", message)
        return self.run(directory, "rev-parse", "HEAD")

    def prepare(self, name: str = "e1", start: str | None = None, owner: str | None = None) -> Worktree:
        worktree = worktrees.prepare(self.git, self.folder, str(self.project), name, start, owner=owner)
        assert worktree is not None
        return worktree

    def finish(self, worktree: Worktree, message: str = "what was left") -> Finished:
        return worktrees.finish(self.git, str(self.project), worktree.path, worktree.branch, worktree.base, message)

    def found(self, worktree: Worktree) -> Found:
        """The worktree as the inventory has it."""
        listed = inventory.list_all(self.git, self.folder)
        return next(found for found in listed if found.top == Path(worktree.path))

    def show(self, name: str) -> str:
        """A file of a commit, as REF:PATH."""
        return self.run(self.project, "show", name)

    def kept(self) -> list[str]:
        """The refs under which work was kept."""
        return self.run(self.project, "for-each-ref", "--format=%(refname)", "refs/ramet/kept/").split()

    def branches(self) -> list[str]:
        return self.run(self.project, "for-each-ref", "--format=%(refname:short)", "refs/heads/").split()
