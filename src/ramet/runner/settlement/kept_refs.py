"""`worktree.tidy`: the refs that Ramet left in repositories, without those that add nothing to the others."""

from collections.abc import Iterator
from pathlib import Path

from ramet.errors import EffortNotFound, RametError
from ramet.protocol.record.efforts import EffortRow
from ramet.protocol.replies import Page
from ramet.protocol.work.queue import GetWork
from ramet.protocol.work.worktrees import TidiedRef, TidyRefs
from ramet.runner.answers import answers
from ramet.runner.machine import Machine
from ramet.runner.settlement.worktrees import list_unfinished, project_paths
from ramet.workspace.git.repository import Repository, find
from ramet.workspace.worktrees import kept_refs


@answers(TidyRefs)
def tidy(machine: Machine, request: TidyRefs) -> Page[TidiedRef]:
    """The operation `worktree.tidy`."""
    users = dict(list_users(machine))
    items: list[TidiedRef] = []
    seen: set[Path] = set()
    for path in project_paths(machine, request.project):
        repository = _find(machine, path)
        if repository is None or repository.common in seen:
            continue
        seen.add(repository.common)
        with repository.locked():
            for ref in kept_refs.list_refs(repository, users):
                is_gone = ref.container is not None and (request.dry_run or kept_refs.delete(repository, ref))
                reason = ref.reason if is_gone or ref.container is None else "it changed meanwhile"
                row = TidiedRef(ref=ref.name, commit=ref.commit, project=path, removed=is_gone, reason=reason)
                items.append(row)
    return Page(items=items)


def _find(machine: Machine, path: str) -> Repository | None:
    """The repository of a project; None if it has none, or none that git can read."""
    try:
        return find(machine.git, path)
    except RametError:
        return None


def list_users(machine: Machine) -> Iterator[tuple[str, str]]:
    """The branches that unfinished efforts use or will continue from, and why each stays."""
    for state in ("active", "queued"):
        for effort in list_unfinished(machine, state):
            why = f"e{effort.id} still needs it"
            for row in (effort, _based(machine, effort)):
                if row is not None and row.git_branch is not None:
                    yield row.git_branch, why
            yield f"ramet/e{effort.id}", why


def _based(machine: Machine, effort: EffortRow) -> EffortRow | None:
    if effort.based_on is None:
        return None
    try:
        return machine.ask(GetWork(effort_id=effort.based_on))
    except EffortNotFound:
        return None
