"""Where new work starts: the commit that the caller's checkout is on, and what only its files have.

Nothing here changes the caller's files, index, branches or stash. Refs of ours keep the commits until the work has
started, even if the user moves or deletes the branch meanwhile.
"""

import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from ramet.errors import GitFailed, InvalidParams, WorktreeError
from ramet.protocol.record.starting_points import StartAt, StartingPoint
from ramet.workspace.git import repository as repositories
from ramet.workspace.git.command import Git
from ramet.workspace.git.location import locate
from ramet.workspace.git.repository import BRANCHES, Repository
from ramet.workspace.worktrees import kept_work, leftovers

REFS = "refs/ramet/bases/"
TRAILER = "Ramet-Uncommitted"
"""Marks the commit of uncommitted changes, with the commit below it as its value."""
_UNSAFE = re.compile(r"^-|[\x00-\x1f\x7f]")
_PREFIXES = (BRANCHES, "refs/remotes/", "refs/tags/")
_MOST_NAMED = 100
"""How many files with changes are reported; the rest is counted."""
_LOOK_SECONDS = 30.0


def find(git: Git, project_path: str, wanted: StartAt, holder: str) -> StartingPoint | None:
    """The commit that new work of a project starts at, kept for `holder`; None if the project is in no repository."""
    repository = repositories.find(git, project_path)
    if repository is None:
        if wanted.is_chosen:
            raise InvalidParams(
                f"{project_path} is in no git repository, so there is no commit to start at",
                field="start.base",
                value=wanted.base,
                fix="leave out --base and --with-changes; agents work in the directory itself",
            )
        return None
    top = _checkout(repository, wanted)
    head = _require_head(git, top)
    commit, branch = (head, _branch(git, top)) if wanted.base is None else _resolve(git, top, wanted.base)
    if wanted.with_changes and commit != head:
        raise InvalidParams(
            f"--with-changes takes the changes of {top} along, which is on {head[:7]}, not on {wanted.base}",
            field="start.base",
            value=wanted.base,
            fix="leave out --base or --with-changes",
        )
    left = leftovers.look(git.within(_LOOK_SECONDS), top).without_reports()
    changes, notes = _commit_changes(git, top, commit, left) if wanted.with_changes else (None, [])
    _keep(git, top, holder, changes or commit)
    named = [] if wanted.with_changes else list(left.paths[:_MOST_NAMED])
    return StartingPoint(
        commit=commit, branch=branch, changes=changes, uncommitted=named, note="; ".join(notes) or None
    )


def tidy(git: Git, directory: Path, holder: str, needed: Collection[str]) -> None:
    """Remove the refs that keep bases, but for those that unfinished work of this holder needs."""
    for ref in git.run(directory, "for-each-ref", "--format=%(refname)", f"{REFS}{holder}/").split():
        commit = ref.rpartition("/")[2]
        if commit not in needed:
            git.run(directory, "update-ref", "--no-deref", "-d", ref, commit)


def _checkout(repository: Repository, wanted: StartAt) -> Path:
    """The checkout that the caller is in, if it is one of the project's repository; else the project's own."""
    location = None if wanted.directory is None else locate(Path(wanted.directory).resolve())
    if location is None or location.common == repository.common:
        return location.top if location else repository.checkout
    if wanted.is_chosen:
        raise InvalidParams(
            f"{wanted.directory} is in the repository {location.top}, and the work is in {repository.checkout}",
            field="start.directory",
            value=wanted.directory,
            fix=f"run the command in {repository.checkout}: a base is a commit of the project's own repository",
        )
    return repository.checkout


def _require_head(git: Git, top: Path) -> str:
    head = git.ask(top, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
    if head is None:
        raise WorktreeError(
            f"{top} is on a branch without commits",
            value=str(top),
            fix=f"create one: git -C {top} commit --allow-empty -m start",
        )
    return head


def _branch(git: Git, top: Path) -> str | None:
    full = git.ask(top, "symbolic-ref", "--quiet", "HEAD")
    return full.removeprefix(BRANCHES) if full else None


def _resolve(git: Git, top: Path, name: str) -> tuple[str, str | None]:
    """The commit that a name refers to, and the branch or tag that it is a name of."""
    commit = None
    with suppress(GitFailed):  # git has more than one way to say that it does not understand a name
        if not _UNSAFE.search(name):
            commit = git.ask(top, "rev-parse", "--quiet", "--verify", f"{name}^{{commit}}")
    if commit is None:
        raise InvalidParams(
            f"{name!r} is no branch, tag or commit of {top}",
            field="start.base",
            value=name,
            fix=f"list the branches: git -C {top} branch --all",
        )
    full = git.ask(top, "rev-parse", "--symbolic-full-name", name) or ""
    if full == "HEAD":  # detached
        return commit, None
    prefix = next((prefix for prefix in _PREFIXES if full.startswith(prefix)), None)
    return commit, None if prefix is None else full.removeprefix(prefix)


def _commit_changes(git: Git, top: Path, head: str, left: leftovers.Leftovers) -> tuple[str | None, list[str]]:
    """A marked commit of the checkout's files on top of HEAD, and what is not in it; None if nothing has changed."""
    if git.run(top, "ls-files", "--unmerged"):
        raise WorktreeError(
            f"{top} has conflicts that are not resolved, so its changes cannot be taken along",
            value=str(top),
            fix="resolve them first, or leave out --with-changes",
        )
    notes = [f"not taken along, because it is a repository of its own: {path}" for path in left.nested]
    if not left.paths:
        return None, [*notes, f"{top} has no uncommitted changes"]
    for name, paths in leftovers.unfiltered(git, top, left.paths).items():
        notes.append(f"taken along without the filter {name}: {len(paths)} files")
    message = f"Uncommitted changes, taken along by Ramet\n\n{TRAILER}: {head}\n"
    files = leftovers.take(git, top, left).files
    return kept_work.commit_tree(git, top, files, [head], message), notes


def _keep(git: Git, top: Path, holder: str, commit: str) -> None:
    """Keep git from deleting a commit that only queued work needs."""
    git.run(top, "update-ref", "--no-deref", f"{REFS}{holder}/{commit}", commit)
