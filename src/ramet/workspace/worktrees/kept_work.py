"""Keeping work that exists nowhere else under a private ref, `refs/ramet/kept/…`, before a worktree goes.

`git log refs/ramet/kept/…` shows it and `git restore --source=REF -- .` brings it back. No command of git's deletes
such a ref by itself, and Ramet does only if another ref has all of it (`kept_refs`).
"""

from datetime import UTC, datetime
from pathlib import Path

from ramet.errors import WorktreeError
from ramet.workspace.git.command import Git
from ramet.workspace.worktrees import leftovers

REFS = "refs/ramet/kept/"
_MESSAGE = "Work in {name}, kept by Ramet\n"


def preserve(git: Git, top: Path) -> str | None:
    """Keep what only a worktree has: uncommitted changes, and commits that are on no branch of the user's.

    Neither its files nor its index are touched. Returns the ref, or None if there is nothing to keep.
    """
    _refuse_what_git_cannot_keep(git, top)
    head = git.ask(top, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
    left = leftovers.look(git, top)
    if left.paths:
        return keep(git, top, top.name, commit_files(git, top, head, leftovers.take(git, top, left)))
    return keep(git, top, top.name, head) if head and count_unpushed(git, top, head) else None


def commit_files(git: Git, top: Path, head: str | None, snapshot: leftovers.Snapshot) -> str:
    """A commit of a worktree's files on top of its last one; what was only staged becomes a second parent."""
    parents = [head] if head else []
    if snapshot.staged is not None:
        parents.append(commit_tree(git, top, snapshot.staged, parents, f"Staged changes in {top.name}\n"))
    return commit_tree(git, top, snapshot.files, parents, _MESSAGE.format(name=top.name))


def commit_tree(git: Git, directory: Path, tree: str, parents: list[str], message: str) -> str:
    """A commit, made without hooks and without a signature."""
    flags = [part for parent in parents for part in ("-p", parent)]
    return git.identified(directory).run(directory, "commit-tree", tree, *flags, stdin=message).strip()


def keep(git: Git, directory: Path, name: str, commit: str) -> str:
    """A private ref to a commit; the existing one if the same was kept before."""
    listed = git.run(directory, "for-each-ref", "--format=%(refname) %(tree) %(parent) %(subject)", f"{REFS}{name}-*")
    content = git.run(directory, "show", "--no-patch", "--format=%T %P %s", commit).rstrip("\n")
    for line in listed.splitlines():
        ref, _, known = line.partition(" ")
        if known == content:
            return ref
    ref = f"{REFS}{name}-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}"
    git.run(directory, "update-ref", "--no-deref", ref, commit, "")
    return ref


def count_unpushed(git: Git, directory: Path, commit: str) -> int:
    """How many of a commit's ancestors are on no branch, tag or remote, but on ours."""
    options = ("--exclude=ramet/*", "--branches", "--tags", "--remotes")
    return int(git.run(directory, "rev-list", "--count", commit, "--not", *options))


def git_directory(top: Path) -> Path:
    """The folder in which git keeps what belongs to this worktree alone."""
    return (top / (top / ".git").read_text().removeprefix("gitdir: ").removesuffix("\n")).resolve()


def _refuse_what_git_cannot_keep(git: Git, top: Path) -> None:
    nested = list(leftovers.look(git, top).nested)
    modules = git_directory(top) / "modules"
    if modules.is_dir():  # where git puts the submodules of a worktree, which go with it
        nested += sorted(entry.name for entry in modules.iterdir())
    if nested:
        raise WorktreeError(
            f"{top} contains separate repositories, whose work cannot be kept with it: {', '.join(nested)}",
            value=str(top),
            fix="move or push their work, or discard it with `ramet worktree clean --discard PATH PATH`",
        )
