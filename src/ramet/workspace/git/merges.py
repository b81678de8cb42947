"""Merging the branches of a run: for a line that needs the work of several others, and to predict conflicts.

git does it, in a fresh worktree, or without one. A merge that conflicts leaves nothing behind.
"""

import itertools
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ramet.errors import GitFailed, MergeConflict
from ramet.workspace.git.command import Git
from ramet.workspace.git.repository import Repository

_MERGE = ("merge", "--no-ff", "--no-edit", "--no-log", "--quiet", "--no-verify-signatures", "--no-rerere-autoupdate")
_FORETELL = ("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z")
_PLAIN = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")
_FORETELLS = (2, 38)
"""The first git that merges without a worktree."""
_MOST_PAIRS = 2000
"""The most pairs of branches to compare, at some milliseconds each."""
_SHOWN = 10


class Tip(NamedTuple):
    """A branch, and the files that were changed on it."""

    branch: str
    head: str
    files: Collection[str]


class Clash(NamedTuple):
    """Two branches that conflict, and in which files."""

    one: str
    other: str
    files: list[str]


def merge(git: Git, top: Path, merges: Mapping[str, str]) -> None:
    """Merge commits into what a worktree is on, one after the other, each under its message; all of them or none."""
    if not merges:
        return
    began = git.run(top, "rev-parse", "HEAD").strip()
    somebody = git.identified(top)
    for commit, message in merges.items():
        try:
            somebody.run(top, *_MERGE, "-m", message, commit)
        except GitFailed as error:
            files = _readable(git.run(top, "diff", "--name-only", "--diff-filter=U", "-z", *_PLAIN).split("\0"))
            git.run(top, "reset", "--hard", "--quiet", began)
            if not files:
                raise
            raise MergeConflict(f"conflicts in {_show(files)}", value=commit) from error


def conflicts_between(repository: Repository, tips: Sequence[Tip]) -> list[Clash]:
    """Which of the branches conflict with each other, and in which files."""
    pairs = list(itertools.islice(_overlapping(tips), _MOST_PAIRS + 1))
    if not pairs:
        return []
    if len(pairs) > _MOST_PAIRS:
        raise GitFailed(
            f"more than {_MOST_PAIRS} pairs of branches change the same files", fix="merge some of them first"
        )
    looked_at = ((one, other, foretell(repository, one.head, other.head)) for one, other in pairs)
    return [Clash(one.branch, other.branch, files) for one, other, files in looked_at if files]


def foretell(repository: Repository, one: str, other: str) -> list[str]:
    """The files in which a merge of two commits would conflict."""
    try:
        is_clean, said = repository.git.judge(repository.checkout, *_FORETELL, one, other)
    except GitFailed:
        _require_foresight(repository)
        raise
    return [] if is_clean else _readable(said.split("\0")[1:])


def are_merged(repository: Repository, heads: Collection[str]) -> dict[str, bool]:
    """For each of the commits that are still there, whether it is part of what the project's checkout is on."""
    git, wanted = repository.git, "".join(f"{head}\n" for head in heads)
    found = git.run(repository.checkout, "cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=wanted)
    there = {line.removesuffix(" commit") for line in found.splitlines() if line.endswith(" commit")}
    apart = "\n".join([*there, f"^{repository.head}", ""])
    unmerged = set(git.run(repository.checkout, "rev-list", "--stdin", stdin=apart).split()) if there else set()
    return {head: head not in unmerged for head in heads if head in there}


def contained(repository: Repository, heads: Mapping[str, str]) -> dict[str, str]:
    """Which of the branches, given with their commits, another one has all of; and which one that is. Of two that are
    at the same commit it is the first.
    """
    wanted = "\n".join([*heads.values(), f"^{repository.head}", ""])
    listed = repository.git.run(repository.checkout, "rev-list", "--parents", "--stdin", stdin=wanted).splitlines()
    parents = {commit: before for commit, *before in map(str.split, listed)}
    inside: dict[str, list[str]] = {branch: [] for branch in heads}
    for number, (branch, head) in enumerate(heads.items()):
        reached = _reached(parents, head)
        for other_number, (other, other_head) in enumerate(heads.items()):
            if other_head in reached and (other_head != head or number < other_number):
                inside[other].append(branch)
    return {branch: next(each for each in around if not inside[each]) for branch, around in inside.items() if around}


def _reached(parents: Mapping[str, Sequence[str]], head: str) -> set[str]:
    """A commit and all before it, as far as they are listed."""
    reached: set[str] = set()
    ahead = [head]
    while ahead:
        commit = ahead.pop()
        if commit in parents and commit not in reached:
            reached.add(commit)
            ahead += parents[commit]
    return reached


def _overlapping(tips: Sequence[Tip]) -> Iterator[tuple[Tip, Tip]]:
    """The pairs that can conflict at all: one of them changed a file that the other changed, or made a folder of."""
    around = [set(_with_parents(tip.files)) for tip in tips]
    for one, other in itertools.combinations(range(len(tips)), 2):
        if not around[one].isdisjoint(tips[other].files) or not around[other].isdisjoint(tips[one].files):
            yield tips[one], tips[other]


def _with_parents(files: Iterable[str]) -> Iterator[str]:
    for file in files:
        yield file
        yield from map(str, PurePosixPath(file).parents)


def _require_foresight(repository: Repository) -> None:
    """If git is too old, say so, instead of git's own message."""
    said = repository.git.run(repository.checkout, "version")
    found = re.search(r"(\d+)\.(\d+)", said)
    if found and (int(found[1]), int(found[2])) < _FORETELLS:
        wanted = ".".join(map(str, _FORETELLS))
        raise GitFailed(f"git {found[0]} cannot predict which branches conflict", fix=f"install git {wanted} or newer")


def _show(files: Sequence[str]) -> str:
    more = [f"{len(files) - _SHOWN} more"] if len(files) > _SHOWN else []
    return ", ".join([*files[:_SHOWN], *more])


def _readable(paths: Iterable[str]) -> list[str]:
    """Each path once, as text."""
    return list(dict.fromkeys(os.fsencode(path).decode(errors="backslashreplace") for path in paths if path))
