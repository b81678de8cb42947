"""Efforts: one skill applied to a task, moving through the skill's phases until it is finished."""

from typing import Any

from msgspec.structs import asdict

from ramet.engine import scopes
from ramet.engine.answers import answers
from ramet.engine.record import (
    lookup,
    sessions,
    skills,
)
from ramet.engine.transaction import Transaction
from ramet.errors import InvalidParams
from ramet.model.record.effort import Check, Effort
from ramet.model.record.phase import (
    Phase,
    PhaseRecord,
    check_proof,
    check_step,
    find_next,
    parse_phases,
    resolve,
)
from ramet.model.record.skill import artifact_prefix
from ramet.model.row_parts import flatten
from ramet.protocol.pages import cut
from ramet.protocol.record.efforts import (
    CheckRecord,
    EffortDetail,
    EffortReply,
    EnterPhase,
    GetEffort,
    ListEfforts,
    PhaseReply,
    StartEffort,
    Validation,
)
from ramet.protocol.replies import Page
from ramet.store.record import agents, efforts, refused_calls
from ramet.store.record import sessions as session_rows

_MOST_REFUSED = 100
"""How many refused calls are shown of an effort; all of them are counted."""


@answers(StartEffort)
def start(tx: Transaction, request: StartEffort) -> EffortReply:
    """The operation `db.effort.start`."""
    return reply(begin(tx, request))


def begin(tx: Transaction, request: StartEffort) -> Effort:
    """Apply a skill to a task; if a session is given, it and its agent continue with the new effort."""
    task_id, facts = lookup.task(tx, request.task_id)
    skills.require(tx, facts.project_id, request.skill)
    effort = efforts.start(
        tx.db,
        task_id=task_id,
        skill=request.skill,
        mode=request.mode,
        metadata=request.metadata,
        now=tx.now,
    )
    tx.record(
        "effort.started",
        project_id=facts.project_id,
        task_id=task_id,
        effort_id=effort.id,
        data={"skill": effort.skill, "ordinal": effort.ordinal},
    )
    if request.session_id is not None:
        sessions.bind(tx, lookup.open_session(tx, request.session_id), effort)
    return effort


@answers(EnterPhase)
def enter_phase(tx: Transaction, request: EnterPhase) -> PhaseReply:
    """Enter a phase of the effort's skill. The phase that it is in already is entered by doing nothing."""
    effort = _find_own(tx, request)
    lookup.require_unfinished(effort)
    phases = _phases(tx, effort)
    target = resolve(request.label, phases)
    if target.label == effort.current_phase:
        return _phase_reply(effort, None, phases)
    visited = [record.phase_label for record in efforts.list_phases(tx.db, effort.id)]
    check_step(effort.current_phase, target, phases, visited, request.reason)
    check_proof(request.proof, target)
    effort, record = efforts.enter_phase(tx.db, effort.id, target.label, request.proof, request.reason, tx.now)
    session_rows.reset_heartbeats(tx.db, effort.id, tx.now)
    tx.record(
        "effort.phase",
        task_id=effort.task_id,
        effort_id=effort.id,
        data={"label": target.label, "reason": request.reason},
    )
    return _phase_reply(effort, record, phases)


def _find_own(tx: Transaction, request: EnterPhase) -> Effort:
    """The effort that is named, else the one that the session works on."""
    if request.effort_id is None:
        ref = tx.asker if request.session_id is None else request.session_id
        if ref is None:
            raise InvalidParams("effort_id is missing", field="effort_id", fix="name the effort, or a session")
        effort = lookup.effort(tx, lookup.session(tx, ref).effort_id)
    else:
        effort = lookup.effort(tx, request.effort_id)
    scopes.require_own_effort(tx, effort)
    return effort


