"""Worktrees: where agents work, outside the user's own checkout, each on a branch of ours.

A worktree is `FOLDER/<project>-<hash>/<name>` on the branch `ramet/<name>`. We make the names. Nothing that an agent
left is ever deleted here: an existing directory is used as it is; if it cannot be used, it is left alone and another
name is taken.
"""

import os
import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ramet.errors import CommitMissing, GitFailed, RametError, WorktreeError, WorktreeRefused
from ramet.model.record.effort import Changes
from ramet.workspace.files import reports
from ramet.workspace.git import changes as facts
from ramet.workspace.git import links
from ramet.workspace.git import merges as merging
from ramet.workspace.git.command import Git
from ramet.workspace.git.repository import (
    BRANCHES,
    Registered,
    Repository,
    find,
)
from ramet.workspace.worktrees import (
    branch_copies,
    includes,
    kept_work,
    labels,
    leftovers,
    repair,
    traps,
)
from ramet.workspace.worktrees.labels import BRANCH_PREFIX, Label

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_HASH = re.compile(r"[0-9a-f]{7,64}")
"""Names and hashes come from the database, in which any client may have written them."""

_SHOWN = 10
_FIX_FILTER = "worktree.git_filters does not allow it"
_FIX_DISK = "check that the disk has space and is writable; nothing was left behind"
_FIX_RECORD = "the effort's record has this name; queue a fresh copy with `ramet retry EFFORT`"


class Worktree(Struct, frozen=True, kw_only=True):
    """A worktree that an agent may work in."""

    path: str
    """The project's directory in it; the worktree's top, if the project is the whole repository."""
    branch: str
    base: str
    """The commit that it is on."""


class Finished(Struct, frozen=True, kw_only=True):
    """What came of the work in a worktree, as git has it."""

    head: str
    changes: Changes
    note: str | None = None
    """What a person should know: work that is not on the branch, and its place."""


def prepare(
    git: Git,
    folder: Path,
    project_path: str,
    name: str,
    start: str | None = None,
    *,
    owner: str | None = None,
    merges: Mapping[str, str] | None = None,
) -> Worktree | None:
    """The worktree of that name, created if it does not exist; None if the project is in no repository.

    A new branch starts at `start`, else at HEAD of the project's checkout. The commits `merges` are merged into it,
    each under its message. With an `owner`, worktrees of others are left alone and another name is taken; without one,
    the caller knows that the name is its own.
    """
    if not _NAME.fullmatch(name):
        raise WorktreeRefused(f"{name!r} is not a valid name for a worktree", value=name, fix=_FIX_RECORD)
    repository = find(git, project_path)
    if repository is None:
        return None
    place = labels.home(folder, project_path)
    try:
        place.mkdir(parents=True, exist_ok=True)
        with repository.locked():
            return _Making(repository, place, project_path, owner, merges or {}).open(name, start)
    except OSError as error:
        raise WorktreeError(
            f"a worktree cannot be created in {place}: {error.strerror or error}", fix=_FIX_DISK
        ) from error


def finish(git: Git, project_path: str, path: str, branch: str, base: str | None, message: str) -> Finished:
    """Commit what an agent left uncommitted, and say what came of its work. By then all that it started is gone."""
    repository = find(git, project_path)
    if repository is None:
        raise WorktreeError(f"{project_path} is no longer in a git repository", value=project_path)
    top = Path(path.removesuffix("/" + repository.prefix) if repository.prefix else path)
    if branch != BRANCH_PREFIX + top.name or labels.read(top.parent, top.name) is None or top.is_symlink():
        raise WorktreeError(f"Ramet did not create {top} for {branch}", value=path, fix=_FIX_RECORD)
    note: str | None = f"the worktree {top} was deleted, with its uncommitted changes"
    if top.is_dir():
        try:
            note = _collect(repository, top, branch, message)
            branch_copies.publish(repository, top)  # a child of the agent may still work there
        except (RametError, OSError) as error:
            note = f"the uncommitted changes are still in {top}: {error}"
    head = repository.commit(BRANCHES + branch)
    if head is None:
        raise WorktreeError(
            f"the branch {branch} no longer exists", value=branch, fix=f"see `git reflog` in {project_path}"
        )
    since = base if base and _HASH.fullmatch(base) else head
    return Finished(head=head, changes=facts.changes(repository, since, head), note=note)


def take_in(git: Git, project_path: str, folder: Path, path: str) -> None:
    """Move the branch of the worktree around a path to where a sandboxed agent left it, if that is one of ours."""
    if (top := find_top(folder, path)) is not None and (repository := find(git, project_path)) is not None:
        branch_copies.take(repository, top)


def find_top(folder: Path, path: str) -> Path | None:
    """The top of the worktree below `folder` that a path is in."""
    place = Path(path)
    parts = place.relative_to(folder).parts if place.is_relative_to(folder) else ()
    return folder.joinpath(*parts[:2]) if len(parts) > 1 else None


