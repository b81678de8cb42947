"""The commit at which new work starts, as it was recorded when the work was added."""

import hashlib
import os
from collections.abc import Sequence

from ramet.errors import CommitMissing, RametError, WorktreeRefused
from ramet.model.runs.run import Run
from ramet.protocol.record.efforts import EffortRow
from ramet.runner.machine import Machine
from ramet.workspace.git.repository import Repository, find

_SHOWN = 8


def holder(machine: Machine) -> str:
    """Whose bases a ref of ours keeps: another database may have efforts in the same repository."""
    return hashlib.sha256(os.fsencode(machine.places.home)).hexdigest()[:8]


def of(row: EffortRow | Run) -> str | None:
    """The commit: that of the uncommitted changes that were taken along, else the base itself."""
    return row.base_changes or row.base_commit


def require(machine: Machine, project: str, chain: Sequence[EffortRow], run: Run | None) -> str | None:
    """Where an effort starts, or else the nearest one of its chain that says so; None if none does."""
    row = next((row for row in chain if of(row)), None)
    repository = find(machine.git, project) if row else None
    if row is None or repository is None:
        return None
    return require_in(repository, row, run, machine.host)


def require_in(repository: Repository, row: EffortRow | Run, run: Run | None, host: str | None) -> str | None:
    """The commit, if this clone has it. Another machine may have it, if several share the queue."""
    commit = of(row)
    if commit is None or repository.commit(commit) is not None:
        return commit
    branch = row.base_branch or f"a branch with {commit[:_SHOWN]}"
    missing = f"the base {row.base_branch or ''} {commit[:_SHOWN]}".replace("  ", " ")
    missing = f"{missing} is not in {repository.checkout}"
    if host is not None:
        raise on_another_machine(missing, branch, run, None)
    again = "add the work again" if run is None else "start the run again"
    raise CommitMissing(
        f"{missing} any more", value=commit, fix=f"{again}: `--base REF` names another commit to start at"
    )


def on_another_machine(missing: str, branch: str, run: Run | None, host: str | None) -> RametError:
    """A commit may be in another machine's clone. Then that one should have the effort, and may yet; but the line of a
    run is for who attends the run, and fails.
    """
    fetch = f"it was made on {host or 'another machine'}: push {branch} there and fetch it here"
    if run is None:
        return CommitMissing(missing, fix=f"{fetch}, or let that machine run the effort")
    return WorktreeRefused(missing, fix=f"{fetch}; then `ramet run --resume r{run.id} --retry-failed`")