@answers(GetEffort)
def get(tx: Transaction, request: GetEffort) -> EffortDetail:
    """An effort, its holder, and the phases it went through."""
    effort = lookup.effort(tx, request.effort_id)
    return EffortDetail(
        **asdict(reply(effort)),
        holder=agents.find_holder(tx.db, effort.id),
        phases=efforts.list_phases(tx.db, effort.id),
        refused=refused_calls.count(tx.db, effort.id),
        refused_calls=refused_calls.list_of_effort(tx.db, effort.id, _MOST_REFUSED),
    )


@answers(ListEfforts)
def list_of_task(tx: Transaction, request: ListEfforts) -> Page[EffortReply]:
    """A task's efforts by their ordinal."""
    task_id, _ = lookup.task(tx, request.task_id)
    limit = request.limit or 2**31 - 1
    found = efforts.list_of_task(tx.db, task_id, after=request.cursor or 0, limit=limit + 1)
    return cut([reply(effort) for effort in found], limit, lambda effort: effort.ordinal)


@answers(CheckRecord)
def check_record(tx: Transaction, request: CheckRecord) -> Validation:
    """Whether an effort's record is complete, check by check."""
    effort = lookup.effort(tx, request.effort_id)
    phases = _phases(tx, effort)
    records = efforts.list_phases(tx.db, effort.id)
    checks = [
        _check_finished(effort),
        _check_phases(phases, records),
        _check_proofs(phases, records),
        _check_sessions(tx, effort),
    ]
    return Validation(effort_id=effort.id, passed=all(check.passed for check in checks), checks=checks)


def reply(effort: Effort, *, already: bool = False) -> EffortReply:
    """The row, with the prefix of its files."""
    return EffortReply(**show(effort), already=already)


def show(effort: Effort) -> dict[str, Any]:
    """What every reply says of an effort: the fields of its row, and the prefix of its files."""
    facts = flatten(effort)
    facts["artifact_prefix"] = artifact_prefix(effort.ordinal, effort.skill)
    return facts


def _phase_reply(effort: Effort, record: PhaseRecord | None, phases: tuple[Phase, ...]) -> PhaseReply:
    following = find_next(effort.current_phase, phases)
    return PhaseReply(
        **asdict(reply(effort, already=record is None)),
        recorded=record,
        next_phase=following.label if following else None,
    )


def _phases(tx: Transaction, effort: Effort) -> tuple[Phase, ...]:
    """The phases of the effort's skill as it is now; a skill that has vanished since has none."""
    skill = skills.find(tx, efforts.project_of(tx.db, effort.id), effort.skill)
    return parse_phases(skill.phases if skill else None)


def _check_finished(effort: Effort) -> Check:
    finished = effort.lifecycle == "finished"
    return Check(
        name="finished",
        passed=finished,
        detail=f"finished with {effort.outcome}" if finished else f"still {effort.lifecycle}",
    )


def _check_phases(phases: tuple[Phase, ...], records: list[PhaseRecord]) -> Check:
    entered = {record.phase_label for record in records}
    missing = [phase.label for phase in phases if phase.label not in entered]
    detail = f"not entered: {', '.join(missing)}" if missing else f"{len(phases)} of {len(phases)} entered"
    return Check(name="phases", passed=not missing, detail=detail)


def _check_proofs(phases: tuple[Phase, ...], records: list[PhaseRecord]) -> Check:
    proofs: dict[str, set[str]] = {}
    for record in records:
        proofs.setdefault(record.phase_label, set()).update(record.proof or {})
    missing = [
        f"{phase.label}: {name}"
        for phase in phases
        for name in phase.proof
        if phase.label in proofs and name not in proofs[phase.label]
    ]
    detail = f"not proved: {', '.join(missing)}" if missing else "every entered phase is proved"
    return Check(name="proofs", passed=not missing, detail=detail)


def _check_sessions(tx: Transaction, effort: Effort) -> Check:
    count = efforts.count_open_sessions(tx.db, effort.id)
    detail = f"{count} still open" if count else "none open"
    return Check(name="sessions", passed=count == 0, detail=detail)
