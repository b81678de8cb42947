"""Requests and replies about attempts: their prompt, their session, their stream."""

from typing import Annotated

from msgspec import Meta, Struct

from ramet.errors import AgentBusy, EffortHeld, EffortNotFound, LeaseLost, SessionNotFound, WorktreeBusy, WrongTask
from ramet.model.record.effort import StopRequest
from ramet.model.record.session import Session
from ramet.model.work.stream import StreamEvent
from ramet.protocol.fields import Content, DriverName, Id, Name, Path, TimeoutSeconds
from ramet.protocol.operation import Change, Operation, Request
from ramet.protocol.record.efforts import EffortReply, EffortRow
from ramet.protocol.work.leases import Generation, Instance


class Chain(Struct, frozen=True, kw_only=True):
    """An effort's ancestors by `based_on`, the nearest first, after the effort itself; what else the task has."""

    project_path: str
    efforts: list[EffortRow]
    missing: list[int]
    """What the chain names and nobody has any more."""
    earlier: list[EffortRow]
    """Other finished efforts of the task, which left a report."""


class WorkChain(Request[Chain], frozen=True, kw_only=True):
    """An effort, what it is based on, and the reports that its task has."""

    op = Operation("work.chain", errors=(EffortNotFound,), scope="session")

    effort_id: Id
    host: Name | None = None
    """Whose path of the project is meant."""


class Prompt(Struct, frozen=True, kw_only=True):
    """Exactly what the agent is given."""

    prompt: str
    instruction: str
    """The effort's own part of it; all that `shell` runs."""
    context: str
    """What stands around it; what `shell` gets on its standard input."""
    report_file: str | None
    cut: bool
    """Whether something had to be shortened to fit `work.prompt_max_tokens`."""


class WorkPrompt(Request[Prompt], frozen=True, kw_only=True):
    """Exactly what the agent is given: the effort's prompt, and what its chain produced."""

    op = Operation("work.prompt", errors=(EffortNotFound,), host="machine", scope="session")

    effort_id: Id


class Attempt(Struct, frozen=True, kw_only=True):
    """An attempt that may begin: its session, and the effort as it is now."""

    session: Session
    effort: EffortReply


class BeginAttempt(Change[Attempt], frozen=True, kw_only=True):
    """Record that an attempt begins: its session, driver, worktree and prompt."""

    op = Operation(
        "work.begin",
        errors=(EffortNotFound, LeaseLost, WorktreeBusy, EffortHeld, AgentBusy, WrongTask),
        audience="internal",
    )

    effort_id: Id
    generation: Generation
    driver: DriverName
    profile: DriverName | None = None
    """The driver's profile, where it is run under another name."""
    agent_id: Name
    instance: Instance
    """The keeper that will hold the agent."""
    prompt: Content
    model: Name | None = None
    native_id: Name | None = None
    """The vendor's id, where we choose it or go on with it."""
    continues: bool = False
    """Whether the attempt goes on with the session that the effort names."""
    is_cut: bool = False
    """Whether the prompt was shortened to fit `work.prompt_max_tokens`."""
    timeout_seconds: TimeoutSeconds | None = None
    """How long the attempt may take; a child of its session has to fit into what is left of it."""
    worktree: Path | None = None
    git_branch: Name | None = None
    git_base: Name | None = None


class Reported(Struct, frozen=True, kw_only=True):
    """What has been written so far, and what the keeper should know."""

    seq: int
    """The number of the last event that is on disk."""
    is_current: bool
    """Whether the reporter's lease is still the effort's; one whose lease is gone ends its agent."""
    is_renewed: bool
    """Whether the whole lease is left again. A report without events always renews it, others when it is low."""
    stop: StopRequest | None = None
    is_child_alive: bool = False
    """Whether a session below this one has given a sign of life: its parent is not silent, but waits."""


class ReportStream(Change[Reported], frozen=True, kw_only=True):
    """Write what an agent said and did into its session; each number once. It renews the lease."""

    op = Operation("work.report", errors=(SessionNotFound,), audience="internal", locks_rows=True)

    session_id: Id
    instance: Instance
    seq: Annotated[int, Meta(ge=1)]
    """The number of the first event. Those that were reported before are skipped; where one before it is missing,
    nothing is written, and the reply says from where to go on.
    """
    events: list[StreamEvent]
