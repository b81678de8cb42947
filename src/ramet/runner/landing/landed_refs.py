"""Landed refs: the worktrees, branches and kept refs of its efforts, which go if another ref has all of them."""

from contextlib import suppress

from ramet.errors import RametError
from ramet.model.record.effort import Lifecycle
from ramet.protocol.landing.landings import LandingRow
from ramet.protocol.work.queue import GetWork
from ramet.protocol.work.worktrees import CleanWorktrees
from ramet.runner.machine import Machine
from ramet.runner.settlement import worktrees
from ramet.runner.settlement.kept_refs import list_users
from ramet.workspace.git.repository import BRANCHES, find
from ramet.workspace.worktrees import inventory, kept_refs
from ramet.workspace.worktrees.kept_work import REFS
from ramet.workspace.worktrees.worktree import find_top

_FINISHED: Lifecycle = "finished"


def tidy(machine: Machine, landing: LandingRow) -> list[str]:
    """Remove what the landing has made superfluous; the refs that are gone. Work that exists only there stays."""
    with suppress(RametError, OSError):
        _remove_worktrees(machine, landing)
    with suppress(RametError, OSError):
        return _delete_refs(machine, landing)
    return []


def _remove_worktrees(machine: Machine, landing: LandingRow) -> None:
    """Only those that have nothing of their own: neither uncommitted changes, nor commits that the target lacks."""
    tops = {
        str(top)
        for effort_id in landing.efforts
        if (worktree := machine.ask(GetWork(effort_id=effort_id)).worktree) is not None
        and (top := find_top(machine.places.worktrees, worktree)) is not None
    }
    found = inventory.list_all(machine.git, machine.places.worktrees, landing.directory) if tops else []
    empty = [
        str(each.top)
        for each in found
        if str(each.top) in tops and not (each.uncommitted_files or each.unpushed_commits)
    ]
    if empty:
        worktrees.clean(machine, CleanWorktrees(paths=empty))


def _delete_refs(machine: Machine, landing: LandingRow) -> list[str]:
    repository = find(machine.git, landing.directory)
    if repository is None:
        return []
    names = [landing.branch.rpartition("/")[2], *(f"e{effort_id}" for effort_id in landing.efforts)]
    own = tuple(f"{REFS}{name}-" for name in names)
    branches = {f"{BRANCHES}{landing.branch}", *(f"{BRANCHES}ramet/{name}" for name in names)}
    gone = []
    with repository.locked():
        for ref in kept_refs.list_refs(repository, dict(list_users(machine))):
            is_own = ref.name in branches or ref.name.startswith(own)
            if is_own and ref.container is not None and kept_refs.delete(repository, ref):
                gone.append(ref.name)
    return gone