def head_of(git: Git, project_path: str, branch: str) -> str | None:
    """The commit that a branch is at; None if there is no such branch."""
    repository = find(git, project_path)
    return repository.commit(BRANCHES + branch) if repository else None


def _collect(repository: Repository, top: Path, branch: str, message: str) -> str | None:
    """Commit the remaining changes to the branch; if that is not possible, keep them elsewhere and say where."""
    git = repository.git
    traps.remove_of_repository(repository.common, top)
    traps.remove_of_worktree(top)
    _mend_link(repository, top)
    # Before anything asks where the branch is: a sandboxed agent has moved a copy of it.
    parted = branch_copies.take(repository, top)
    repair.put_locks_aside(repository, top, branch)
    astray = repair.rejoin(git, top, branch)
    if astray is not None:
        ref = kept_work.preserve(git, top)
        return f"{astray.why}; its work is kept as {ref}" if ref else astray.why
    left = leftovers.look(git, top).without_reports()
    notes = [f"not committed, because they are separate repositories: {', '.join(left.nested)}"] if left.nested else []
    if left.paths:
        _commit(git, top, branch, left, message)
        for name, paths in leftovers.unfiltered(git, top, left.paths).items():
            notes.append(f"committed without the filter {name} ({_FIX_FILTER}): {_few(paths)}")
    return "; ".join(notes) or parted


def _few(paths: list[str]) -> str:
    more = [f"{len(paths) - _SHOWN} more"] if len(paths) > _SHOWN else []
    return ", ".join([*(os.fsencode(path).decode(errors="backslashreplace") for path in paths[:_SHOWN]), *more])


def _commit(git: Git, top: Path, branch: str, left: leftovers.Leftovers, message: str) -> None:
    head = git.run(top, "rev-parse", "HEAD").strip()
    snapshot = leftovers.take(git, top, left)
    if snapshot.staged is not None:
        kept_work.keep(git, top, top.name, kept_work.commit_files(git, top, head, snapshot))
    commit = kept_work.commit_tree(git, top, snapshot.files, [head], message)
    git.run(top, "update-ref", "--no-deref", "-m", "ramet: uncommitted changes", BRANCHES + branch, commit, head)
    git.run(top, "reset", "--quiet")


def _mend_link(repository: Repository, top: Path) -> None:
    """The file `.git` leads from a worktree to its repository. Without it git would find another one, further up."""
    if not links.join(repository.common, top):
        raise WorktreeError(f"{top} is no longer a worktree: its .git is gone", value=str(top))


