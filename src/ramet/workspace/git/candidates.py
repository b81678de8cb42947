"""Candidates: the commits that a target may move to, made of its tip and a branch without a worktree.

git merges trees in its object store, so no agent and no check sees it, and nothing that runs later can change a
candidate: it is named by its hash. A conflict makes no commit.

git 2.39 takes the base of a merge only from the commits that it is given. Where another base is wanted, one side is put
on top of that base first, in a commit that no ref ever has.
"""

import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from ramet.errors import WorktreeError
from ramet.workspace.git.command import Git

_MERGE = ("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z")
_SIGNATURE = re.compile(rb"^(?:gpgsig|gpgsig-sha256|mergetag) .*\n(?: .*\n)*", re.MULTILINE)


class Conflict(NamedTuple):
    """A merge that cannot be made, and the files that keep it from being made."""

    files: list[str]


class Candidate(NamedTuple):
    """A commit that the target may move to."""

    commit: str


class Work(NamedTuple):
    """What is to land."""

    head: str
    left_out: Collection[str]
    """Commits below the head that do not land."""
    message: str


def build(
    git: Git, directory: Path, tip: str, work: Work, method: Literal["merge", "squash", "rebase"]
) -> Candidate | Conflict:
    """The candidate for a branch on top of the target's tip. It is the tip itself if that has all of the branch."""
    if contains(git, directory, tip, work.head):
        return Candidate(tip)
    git = git.identified(directory)
    head = _leave_out(git, directory, work)
    if isinstance(head, Conflict):
        return head
    if method == "rebase":
        return replay(git, directory, _list_commits(git, directory, head, tip), tip)
    tree = merge_trees(git, directory, tip, head)
    if isinstance(tree, Conflict):
        return tree
    if method == "squash" and tree == _tree(git, directory, tip):
        return Candidate(tip)
    parents = [tip, head] if method == "merge" else [tip]
    return Candidate(_commit(git, directory, tree, parents, work.message))


def revert(git: Git, directory: Path, tip: str, landed: str, before: str, message: str) -> Candidate | Conflict:
    """The candidate that takes back what a landing changed: from `before` to `landed`, however many commits it was."""
    git = git.identified(directory)
    backwards = _commit(git, directory, _tree(git, directory, before), [landed], "Take back a landing\n")
    tree = merge_trees(git, directory, tip, backwards)
    if isinstance(tree, Conflict):
        return tree
    if tree == _tree(git, directory, tip):
        return Candidate(tip)
    return Candidate(_commit(git, directory, tree, [tip], message))


def replay(git: Git, directory: Path, commits: Sequence[str], onto: str) -> Candidate | Conflict:
    """Each commit again, on top of another one, with its author and message. Those that change nothing are left out."""
    for commit in commits:
        parents = _parents(git, directory, commit)
        if len(parents) != 1:
            raise WorktreeError(
                f"{commit[:8]} is a merge, which cannot be replayed",
                value=commit,
                fix="land it with --merge or --squash; without a marked commit of uncommitted changes",
            )
        ours = _commit(git, directory, _tree(git, directory, onto), parents, "Ours\n")
        tree = merge_trees(git, directory, ours, commit)
        if isinstance(tree, Conflict):
            return tree
        if tree != _tree(git, directory, onto):
            onto = _rewrite(git, directory, commit, tree, onto)
    return Candidate(onto)


def merge_trees(git: Git, directory: Path, one: str, other: str) -> str | Conflict:
    """The tree of a merge of two commits."""
    is_clean, said = git.judge(directory, *_MERGE, one, other)
    tree, *files = said.split("\0")
    if is_clean:
        return tree.strip()
    return Conflict(list(dict.fromkeys(_readable(file) for file in files if file)))


def contains(git: Git, directory: Path, commit: str, other: str) -> bool:
    """Whether a commit has all of another one's history."""
    return git.ask(directory, "merge-base", "--is-ancestor", other, commit) is not None


def _leave_out(git: Git, directory: Path, work: Work) -> str | Conflict:
    """The head without the commits that do not land: what lies above the last of them is put below it."""
    for marked in work.left_out:
        if not contains(git, directory, work.head, marked):
            continue
        below = _parents(git, directory, marked)[0]  # it was put on top of a commit of the user's
        made = replay(git, directory, _list_commits(git, directory, work.head, marked), below)
        return made if isinstance(made, Conflict) else made.commit
    return work.head


def _list_commits(git: Git, directory: Path, head: str, without: str) -> list[str]:
    listed = git.run(directory, "rev-list", "--reverse", "--topo-order", head, f"^{without}")
    return listed.split()


def _parents(git: Git, directory: Path, commit: str) -> list[str]:
    return git.run(directory, "rev-list", "--parents", "--max-count=1", commit).split()[1:]


def _tree(git: Git, directory: Path, commit: str) -> str:
    return git.run(directory, "rev-parse", f"{commit}^{{tree}}").strip()


def _commit(git: Git, directory: Path, tree: str, parents: Sequence[str], message: str) -> str:
    flags = [part for parent in parents for part in ("-p", parent)]
    return git.run(directory, "commit-tree", tree, *flags, stdin=message).strip()


def _rewrite(git: Git, directory: Path, commit: str, tree: str, parent: str) -> str:
    """The same commit with another tree and parent. Its signature would no longer be valid."""
    content = os.fsencode(git.run(directory, "cat-file", "commit", commit))
    head, _, message = content.partition(b"\n\n")
    lines = _SIGNATURE.sub(b"", head + b"\n").splitlines()
    kept = [line for line in lines if not line.startswith((b"tree ", b"parent ", b"committer "))]
    made = git.run(directory, "var", "GIT_COMMITTER_IDENT").strip()
    first = [b"tree " + tree.encode(), b"parent " + parent.encode()]
    text = b"\n".join([*first, *kept[:1], b"committer " + os.fsencode(made), *kept[1:]]) + b"\n\n" + message
    return git.run(directory, "hash-object", "-t", "commit", "-w", "--stdin", stdin=os.fsdecode(text)).strip()


def _readable(path: str) -> str:
    return os.fsencode(path).decode(errors="backslashreplace")
