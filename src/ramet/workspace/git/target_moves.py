"""Moving a branch of the user's, and nothing else of theirs.

The branch moves by compare-and-swap. If it is checked out somewhere, that checkout moves with it, by git's own rules
for files that have changed; a checkout with changes, or in the middle of a merge or a rebase, is not touched, and the
branch does not move.
"""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from ramet.errors import GitFailed, WorktreeError
from ramet.workspace.git.location import locate, read_small
from ramet.workspace.git.repository import BRANCHES, Registered, Repository

_UNFINISHED = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "BISECT_LOG": "a bisection",
}
_FAST_FORWARD = ("merge", "--ff-only", "--no-overwrite-ignore", "--quiet", "--no-verify-signatures")
_SHOWN = 5
_HEAD_BYTES = 4096


def require_free(repository: Repository, target: str, tip: str, commit: str) -> None:
    """Refuse if the target cannot move to a commit now, because a checkout of it must not be touched."""
    for checkout in _list_checkouts(repository):
        top = Path(checkout.path)
        if _is_rebasing(top, target):
            raise _busy(top, f"{top} is in the middle of a rebase of {target}", "finish it or abort it")
        if checkout.branch == BRANCHES + target:
            _require_clean(repository, checkout, target)
            _require_room(repository, top, tip, commit)
            _require_filters(repository, top, tip, commit)


def move(repository: Repository, target: str, tip: str, commit: str, label: str) -> bool:
    """Move the target from its tip to a commit; False if it is no longer at that tip."""
    require_free(repository, target, tip, commit)
    if repository.commit(BRANCHES + target) != tip:
        return False
    checkouts = [each for each in _list_checkouts(repository) if each.branch == BRANCHES + target]
    try:
        if not checkouts:
            options = ("update-ref", "--no-deref", "-m", label, BRANCHES + target, commit, tip)
            repository.git.run(repository.checkout, *options)
        elif repository.git.ask(repository.checkout, "merge-base", "--is-ancestor", tip, commit) is not None:
            repository.git.run(checkouts[0].path, *_FAST_FORWARD, commit)
        else:
            _move_back(repository, checkouts[0].path, target, tip, commit)
    except GitFailed:
        if repository.commit(BRANCHES + target) in (tip, commit):
            raise
        return False
    return repository.commit(BRANCHES + target) == commit


def _move_back(repository: Repository, top: str, target: str, tip: str, commit: str) -> None:
    """Move back. A reset compares no hash: a commit that somebody made in the meantime is put back."""
    reset = ("reset", "--keep", "--quiet")
    repository.git.run(top, *reset, commit)
    former = repository.git.ask(top, "rev-parse", "--quiet", "--verify", f"{BRANCHES}{target}@{{1}}")
    if former not in (None, tip):
        repository.git.run(top, *reset, str(former))


def is_pushed(repository: Repository, commit: str) -> bool:
    """Whether a remote is known to have the commit."""
    listed = repository.git.run(
        repository.checkout, "for-each-ref", "--count=1", f"--contains={commit}", "--format=%(refname)", "refs/remotes/"
    )
    return bool(listed.strip())


def _list_checkouts(repository: Repository) -> Iterator[Registered]:
    """The checkouts that exist. git would show the folder of its view as the first one."""
    main, *linked = repository.worktrees()
    location = locate(repository.checkout)
    if location is not None and not location.is_linked:
        yield main._replace(path=str(location.top))
    elif repository.common.name == ".git":
        yield main._replace(path=str(repository.common.parent))
    yield from (each for each in linked if Path(each.path).is_dir())


def _require_clean(repository: Repository, checkout: Registered, target: str) -> None:
    top = Path(checkout.path)
    location = locate(top)
    if location is None:
        return
    for name, what in _UNFINISHED.items():
        if os.path.lexists(location.git_dir / name):
            raise _busy(top, f"{top} is on {target}, in the middle of {what}", "finish it or abort it")
    said = repository.git.run(
        top, "status", "--porcelain=v1", "-z", "--untracked-files=no", "--no-renames", "--ignore-submodules=dirty"
    )
    files = [entry[3:] for entry in said.split("\0") if entry]
    if files:
        raise _busy(
            top,
            f"{top} is on {target} and has uncommitted changes: {_few(files)}",
            f"commit or stash them: git -C {shlex.quote(str(top))} stash",
        )


def _require_room(repository: Repository, top: Path, tip: str, commit: str) -> None:
    """Refuse to write where the user has a file that git does not track. git would overwrite those that it ignores."""
    options = ("diff", "--name-only", "--no-renames", "-z", "--no-ext-diff", "--no-textconv")
    added, removed = (
        set(repository.git.run(repository.checkout, *options, f"--diff-filter={kind}", tip, commit, "--").split("\0"))
        for kind in "AD"
    )
    files = sorted({found for path in added - {""} for found in _list_at(top, path)} - removed)
    if files:
        raise _busy(top, f"{top} has untracked files in the way: {_few(files)}", "move them away")


def _list_at(top: Path, path: str) -> Iterator[str]:
    """The files that a checkout has where a file is to be written."""
    *folders, _ = path.split("/")
    for depth in range(1, len(folders) + 1):
        folder = "/".join(folders[:depth])
        if os.path.lexists(top / folder) and ((top / folder).is_symlink() or not (top / folder).is_dir()):
            yield folder
    if os.path.lexists(top / path) and ((top / path).is_symlink() or not (top / path).is_dir()):
        yield path
    for folder, _, names in os.walk(top / path):
        yield from (str(Path(folder, name).relative_to(top)) for name in names)


def _require_filters(repository: Repository, top: Path, tip: str, commit: str) -> None:
    """Refuse to write files into a checkout without a filter that its owner would expect, such as that of git-lfs."""
    names = repository.git.run(
        repository.checkout, "diff", "--name-only", "-z", "--no-ext-diff", "--no-textconv", tip, commit, "--"
    )
    said = repository.git.run(top, "check-attr", "-z", "--stdin", "filter", stdin=names)
    fields = said.split("\0")
    for path, name in zip(fields[::3], fields[2::3], strict=False):
        if name not in ("unspecified", "unset", "set", *repository.git.filters):
            raise _busy(
                top,
                f"{path} uses the content filter {name}, which worktree.git_filters does not allow",
                f"allow it: ramet config set worktree.git_filters '[{name}]'",
            )


def _is_rebasing(top: Path, target: str) -> bool:
    location = locate(top) if top.is_dir() else None
    return location is not None and any(name == BRANCHES + target for name in _read_heads(location.git_dir))


def _read_heads(git_dir: Path) -> Iterator[str]:
    for folder in ("rebase-merge", "rebase-apply"):
        yield os.fsdecode(read_small(git_dir / folder / "head-name", _HEAD_BYTES) or b"").strip()


def _busy(top: Path, message: str, fix: str) -> WorktreeError:
    return WorktreeError(message, value=str(top), fix=f"{fix}; then `ramet landings retry`")


def _few(files: list[str]) -> str:
    more = [f"{len(files) - _SHOWN} more"] if len(files) > _SHOWN else []
    shown = (os.fsencode(file).decode(errors="backslashreplace") for file in files[:_SHOWN])
    return ", ".join([*shown, *more])