class _Making:
    """Makes one worktree, with the repository locked."""

    def __init__(
        self, repository: Repository, place: Path, project_path: str, owner: str | None, merges: Mapping[str, str]
    ) -> None:
        self._repository = repository
        self._git = repository.git
        self._place = place
        self._label = Label(owner=owner, project=project_path)
        self._merges = merges

    def open(self, name: str, start: str | None) -> Worktree:
        """Use the existing worktree; create it if there is none, or under another name if that cannot be used."""
        for known in self._known(name):
            if self._is_usable(known):
                return self._reuse(known) if (self._place / known).is_dir() else self._make(known, start)
            start = self._repository.commit(self._ref(known)) or start
        return self._make(self._find_free(name), start)

    def _known(self, name: str) -> list[str]:
        """The names that are the owner's, the latest first."""
        owner = self._label.owner
        if owner is None:
            return [name]
        labelled = labels.labelled(self._place)
        known = [candidate for candidate in labels.names(name) if candidate in labelled]
        return [candidate for candidate in reversed(known) if self._owner_of(candidate) == owner]

    def _owner_of(self, name: str) -> str | None:
        label = labels.read(self._place, name)
        return label.owner if label else None

    def _is_usable(self, name: str) -> bool:
        """Whether a name's directory is our worktree, or is not there and its branch is free to be checked out."""
        top = self._place / name
        registered = self._repository.registered(top)
        if registered is not None and self._is_half_made(name):
            self._tear_down(name)
            registered = None
        if registered is not None and registered.locked is not None:
            raise WorktreeRefused(
                f"the worktree {top} is locked: {registered.locked or 'no reason given'}",
                value=str(top),
                fix=f"if it is no longer needed, unlock it: git worktree unlock {top}",
            )
        if not os.path.lexists(top):
            if registered is not None:
                forget_vanished(self._repository, registered, name)
            return not self._repository.is_checked_out(BRANCH_PREFIX + name)
        return self._is_ours(top, registered)

    def _is_ours(self, top: Path, registered: Registered | None) -> bool:
        """Whether a directory is a worktree of this repository, even if it was moved here."""
        if top.is_symlink() or not top.is_dir():
            return False
        if registered is not None and (top / ".git").is_file():
            return True
        try:
            _mend_link(self._repository, top)
        except (GitFailed, WorktreeError):
            return False
        return self._repository.registered(top) is not None

    def _is_half_made(self, name: str) -> bool:
        label = labels.read(self._place, name)
        return label is not None and not label.is_ready

    def _find_free(self, name: str) -> str:
        taken = labels.labelled(self._place)
        for free in labels.names(name):
            is_free = free not in taken and not os.path.lexists(self._place / free)
            if is_free and not self._git.run(self._repository.checkout, "for-each-ref", self._ref(free)):
                return free
        raise WorktreeError(
            f"every name after {name} is taken in {self._place}", fix="remove old worktrees with `ramet worktree clean`"
        )

    def _reuse(self, name: str) -> Worktree:
        """Use a worktree as it was left, on its branch."""
        top, branch = self._place / name, BRANCH_PREFIX + name
        branch_copies.take(self._repository, top)
        astray = repair.rejoin(self._git, top, branch)
        if astray is not None and not astray.is_unfinished:
            kept_work.preserve(self._git, top)
            self._git.run(top, "checkout", "--quiet", branch, "--")
        return self._describe(name)

    def _make(self, name: str, start: str | None) -> Worktree:
        """All of it or nothing: what fails on the way is taken back."""
        top, ref = self._place / name, self._ref(name)
        is_new = self._repository.commit(ref) is None
        first = self._first_commit(start) if is_new else None
        label = replace(labels.read(self._place, name) or self._label, is_ready=False, prepared_for=None)
        try:
            labels.write(self._place, name, label)
            if first is not None:
                self._git.run(self._repository.checkout, "update-ref", "--no-deref", ref, first, "")
            self._add(top, BRANCH_PREFIX + name)
            merging.merge(self._git, top, {self._require(commit): said for commit, said in self._merges.items()})
            includes.copy(self._repository, top)
            worktree = self._describe(name)
            reports.prepare(worktree.path)
            labels.write(self._place, name, replace(label, is_ready=True))
        except BaseException as error:
            self._tear_down(name, first)
            if isinstance(error, GitFailed):
                raise WorktreeError(
                    f"the worktree {top} could not be created: {error.message}", fix=_FIX_DISK
                ) from error
            raise
        return worktree

    def _add(self, top: Path, branch: str) -> None:
        (self._repository.common / "worktrees").mkdir(exist_ok=True)  # git cannot make it through its view's link
        self._git.run(self._repository.checkout, "worktree", "add", "--quiet", "--", str(top), branch)
        links.join(self._repository.common, top)  # else the agent's git would find our view
        self._git.pass_on(self._repository.checkout, top)

    def _first_commit(self, start: str | None) -> str:
        if start is None:
            return self._repository.head
        return self._require(start)

    def _require(self, commit: str) -> str:
        found = self._repository.commit(commit) if _HASH.fullmatch(commit) else None
        if found is None:
            raise CommitMissing(
                f"the commit {commit} is not in {self._repository.checkout}",
                value=commit,
                fix="it was made on another machine: push it there and fetch it here",
            )
        return found

    def _describe(self, name: str) -> Worktree:
        top = self._place / name
        path = top / self._repository.prefix
        path.mkdir(exist_ok=True)
        head = self._git.run(top, "rev-parse", "HEAD").strip()
        return Worktree(path=str(path), branch=BRANCH_PREFIX + name, base=head)

    def _tear_down(self, name: str, made_at: str | None = None) -> None:
        """Remove what was created; no agent has been in it yet. A branch is deleted if we created it just now."""
        top, checkout = self._place / name, self._repository.checkout
        with suppress(GitFailed):
            if self._repository.registered(top) is not None:
                self._git.run(checkout, "worktree", "remove", "--force", "--force", "--", str(top))
        shutil.rmtree(top, ignore_errors=True)
        branch_copies.forget(top)
        if made_at is None:
            return  # the branch was there before, and so its label stays
        if self._repository.commit(self._ref(name)) == made_at:
            self._git.run(checkout, "update-ref", "--no-deref", "-d", self._ref(name), made_at)
        labels.remove(self._place, name)

    def _ref(self, name: str) -> str:
        return f"{BRANCHES}{BRANCH_PREFIX}{name}"


def forget_vanished(repository: Repository, registered: Registered, name: str) -> str | None:
    """Let git forget a worktree whose directory is gone. A commit that only its HEAD led to is kept."""
    head, ref = registered.head, None
    if head and registered.branch is None and kept_work.count_unpushed(repository.git, repository.checkout, head):
        ref = kept_work.keep(repository.git, repository.checkout, name, head)
    repository.git.run(repository.checkout, "worktree", "remove", "--force", "--", registered.path)
    return ref
