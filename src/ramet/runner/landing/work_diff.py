"""`work.diff`: the code that an effort or a run has changed, as git has it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from ramet.errors import InvalidParams, RametError
from ramet.protocol.record.efforts import EffortRow
from ramet.protocol.runs.runs import GetRun
from ramet.protocol.work.attempts import WorkChain
from ramet.protocol.work.changes import BranchDiff, DiffWork, WorkDiff
from ramet.protocol.work.queue import GetWork
from ramet.runner.answers import answers
from ramet.runner.machine import Machine
from ramet.runner.project_files import starting_points
from ramet.runner.runs.branches import list_lines
from ramet.workspace.git import patches
from ramet.workspace.git.location import locate
from ramet.workspace.git.patches import Sides
from ramet.workspace.git.repository import Repository, find
from ramet.workspace.worktrees import labels, leftovers, worktree

_SECONDS = 60.0
_SHOWN = 8


class _Branch(NamedTuple):
    """The efforts that worked on one branch, in their order, and where the work on it started."""

    efforts: Sequence[EffortRow]
    base: str | None

    @property
    def last(self) -> EffortRow:
        return self.efforts[-1]

    @property
    def name(self) -> str | None:
        return self.last.git_branch

    @property
    def head(self) -> str | None:
        return next((row.git_head for row in reversed(self.efforts) if row.git_head), None)


@answers(DiffWork)
def diff_work(machine: Machine, request: DiffWork) -> WorkDiff:
    """The operation `work.diff`."""
    if (request.effort_id is None) == (request.run_id is None):
        raise InvalidParams(
            "give either effort_id or run_id",
            field="effort_id",
            value=request.effort_id,
            fix='{"effort_id": 6} is the change of an effort, {"run_id": 1} that of a run',
        )
    branches = list(_find_branches(machine, request))
    diffs: list[BranchDiff] = []
    if branches:
        site = _Site(machine, branches[0].last)
        left = request.max_bytes
        for branch in _outermost(site.repository, branches):
            diffs.append(site.compare(branch, left if request.has_patch else None))
            left -= len((diffs[-1].patch or "").encode())
    return WorkDiff(effort_id=request.effort_id, run_id=request.run_id, branches=diffs)


def _find_branches(machine: Machine, request: DiffWork) -> Iterator[_Branch]:
    if request.effort_id is not None:
        effort = machine.ask(GetWork(effort_id=request.effort_id))
        return iter([_Branch([effort], effort.git_base)])
    run = machine.ask(GetRun(run_id=request.run_id or 0))
    by_branch: dict[str, list[EffortRow]] = {}
    for line in list_lines(machine, run.id):
        if line.git_branch is not None:
            by_branch.setdefault(line.git_branch, []).append(line)
    start = starting_points.of(run)
    return (_Branch(lines, start or lines[0].git_base) for lines in by_branch.values())


def _outermost(repository: Repository | None, branches: Sequence[_Branch]) -> list[_Branch]:
    """The branches of a run without those that another one contains: their changes are shown with that one's."""
    heads = [branch.head for branch in branches if branch.head is not None]
    if repository is None or len(branches) < 2 or not all(map(repository.commit, heads)):
        return list(branches)
    outer = set(repository.git.run(repository.checkout, "merge-base", "--independent", *heads).split())
    shown: list[_Branch] = []
    for branch in branches:
        if branch.head in outer or branch.last.lifecycle == "active":
            outer.discard(branch.head or "")  # of two branches at the same commit, the first
            shown.append(branch)
    return shown


class _Site:
    """The repository on this machine in which the branches are compared."""

    def __init__(self, machine: Machine, effort: EffortRow) -> None:
        self._machine = machine
        self._git = machine.git.within(_SECONDS)
        self._project = machine.ask(WorkChain(effort_id=effort.id, host=machine.host)).project_path
        self.repository = find(self._git, self._project)

    def compare(self, branch: _Branch, most_bytes: int | None) -> BranchDiff:
        """What a branch changes. Of unfinished work it is the files of its worktree that are compared."""
        empty = BranchDiff(
            efforts=[row.id for row in branch.efforts], branch=branch.name, base=branch.base, head=branch.head
        )
        trouble = self._find_trouble(branch)
        if trouble is not None:
            return replace(empty, note=trouble)
        top = self._find_worktree(branch)
        if top is None:
            return self._fill(empty, Sides(self._checkout, branch.base or "", branch.head), most_bytes)
        left = leftovers.look(self._git, top).without_reports()
        with leftovers.named(self._git, top, left) as index:
            running = replace(empty, head=None, worktree=str(top))
            return self._fill(running, Sides(top, branch.base or "", None, index), most_bytes)

    @property
    def _checkout(self) -> Path:
        assert self.repository is not None  # noqa: S101  where there is none, nothing is compared
        return self.repository.checkout

    def _find_trouble(self, branch: _Branch) -> str | None:
        """Why there is nothing to compare."""
        effort = branch.last
        if branch.base is None:
            if effort.lifecycle == "queued":
                return f"e{effort.id} has not started"
            place = effort.workspace or self._project
            return f"e{effort.id} worked in {place}, without a branch of its own; see `git -C {place} status`"
        if self.repository is None:
            return f"{self._project} is no longer in a git repository"
        wanted = [branch.base, *([branch.head] if branch.head else [])]
        missing = next((commit for commit in wanted if self.repository.commit(commit) is None), None)
        if missing is not None:
            return self._say_elsewhere(effort, missing)
        if branch.head is None and self._find_worktree(branch) is None:
            return f"the worktree of e{effort.id} is not on this machine, and it has no commit yet"
        return None

    def _say_elsewhere(self, effort: EffortRow, missing: str) -> str:
        said = f"commit {missing[:_SHOWN]} of e{effort.id} is not in {self._project}"
        if self._machine.host is None:
            return f"{said} any more; `git -C {self._project} fsck --lost-found` may find it"
        has_it = f"{effort.git_host or 'another machine'} has it"
        return f"{said}: {has_it}; push {effort.git_branch or 'its branch'} there and fetch it here"

    def _find_worktree(self, branch: _Branch) -> Path | None:
        """The worktree of unfinished work, if it is here and still belongs to the repository."""
        effort = branch.last
        if effort.lifecycle == "finished" or effort.worktree is None or self.repository is None:
            return None
        top = worktree.find_top(self._machine.places.worktrees, effort.worktree)
        if top is None or not top.is_dir() or labels.read(top.parent, top.name) is None:
            return None
        location = locate(top)
        is_its = location is not None and location.top == top and location.common == self.repository.common
        return top if is_its else None

    def _fill(self, diff: BranchDiff, sides: Sides, most_bytes: int | None) -> BranchDiff:
        try:
            listed = patches.list_files(self._git, sides)
            patch = None if most_bytes is None else patches.read_patch(self._git, sides, most_bytes)
        except RametError as error:
            return replace(diff, note=f"{error.message}; {error.fix}")
        return replace(
            diff,
            files=listed.files,
            is_list_cut=listed.is_cut,
            insertions=sum(file.insertions or 0 for file in listed.files),
            deletions=sum(file.deletions or 0 for file in listed.files),
            patch=patch.text if patch else None,
            is_patch_cut=patch.is_cut if patch else False,
        )
