"""Requests and replies about attempts: their prompts, sessions and streams."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ramet.errors import AgentBusy, EffortHeld, EffortNotFound, LeaseLost, SessionNotFound, WorktreeBusy, WrongTask
from ramet.model.record.effort import StopRequest
from ramet.model.record.session import Session
from ramet.model.record.skill import Skill, SkillText
from ramet.model.work.stream import StreamEvent
from ramet.protocol.fields import Content, DriverName, Id, Name, Path, Text, TimeoutSeconds
from ramet.protocol.operation import Change, Operation, Request
from ramet.protocol.record.efforts import EffortReply, EffortRow
from ramet.protocol.work.leases import Generation, Instance


class Chain(Struct, frozen=True, kw_only=True):
    """An effort and the efforts that it is based on, nearest first, and its task's other reports."""

    project_path: str
    efforts: list[EffortRow]
    missing: list[int]
    """Efforts that the chain names and that no longer exist."""
    earlier: list[EffortRow]
    """Other finished efforts of the task that left a report."""
    skill: Skill | None = None
    """The effort's skill, unless it no longer exists."""
    skill_text: SkillText | None = None
    """What the skill's file says, if it has one."""


class WorkChain(Request[Chain], frozen=True, kw_only=True):
    """Show an effort, the efforts that it is based on, and its task's other reports."""

    op = Operation("work.chain", errors=(EffortNotFound,), ring="chain", is_long=True)

    effort_id: Id
    host: Name | None = None
    """The machine for which to return the project's path."""


class Prompt(Struct, frozen=True, kw_only=True):
    """The exact prompt for an agent."""

    prompt: str
    instruction: str
    """The effort's own part of the prompt, and the only part that `shell` runs."""
    context: str
    """The rest of the prompt, which `shell` gets on its standard input."""
    report_file: str | None
    cut: bool
    """Whether the context was shortened to fit `work.prompt_max_tokens`."""
    phase: str | None = None
    """The phase that the effort is in; null before it has entered one."""


class WorkPrompt(Request[Prompt], frozen=True, kw_only=True):
    """Show the exact prompt for an effort's agent, including the outputs of the effort's chain."""

    op = Operation("work.prompt", errors=(EffortNotFound,), host="machine", ring="chain")

    effort_id: Id


class Attempt(Struct, frozen=True, kw_only=True):
    """A started attempt: its session, and the effort as it is now."""

    session: Session
    effort: EffortReply


class BeginAttempt(Change[Attempt], frozen=True, kw_only=True):
    """Record the start of an attempt: its session, driver, worktree and prompt."""

    op = Operation(
        "work.begin",
        errors=(EffortNotFound, LeaseLost, WorktreeBusy, EffortHeld, AgentBusy, WrongTask),
        audience="internal",
    )

    effort_id: Id
    generation: Generation
    driver: DriverName
    profile: DriverName | None = None
    """The driver's profile, if it runs under another name."""
    agent_id: Name
    instance: Instance
    """The keeper that will run the agent."""
    prompt: Content
    model: Name | None = None
    native_id: Name | None = None
    """The vendor's id of the session, if Ramet chooses it or resumes it."""
    continues: bool = False
    """Whether the attempt continues the session that the effort names."""
    is_cut: bool = False
    """Whether the prompt was shortened to fit `work.prompt_max_tokens`."""
    timeout_seconds: TimeoutSeconds | None = None
    """How long the attempt may take, in seconds. A child of its session must fit into the time that is left."""
    worktree: Path | None = None
    git_branch: Name | None = None
    git_base: Name | None = None
    git_host: Name | None = None
    """The host whose clone has the branch, if several share the database."""


class Preparation(Struct, frozen=True, kw_only=True):
    """The effort whose worktree is being prepared."""

    effort_id: int


class NotePreparation(Change[Preparation], frozen=True, kw_only=True):
    """Record how the worktree of an attempt is prepared, so that commands can show it."""

    op = Operation("work.preparing", errors=(EffortNotFound, LeaseLost), audience="internal")

    effort_id: Id
    generation: Generation
    how: Literal["running", "reused", "skipped"]
    """running: the set-up command runs; reused: another worktree's folders were copied; skipped: a sandboxed agent has
    worked there, so the command does not run.
    """
    command: Text
    log: Path
    """The file that has the output of the command."""


class Reported(Struct, frozen=True, kw_only=True):
    """What has been recorded so far, and what the keeper must do."""

    seq: int
    """The number of the last event that is on disk."""
    is_current: bool
    """Whether the keeper's lease is still valid. If it is not, the keeper ends its agent."""
    is_renewed: bool
    """Whether the lease was renewed. A report without events always renews it, other reports when little is left."""
    stop: StopRequest | None = None
    is_child_alive: bool = False
    """Whether a descendant of the session is active. The session then waits, and is not silent."""


class ReportStream(Change[Reported], frozen=True, kw_only=True):
    """Record an agent's stream in its session, each event once, and renew the lease."""

    op = Operation("work.report", errors=(SessionNotFound,), audience="internal", locks_rows=True)

    session_id: Id
    instance: Instance
    seq: Annotated[int, Meta(ge=1)]
    """The number of the first event. Events that were reported before are skipped. If an earlier event is missing,
    nothing is recorded, and the reply says where to continue.
    """
    events: list[StreamEvent]
