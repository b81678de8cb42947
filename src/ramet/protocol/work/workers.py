"""Requests and replies about running queued efforts."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from ramet.errors import ProjectNotFound
from ramet.model.runs.run import RunLimits
from ramet.protocol.fields import DriverName, Id, Name, ProjectRef
from ramet.protocol.history.commits import BranchName
from ramet.protocol.operation import Operation, Request


class WorkDone(Struct, frozen=True, kw_only=True):
    """How many efforts finished, and why the work ended."""

    finished: dict[str, int]
    """The number of efforts with each outcome."""
    why: Literal["idle", "stopped", "host_parked", "daemon_stopping"]


class RunWork(Request[WorkDone], frozen=True, kw_only=True):
    """Run queued efforts in the daemon while the connection is open. Returns when they are done."""

    op = Operation("work.run", errors=(ProjectNotFound,), host="daemon")

    workers: Annotated[int, Meta(ge=1, le=1000)] = 1
    once: bool = False
    """Whether to return when nothing is left to run, instead of waiting for more."""
    effort_ids: list[Id] | None = None
    run: Id | None = None
    """The run to attend: only its lines are run."""
    is_forced: bool = False
    content_hash: Name | None = None
    retry_failed: bool = False
    keep_going: bool = False
    """Whether a line of the run starts even if one that it depends on did not succeed."""
    accept_no_change: bool = False
    """Whether lines of the run that end with `no_change` satisfy their dependents."""
    limits: RunLimits | None = None
    """The run's limits from now on; a limit of None is left unchanged."""
    branch: BranchName | None = None
    """Continue the run's conversation on this branch, such as a fork of the run's own."""
    shift: Name | None = None
    """A name for this work, chosen by the caller, with which `work.stop` can stop it."""
    project: ProjectRef | None = None
    driver: DriverName | None = None
    """The driver for efforts that name none."""
    environment: dict[str, str] = field(default_factory=dict)
    """The caller's environment. Agents see the part that `work.environment` allows. It is kept only in memory."""
    settings: dict[str, str] = field(default_factory=dict)
    """Configuration keys that the caller set by flags."""


class StopWork(Request[WorkDone], frozen=True, kw_only=True):
    """Stop claiming efforts, and let running ones finish. Without a run or a name, stop all work of the daemon."""

    op = Operation("work.stop", host="daemon")

    run: Id | None = None
    """Stop only the work on this run."""
    shift: Name | None = None
    """Stop only the work of this name."""
