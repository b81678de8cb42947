"""A repository that tries to have its programs run, and everything that the daemon's git does in one.

Each attack is what a boxed agent can write: keys of `.git/config` and the files beside it. A program that runs leaves a
trace. `work_in` goes through every code path that runs git.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from tests.workspace.repositories import Shop

from ramet.model.hooks.hook import HookEvent
from ramet.workspace import surroundings
from ramet.workspace.git import changes, merges
from ramet.workspace.git.merges import Tip
from ramet.workspace.git.repository import find
from ramet.workspace.worktrees import inventory
from ramet.workspace.worktrees import worktree as worktrees

ATTRIBUTES = "* filter=evil merge=evil diff=evil\n"


class Trap:
    """Programs that leave a trace with their name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "trap"
        self._folder.mkdir()
        self._trace = folder / "ran"

    def program(self, name: str = "trap") -> str:
        """A program, as a path without blanks."""
        path = self._folder / name.replace(" ", "-")
        path.write_text(f'#!/bin/sh\necho "${{0##*/}}" >> {self._trace}\ncat\nexit 0\n')
        path.chmod(0o755)
        return str(path)

    def sprung(self) -> set[str]:
        """Which of them ran."""
        return set(self._trace.read_text().split()) if self._trace.exists() else set()


def configure(shop: Shop, settings: Mapping[str, str], file: Path | None = None) -> None:
    """Write a repository's own configuration, or another file, as an agent does."""
    for key, value in settings.items():
        shop.run("/", "config", "--file", str(file or shop.project / ".git" / "config"), key, value)


def sign(shop: Shop, directory: Path) -> str:
    """A commit with a signature and the worktree's files, which did not go on from any other."""
    tree = shop.run(directory, "rev-parse", "HEAD^{tree}")
    signature = "-----BEGIN PGP SIGNATURE-----\n \n aaaa\n -----END PGP SIGNATURE-----"
    text = f"tree {tree}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\ngpgsig {signature}\n\nsigned\n"
    file = shop.root / "signed"
    file.write_text(text)
    return shop.run(directory, "hash-object", "-t", "commit", "-w", str(file))


def work_in(shop: Shop) -> None:
    """All that the daemon does with git in a repository, from the first worktree to the last."""
    one = _edit(shop, "e1", "a.txt", "one side\n")
    two = _edit(shop, "e2", "a.txt", "other side\n")
    three = _edit(shop, "e3", "c.txt", "c\n")
    repository = find(shop.git, str(shop.project))
    assert repository is not None
    merges.conflicts_between(repository, [one, two, three])
    merges.foretell(repository, one.head, two.head)
    merges.are_merged(repository, [one.head, two.head])
    merges.contained(repository, {tip.branch: tip.head for tip in (one, two, three)})
    changes.changes(repository, repository.head, one.head)
    worktrees.prepare(shop.git, shop.folder, str(shop.project), "e4", one.head, owner="e4", merges={three.head: "m"})
    event = HookEvent(vendor="claude", moment="session_start", name="x", native_id="s", cwd=str(shop.project))
    surroundings.gather(shop.git, event, None, ("AGENTS.md",))
    _leave_and_return(shop)
    for found in inventory.list_all(shop.git, shop.folder):
        inventory.remove(found)


def _edit(shop: Shop, name: str, file: str, text: str) -> Tip:
    """A worktree in which an agent left a change uncommitted."""
    worktree = shop.prepare(name)
    Path(worktree.path, file).write_text(text)
    finished = shop.finish(worktree)
    assert file in finished.changes.files, finished
    return Tip(worktree.branch, finished.head, finished.changes.files)


def _leave_and_return(shop: Shop) -> None:
    """An agent leaves its branch for a commit of its own; the worktree is used again, and has a change in the end."""
    top = Path(shop.prepare("e5").path)
    (Path(shop.run(top, "rev-parse", "--absolute-git-dir")) / "HEAD").write_text(sign(shop, top) + "\n")
    os.utime(top / "a.txt", (1, 1))
    shop.prepare("e5")
    (top / "d.txt").write_text("d\n")
