"""`run.branches`: what the lines of a run left in git, ready to be merged."""

from collections.abc import Sequence

from ramet.errors import GitFailed
from ramet.model.record.effort import Lifecycle
from ramet.protocol.pages import follow
from ramet.protocol.record.efforts import EffortRow
from ramet.protocol.runs.branches import BranchConflict, LineBranch, ListRunBranches, RunBranches
from ramet.protocol.runs.runs import GetRun
from ramet.protocol.work.attempts import WorkChain
from ramet.protocol.work.queue import ListWork
from ramet.runner.answers import answers
from ramet.runner.machine import Machine
from ramet.workspace.git import merges
from ramet.workspace.git.merges import Tip
from ramet.workspace.git.repository import Repository, find


@answers(ListRunBranches)
def list_branches(machine: Machine, request: ListRunBranches) -> RunBranches:
    """The operation `run.branches`."""
    lines = [line for line in list_lines(machine, request.run_id) if line.git_branch is not None]
    if not lines:
        machine.ask(GetRun(run_id=request.run_id))  # which says so where there is none
        return RunBranches(branches=[], conflicts=[])
    chain = machine.ask(WorkChain(effort_id=lines[0].id, host=machine.host))
    repository = find(machine.git, chain.project_path)
    if repository is None:
        return RunBranches(branches=[], conflicts=[], note=f"{chain.project_path} is no longer in a git repository")
    merged = merges.are_merged(repository, {line.git_head for line in lines if line.git_head})
    unmerged = [line for line in lines if merged.get(line.git_head or "") is False]
    conflicts, note = _conflicts(repository, unmerged)
    inside = merges.contained(repository, {line.git_branch or "": line.git_head or "" for line in unmerged})
    branches = [
        _branch(line, is_merged=merged.get(line.git_head or ""), contained_in=inside.get(line.git_branch or ""))
        for line in lines
    ]
    return RunBranches(branches=branches, conflicts=conflicts, note=note)


def list_lines(machine: Machine, run_id: int, state: Lifecycle | None = None) -> list[EffortRow]:
    """The lines of a run, or those in one state, in their order."""
    pages = follow(machine.ask, ListWork(run=run_id, state=state, limit=machine.settings.limits.page_max))
    return sorted((line for page in pages for line in page.items), key=lambda line: (line.run_order or 0, line.id))


def _branch(line: EffortRow, *, is_merged: bool | None, contained_in: str | None) -> LineBranch:
    """The branch of a line. Whether it is merged is not known if its commits are not here."""
    return LineBranch(
        line=line.run_line or "",
        effort_id=line.id,
        branch=line.git_branch or "",
        base=line.git_base,
        head=line.git_head,
        files=line.changes.files if line.changes else [],
        is_merged=bool(is_merged),
        is_here=is_merged is not None or line.git_head is None,
        host=line.git_host,
        contained_in=contained_in,
    )


def _conflicts(repository: Repository, lines: Sequence[EffortRow]) -> tuple[list[BranchConflict], str | None]:
    """What conflicts between the branches; or why that is not known."""
    last = {line.git_branch: line for line in lines if line.git_branch}
    files: dict[str, set[str]] = {branch: set() for branch in last}
    for line in lines:
        files[line.git_branch or ""].update(line.changes.files if line.changes else [])
    tips = [Tip(branch, line.git_head or "", files[branch]) for branch, line in last.items()]
    try:
        clashes = merges.conflicts_between(repository, tips)
    except GitFailed as error:
        return [], f"{error.message}; {error.fix}"
    return [
        BranchConflict(
            lines=[last[branch].run_line or "" for branch in clash[:2]], branches=list(clash[:2]), files=clash.files
        )
        for clash in clashes
    ], None
