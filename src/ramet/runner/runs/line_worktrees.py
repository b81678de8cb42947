"""Where a line of a run works.

The lines of a sequential run follow each other in one worktree. A line of a parallel run has its own, which begins
where the lines that it depends on ended: at the branch of the one, or at a merge of all of theirs; one that depends on
no other begins at the base of the run. A branch that somebody went on with by hand counts as it is now, so that a
conflict can be settled there.
"""

import itertools
from collections.abc import Mapping, Sequence
from contextlib import suppress

from ramet.errors import CommitMissing, EffortNotFound, GitFailed, MergeConflict, NoStart
from ramet.model.record.effort import NOT_FAILURES
from ramet.model.runs.run import Run
from ramet.protocol.record.efforts import EffortRow
from ramet.protocol.work.queue import GetWork
from ramet.runner.machine import Machine
from ramet.runner.project_files import starting_points
from ramet.runner.settlement.worktrees import owner_of, owner_of_run
from ramet.workspace.git import merges as merging
from ramet.workspace.git.repository import BRANCHES, Repository, find
from ramet.workspace.worktrees import worktree
from ramet.workspace.worktrees.worktree import Worktree


def place(machine: Machine, effort: EffortRow, run: Run, project: str) -> Worktree | None:
    """The worktree of a line that has not been in one; None where the project is in no repository."""
    git, folder = machine.git, machine.places.worktrees
    repository = find(git, project)
    if repository is None:
        return None
    if run.mode == "sequential":
        start = _last_head(machine, effort) or _base(machine, repository, run)
        return worktree.prepare(git, folder, project, f"r{run.id}", start, owner=owner_of_run(run))
    starts = _starts(repository, dependencies(machine, effort))
    first = next(iter(starts), None) or _base(machine, repository, run)
    merges = {head: f"Merge {_name(other)}" for head, other in starts.items() if head != first}
    try:
        return worktree.prepare(git, folder, project, f"e{effort.id}", first, owner=owner_of(effort), merges=merges)
    except MergeConflict as conflict:
        raise _explain(repository, starts, conflict) from conflict
    except CommitMissing as missing:
        other = starts.get(str(missing.value))
        if other is None or machine.host is None:
            raise
        raise starting_points.on_another_machine(
            missing.message, other.git_branch or "", run, other.git_host
        ) from missing


def _base(machine: Machine, repository: Repository, run: Run) -> str | None:
    """Where the lines start that start from no other."""
    return starting_points.require_in(repository, run, run, machine.host)


def dependencies(machine: Machine, effort: EffortRow) -> list[EffortRow]:
    """What a line depends on, in the order of the run, as far as it is still there."""
    found: list[EffortRow] = []
    for effort_id in effort.depends_on or []:
        with suppress(EffortNotFound):
            found.append(machine.ask(GetWork(effort_id=effort_id)))
    return sorted(found, key=lambda other: (other.run_order or 0, other.id))


def _last_head(machine: Machine, effort: EffortRow) -> str | None:
    """Where the lines before this one ended, for a worktree that is there no more, or not yet on this machine."""
    before: EffortRow | None = effort
    while before is not None:
        before = next(reversed(dependencies(machine, before)), None)  # the line just before it
        if before is not None and before.git_head is not None:
            return before.git_head
    return None


def _starts(repository: Repository, needed: Sequence[EffortRow]) -> dict[str, EffortRow]:
    """The commits to start from, the last line's first: it may have started from the others itself."""
    starts: dict[str, EffortRow] = {}
    for other in reversed(needed):
        head = _head(repository, other)
        if head is not None:
            starts.setdefault(head, other)
        elif other.outcome not in NOT_FAILURES:
            raise NoStart(f"line {other.run_line} ended with {other.outcome} and left no branch to start from")
    return starts


def _head(repository: Repository, other: EffortRow) -> str | None:
    """Where a line's branch is now. One that succeeded without any was done before the run, or changed no files."""
    branch = other.git_branch
    return (repository.commit(BRANCHES + branch) if branch else None) or other.git_head


def _explain(repository: Repository, starts: Mapping[str, EffortRow], conflict: MergeConflict) -> MergeConflict:
    """Say which lines conflict, and not which commits."""
    refused = str(conflict.value)
    before = list(itertools.takewhile(lambda head: head != refused, starts))
    blamed = before
    with suppress(GitFailed):
        blamed = [head for head in before if merging.foretell(repository, head, refused)] or before
    names = ", ".join(_name(starts[head]) for head in blamed)
    return MergeConflict(f"{_name(starts[refused])} cannot be merged with {names}: {conflict.message}")


def _name(other: EffortRow) -> str:
    return f"line {other.run_line} ({other.git_branch})"
