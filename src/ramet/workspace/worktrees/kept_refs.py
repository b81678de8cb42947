"""Refs that Ramet left in a repository, `ramet/…` branches and `refs/ramet/kept/…`: which of them add nothing.

A ref adds nothing if another ref that stays has all of its commits. Only such a ref is ever deleted, in one transaction
of git's that fails if the other one has moved meanwhile.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ramet.errors import GitFailed
from ramet.workspace.git.repository import BRANCHES, Repository
from ramet.workspace.worktrees.kept_work import REFS
from ramet.workspace.worktrees.labels import BRANCH_PREFIX

_PLACES = (BRANCHES, "refs/remotes/", "refs/tags/", REFS)
_FORMAT = "--format=%(refname) %(objectname) %(symref)"


class Ref(NamedTuple):
    """A ref that Ramet left, and what becomes of it."""

    name: str
    commit: str
    container: str | None
    """The ref that has all of its commits; None if none does, or if it stays for another reason."""
    reason: str


def list_refs(
    repository: Repository, users: Mapping[str, str], is_wanted: Callable[[str], bool] = lambda _: True
) -> list[Ref]:
    """Every ref that Ramet left, or those that are wanted. `users` says of branches in use who uses them."""
    refs = _read(repository)
    held = {found.branch: f"{found.path} is on it" for found in repository.worktrees() if found.branch}
    held |= {f"{BRANCHES}{branch}": user for branch, user in users.items()}
    gone: set[str] = set()
    found = []
    ours = (f"{BRANCHES}{BRANCH_PREFIX}", REFS)
    for name in sorted(name for name in refs if name.startswith(ours) and is_wanted(name)):
        container = None if name in held else _find_container(repository, name, refs[name], gone)
        if container is not None:
            gone.add(name)
        reason = held.get(name) or (f"{container} has all of it" if container else "its work exists only here")
        found.append(Ref(name, refs[name], container, reason))
    return found


def delete(repository: Repository, ref: Ref) -> bool:
    """Delete a ref, if it and its container are still as they were; whether it is deleted."""
    refs = _read(repository)
    if ref.container is None or ref.container not in refs:
        return False
    steps = [
        *("option no-deref", f"verify {ref.container} {refs[ref.container]}"),
        *("option no-deref", f"delete {ref.name} {ref.commit}"),
    ]
    if repository.git.ask(repository.checkout, "merge-base", ref.commit, refs[ref.container]) != ref.commit:
        return False
    try:
        repository.git.run(repository.checkout, "update-ref", "--stdin", stdin="".join(f"{step}\n" for step in steps))
    except GitFailed:
        return False
    return True


def _read(repository: Repository, *options: str) -> dict[str, str]:
    """The refs and their hashes, without those that only stand for another ref."""
    said = repository.git.run(repository.checkout, "for-each-ref", _FORMAT, *options, *_PLACES)
    rows = (line.split(" ") for line in said.splitlines())
    return {name: commit for name, commit, stands_for in rows if not stands_for}


def _find_container(repository: Repository, name: str, commit: str, gone: set[str]) -> str | None:
    """A ref that has all commits of another one, the user's own first."""
    refs = _read(repository, f"--contains={commit}").keys() - {name} - gone
    return min(refs, key=lambda each: (each.startswith((f"{BRANCHES}{BRANCH_PREFIX}", REFS)), each), default=None)
