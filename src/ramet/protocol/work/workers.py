"""Requests and replies about running queued efforts."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from ramet.errors import ProjectNotFound
from ramet.model.runs.run import RunLimits
from ramet.protocol.fields import DriverName, Id, Name, ProjectRef
from ramet.protocol.operation import Operation, Request


class WorkDone(Struct, frozen=True, kw_only=True):
    """What the workers did."""

    finished: dict[str, int]
    """How many efforts came to each outcome."""
    why: Literal["idle", "stopped", "daemon_stopping"]


class RunWork(Request[WorkDone], frozen=True, kw_only=True):
    """Let the daemon claim and run efforts while the connection stays. Answers when they are done."""

    op = Operation("work.run", errors=(ProjectNotFound,), host="daemon")

    workers: Annotated[int, Meta(ge=1, le=1000)] = 1
    once: bool = False
    """Answer when nothing is left to run, instead of waiting for more."""
    effort_ids: list[Id] | None = None
    run: Id | None = None
    """Attend this run, and work on its lines."""
    is_forced: bool = False
    content_hash: Name | None = None
    retry_failed: bool = False
    limits: RunLimits | None = None
    """What the run may use from now on; a bound that is None stays as it is."""
    shift: Name | None = None
    """What `work.stop` may call this work; whoever asks for it chooses."""
    project: ProjectRef | None = None
    driver: DriverName | None = None
    """For efforts that name none."""
    environment: dict[str, str] = field(default_factory=dict)
    """The caller's environment, of which agents see what `work.environment` allows. It is kept in memory alone."""
    settings: dict[str, str] = field(default_factory=dict)
    """Configuration keys that the caller set by flag."""


class StopWork(Request[WorkDone], frozen=True, kw_only=True):
    """Let the daemon claim no more; what runs goes on to its end.

    Without a name, everything that the daemon works on.
    """

    op = Operation("work.stop", host="daemon")

    run: Id | None = None
    """Only the work on this run."""
    shift: Name | None = None
    """Only the work of this name."""
