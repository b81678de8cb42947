"""Landed refs: the worktrees, branches and kept refs of its efforts, which go if another ref has all of them."""

from contextlib import suppress
from pathlib import Path

from ramet.errors import RametError
from ramet.protocol.landing.landings import LandingRow
from ramet.protocol.work.queue import GetWork
from ramet.runner.machine import Machine
from ramet.runner.settlement.kept_refs import list_users
from ramet.runner.settlement.worktrees import list_worktree_users
from ramet.workspace.git.repository import BRANCHES, find
from ramet.workspace.worktrees import inventory, kept_refs
from ramet.workspace.worktrees.kept_work import REFS
from ramet.workspace.worktrees.worktree import find_top


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
        top
        for effort_id in landing.efforts
        if (worktree := machine.ask(GetWork(effort_id=effort_id)).worktree) is not None
        and (top := find_top(machine.places.worktrees, worktree)) is not None
    }
    used = [Path(path) for path, _ in list_worktree_users(machine)]
    for top in tops:
        found = inventory.find_one(machine.git, top)
        is_used = any(path.is_relative_to(top) for path in used)
        if found.state == "idle" and not (is_used or found.uncommitted_files or found.unpushed_commits):
            inventory.remove(found)


def _delete_refs(machine: Machine, landing: LandingRow) -> list[str]:
    repository = find(machine.git, landing.directory)
    if repository is None:
        return []
    names = [landing.branch.rpartition("/")[2], *(f"e{effort_id}" for effort_id in landing.efforts)]
    own = tuple(f"{REFS}{name}-" for name in names)
    branches = {f"{BRANCHES}{landing.branch}", *(f"{BRANCHES}ramet/{name}" for name in names)}
    gone: list[str] = []
    with repository.locked():
        users = dict(list_users(machine))
        for ref in kept_refs.list_refs(repository, users, lambda name: name in branches or name.startswith(own)):
            is_gone = ref.container is not None and kept_refs.delete(repository, ref)
            gone += [ref.name] if is_gone else []
    return gone
