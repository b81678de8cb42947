"""Requests and replies about efforts and their phases."""

from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from ramet.errors import (
    AgentBusy,
    EffortFinished,
    EffortHeld,
    EffortNotFound,
    Forbidden,
    InvalidProof,
    PhaseNotSequential,
    SessionEnded,
    SessionNotFound,
    TaskNotFound,
    UnknownPhase,
    UnknownSkill,
    WrongTask,
)
from ramet.model.record.effort import Changes, Check, Effort, Failure, Lifecycle, Outcome, StopRequest
from ramet.model.record.phase import PhaseRecord
from ramet.model.record.session import RefusedCall
from ramet.model.row_parts import parts_of
from ramet.protocol.fields import Id, Name, Path, SessionId, Text
from ramet.protocol.operation import Change, Operation, Pages, Request
from ramet.protocol.pages import Cursor, Limit
from ramet.protocol.replies import Page


class EffortRow(Struct, frozen=True, kw_only=True):
    """One row of `efforts`."""

    # The columns of the model's `Effort` and its parts, flat and in the order of the table; a test compares the two.
    id: int
    task_id: str
    skill: str
    mode: str | None
    ordinal: int
    lifecycle: Lifecycle
    current_phase: str | None
    discovered_directives: list[str] | None
    discovered_directories: list[str] | None
    metadata: dict[str, Any] | None
    created_at: datetime
    finished_at: datetime | None
    outcome: Outcome | None
    reason: str | None
    prompt: str | None
    based_on: int | None
    depends_on: list[int] | None
    driver: str | None
    model: str | None
    priority: int
    timeout_seconds: int | None
    report_file: str | None
    output_content: str | None
    worktree: str | None
    git_branch: str | None
    git_base: str | None
    git_head: str | None
    attempts: int
    retry_of: int | None
    run_id: int | None
    run_line: str | None
    run_order: int | None
    run_agent: str | None
    lease_owner: str | None
    lease_generation: int
    lease_expires_at: datetime | None
    usage: dict[str, Any] | None
    failure: Failure | None
    not_before: datetime | None
    continues_session_id: int | None
    agent_failures: int
    host_failures: int
    stop_request: StopRequest | None
    changes: Changes | None
    spawned_by: int | None
    awaited_by: int | None
    workspace: str | None
    base_commit: str | None
    base_branch: str | None
    base_changes: str | None
    accepts_no_change: bool
    avoid_host: str | None = None
    git_host: str | None = None


def nest(row: EffortRow) -> Effort:
    """The effort of a row, for the rules of the model."""
    columns = asdict(row)
    parts = {name: [columns[column] for column in inner] for name, inner in parts_of(Effort).items()}
    return msgspec.convert(columns | parts, Effort)


class EffortReply(EffortRow, frozen=True, kw_only=True):
    """An effort and the prefix of its files. `already` is true if the request changed nothing."""

    artifact_prefix: str
    already: bool = False


class StartEffort(Change[EffortReply], frozen=True, kw_only=True):
    """Start an effort by applying a skill to a task. If a session is given, it continues with the new effort."""

    op = Operation(
        "db.effort.start", errors=(TaskNotFound, UnknownSkill, SessionNotFound, SessionEnded, WrongTask, AgentBusy)
    )

    task_id: Path
    skill: Name
    mode: Name | None = None
    metadata: dict[str, Any] | None = None
    session_id: SessionId | None = None


class FinishEffort(Change[EffortReply], frozen=True, kw_only=True):
    """Finish an effort with an outcome, and release its agent. Finishing it again changes nothing."""

    op = Operation("db.effort.finish", errors=(EffortNotFound, EffortHeld))

    effort_id: Id
    keywords: Text | None = None
    outcome: Outcome = "success"


class PhaseReply(EffortReply, frozen=True, kw_only=True):
    """An effort after `db.effort.phase`. `recorded` is null if the effort was already in that phase."""

    recorded: PhaseRecord | None
    next_phase: str | None = None
    """The label of the phase that follows; None behind the last."""


class EnterPhase(Change[PhaseReply], frozen=True, kw_only=True):
    """Enter a phase of the effort's skill, with its proof. Entering the same phase again changes nothing. An agent can
    only enter phases of its own effort.
    """

    op = Operation(
        "db.effort.phase",
        errors=(
            EffortNotFound,
            EffortFinished,
            SessionNotFound,
            UnknownPhase,
            PhaseNotSequential,
            InvalidProof,
            Forbidden,
        ),
        ring="own",
    )

    effort_id: Id | None
    """The effort; null for the one that the session works on."""
    label: Name
    session_id: SessionId | None = None
    """The session, if no effort is given (default: the session of the connection's token)."""
    proof: dict[str, Any] | None = None
    reason: Text | None = None


class EffortDetail(EffortReply, frozen=True, kw_only=True):
    """An effort, its holder, the phases that it has entered and the calls that were refused to its agents."""

    holder: str | None
    phases: list[PhaseRecord]
    refused: int = 0
    """How many calls were refused."""
    refused_calls: list[RefusedCall] = []
    """The first of them, with the rules that would allow them."""


class GetEffort(Request[EffortDetail], frozen=True, kw_only=True):
    """Show an effort, its holder and the phases that it has entered."""

    op = Operation("db.effort.get", errors=(EffortNotFound,), ring="chain")

    effort_id: Id


class ListEfforts(Request[Page[EffortReply]], frozen=True, kw_only=True):
    """List the efforts of a task by ordinal."""

    op = Operation("db.effort.list", errors=(TaskNotFound,), is_long=True, pages=Pages())

    task_id: Path
    limit: Limit | None = None
    cursor: Cursor | None = None


class Validation(Struct, frozen=True, kw_only=True):
    """The result of `db.effort.validate`."""

    effort_id: int
    passed: bool
    checks: list[Check]


class ValidateEffort(Request[Validation], frozen=True, kw_only=True):
    """Check whether an effort's record is complete. Each check passes or fails."""

    op = Operation("db.effort.validate", errors=(EffortNotFound,), host="machine")

    effort_id: Id


class CheckRecord(Request[Validation], frozen=True, kw_only=True):
    """Run the checks of `db.effort.validate` that need only the database."""

    op = Operation("db.effort.checks", errors=(EffortNotFound,), audience="internal")

    effort_id: Id
