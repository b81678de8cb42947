"""Leases: who runs an effort, until when, and with which outcome.

Each claim has a generation of its own. A report under an older generation is refused, and changes nothing. An expired
lease is taken over by the next claim: the attempt counts as one whose host has vanished.
"""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ramet.engine.answers import answers
from ramet.engine.record import efforts, lookup, sessions
from ramet.engine.runs import run_lines
from ramet.engine.system import notices
from ramet.engine.transaction import Transaction
from ramet.engine.work import endings, hosts, outcomes, parked_drivers, queue
from ramet.errors import LeaseLost
from ramet.model.instant import from_datetime, given_instant, to_iso
from ramet.model.record.effort import NOT_FAILURES, Effort, Failure, Outcome
from ramet.model.work.retry_policy import (
    Decision,
    RetryPolicy,
    Scope,
    decide,
    decide_not_started,
)
from ramet.protocol.work.leases import Claimed, ClaimWork, Completed, CompleteWork, Lease, Refused, RenewLease
from ramet.store.record import sessions as session_rows
from ramet.store.record import usage
from ramet.store.work import leases
from ramet.store.work import queue as queue_rows
from ramet.store.work.leases import Held
from ramet.store.work.queue import Settlement, Waiting

_KEPT_OF_LATE_OUTPUT = 10_000
_FAILURES: dict[Outcome, Failure] = {"timeout": "timeout", "budget": "permanent"}
"""The failure of attempts that report no more. If a limit of a run kept a line from starting, nothing failed."""


class Following(Struct, frozen=True, kw_only=True):
    """The next attempt, if there is one."""

    not_before: str | None = None
    is_fresh: bool = False
    """Whether it has a context window of its own."""


@answers(ClaimWork)
def claim(tx: Transaction, request: ClaimWork) -> Claimed | Refused:
    """Give a worker the next effort that is ready, or the one that it names."""
    worker = leases.find_worker(tx.db, request.worker, tx.now)
    if worker.has_expired:
        for vanished in leases.take_expired(tx.db, tx.now, request.lease_seconds or tx.work.lease_seconds):
            _take_over(tx, vanished)
        worker = leases.find_worker(tx.db, request.worker, tx.now)
    if worker.holds is not None:
        return Refused(refused="busy", detail=f"{request.worker} holds effort {worker.holds}")
    refused = None if request.run is None else run_lines.admit(tx, request.run)
    if refused is not None:
        return Refused(refused="missing", detail=refused)
    scope = Scope(
        skills=worker.claims,
        drivers=request.drivers,
        project_id=lookup.project_id(tx, request.project),
        run_id=request.run,
        host=request.host,
        held=request.held or None,
    )
    claimed = _claim_next(tx, request, scope) if request.effort_id is None else _claim_named(tx, request, scope)
    if isinstance(claimed, Refused):
        return claimed
    data = {"worker": request.worker, "generation": claimed.lease.generation, "attempt": claimed.retry.attempts}
    tx.record("effort.claimed", task_id=claimed.task_id, effort_id=claimed.id, data=data)
    return Claimed(**efforts.show(claimed), generation=claimed.lease.generation)


def _claim_next(tx: Transaction, request: ClaimWork, scope: Scope) -> Effort | Refused:
    lease_seconds = request.lease_seconds or tx.work.lease_seconds
    effort = leases.claim_next(tx.db, request.worker, scope, lease_seconds=lease_seconds, now=tx.now)
    return effort or Refused(refused="missing", detail="no effort is ready")


def _claim_named(tx: Transaction, request: ClaimWork, scope: Scope) -> Effort | Refused:
    effort = None if request.effort_id is None else queue_rows.find(tx.db, request.effort_id)
    if effort is None:
        return Refused(refused="missing", detail=f"there is no effort {request.effort_id}")
    refused = _refusal(tx, effort, scope)
    if refused is not None:
        return refused
    lease_seconds = request.lease_seconds or tx.work.lease_seconds
    claimed = leases.claim(tx.db, effort.id, request.worker, lease_seconds=lease_seconds, now=tx.now)
    return claimed or Refused(refused="lost", detail=f"another worker has just claimed effort {effort.id}")


def _refusal(tx: Transaction, effort: Waiting, scope: Scope) -> Refused | None:
    """Why a worker cannot have the effort that it names; None if it can."""
    match queue.state_of(tx, effort):
        case "running" | "stopping" | "expired":
            return Refused(refused="lost", detail=f"{effort.lease.owner} holds effort {effort.id}")
        case "manual":
            return Refused(refused="not_queued", detail=f"effort {effort.id} is active outside the queue")
        case "succeeded" | "unchanged" | "failed":
            return Refused(refused="not_queued", detail=f"effort {effort.id} finished with {effort.outcome}")
        case "parked" if effort.retry.avoid_host not in (None, scope.host) and scope.host is not None:
            return _misfit(tx, effort, scope)
        case "blocked" | "parked":
            waits = queue.blocked(tx, effort)
            detail = f"effort {waits.by} is {waits.status}" if waits.by else f"effort {effort.id} {waits.status}"
            return Refused(refused="blocked", detail=detail)
        case "ready" | "awaited":
            return _misfit(tx, effort, scope)


def _misfit(tx: Transaction, effort: Waiting, scope: Scope) -> Refused | None:
    unfit = queue.unfit(tx, effort, scope)
    detail = f"effort {effort.id} does not fit this worker: its {unfit}"
    return None if unfit is None else Refused(refused="blocked", detail=detail)


def _take_over(tx: Transaction, effort: Held) -> None:
    """The worker has vanished: queue the effort again, unless that has happened too often."""
    stop = effort.stop_request
    reason = f"the lease of {effort.claim.owner} expired"
    decision = decide(effort, "error", "infrastructure", _policy(tx), stop=stop)
    settlement = Settlement(lifecycle="queued", failure="infrastructure", reason=reason)
    _settle(tx, effort, decision, settlement, stop.outcome if stop else "error", Following())


@answers(RenewLease)
def renew(tx: Transaction, request: RenewLease) -> Lease:
    """Renew a lease. An expired lease that no other worker took over can be renewed too."""
    renewal = leases.renew(
        tx.db,
        request.effort_id,
        request.generation,
        lease_seconds=request.lease_seconds or tx.work.lease_seconds,
        now=tx.now,
    )
    if renewal is None:
        raise lost(lookup.effort(tx, request.effort_id), request.generation)
    return Lease(
        effort_id=request.effort_id,
        generation=request.generation,
        expires_at=renewal.lease_expires_at,
        stop=renewal.stop_request,
    )


def lost(effort: Effort, generation: int) -> LeaseLost:
    """The error for a lease that has ended."""
    now = f"finished with {effort.outcome}" if effort.outcome else f"{effort.lifecycle}, {effort.lease.owner or 'free'}"
    return LeaseLost(
        f"generation {generation} of effort {effort.id} is over; now it is {now}, generation {effort.lease.generation}",
        field="generation",
        value=generation,
    )


@answers(CompleteWork)
def complete(tx: Transaction, request: CompleteWork) -> Completed:
    """Finish an effort, or queue its next attempt. What comes under an older lease is written down and ignored, but for
    a success that came before the next attempt has begun.
    """
    effort = leases.find_held(tx.db, request.effort_id)
    if effort is None:
        raise lookup.no_effort(request.effort_id)
    if not effort.claim.is_of(request.generation):
        is_wanted = _is_wanted_late(tx, effort, request)
        _record_late(tx, effort, request, is_accepted=is_wanted)
        if not is_wanted:
            return Completed(**efforts.show(lookup.effort(tx, effort.id)), ignored=True)
        leases.correct_session(tx.db, effort.id, request.generation, request.outcome)
    request = outcomes.judge(tx, effort, request)
    failure = None if request.outcome in NOT_FAILURES else request.failure or _FAILURES.get(request.outcome)
    decision = _decide(tx, effort, request, failure)
    not_started = request.not_started
    settlement = Settlement(
        lifecycle="queued",
        avoid_host=not_started.host if not_started and decision.requeue else None,
        failure=failure,
        reason=request.reason,
        output_content=request.output_content,
        report_file=request.report_file,
        git_head=request.git_head,
        git_branch=request.git_branch,
        changes=request.changes,
        usage=request.usage,
        metadata={**(effort.metadata or {}), **request.metadata} if request.metadata else None,
    )
    following = Following(not_before=_not_before(tx, request, decision), is_fresh=request.is_fresh)
    parked_drivers.note(tx, effort, request, following.not_before)
    settled = _settle(tx, effort, decision, settlement, request.outcome, following)
    if not decision.requeue:
        outcomes.tell(tx, settled)
    return Completed(**efforts.show(settled), requeued=decision.requeue)


def _decide(tx: Transaction, effort: Held, request: CompleteWork, failure: Failure | None) -> Decision:
    """What follows from the outcome. A failure of the host is not the effort's, unless somebody stops that anyway."""
    is_hosts = request.not_started is not None and request.not_started.is_hosts and failure == "infrastructure"
    if not is_hosts or request.not_started is None:
        return decide(effort, request.outcome, failure, _policy(tx), stop=effort.stop_request)
    is_efforts = hosts.is_efforts(tx, effort.avoid_host, request.not_started)
    in_row = hosts.note_failure(tx, request.not_started, request.reason)
    if is_efforts or effort.stop_request is not None:
        return decide(effort, request.outcome, failure, _policy(tx), stop=effort.stop_request)
    return decide_not_started(effort, in_row, _policy(tx))


def _not_before(tx: Transaction, request: CompleteWork, decision: Decision) -> str | None:
    if request.retry_at is None:
        return None if decision.pause_ms is None else to_iso(tx.now_ms + decision.pause_ms)
    return to_iso(given_instant(request.retry_at, "retry_at"))


def _is_wanted_late(tx: Transaction, effort: Held, request: CompleteWork) -> bool:
    """Whether a lost lease's outcome counts: it is a success, and nobody has begun anew. Whoever has the effort claimed
    by now finds out when it wants to begin.
    """
    if request.outcome != "success" or request.generation > effort.claim.generation:
        return False
    now = lookup.effort(tx, effort.id)
    is_by_hand = now.lifecycle == "active" and now.lease.owner is None
    is_open = now.lifecycle != "finished" and not is_by_hand and now.stop_request is None
    return is_open and not leases.has_begun_since(tx.db, effort.id, request.generation)


def _record_late(tx: Transaction, effort: Held, request: CompleteWork, *, is_accepted: bool) -> None:
    data = {
        "generation": request.generation,
        "outcome": request.outcome,
        "failure": request.failure,
        "reason": request.reason,
        "report_file": request.report_file,
        "output_content": request.output_content and request.output_content[:_KEPT_OF_LATE_OUTPUT],
        "accepted": is_accepted,
    }
    tx.record("effort.late_report", task_id=effort.task_id, effort_id=effort.id, data=data)


def _settle(
    tx: Transaction,
    effort: Held,
    decision: Decision,
    settlement: Settlement,
    outcome: Outcome,
    following: Following,
) -> Effort:
    """Release an effort: its open parts end, and it is finished, or waits for its next attempt."""
    if not decision.uses_attempt:
        leases.uncount(tx.db, effort.id)
    facts: dict[str, Any] = {"agent_failures": decision.agent_failures, "host_failures": decision.host_failures}
    if effort.is_attended:
        # What a spawn left for the first attempt is there for the next one too.
        if not decision.requeue or session_rows.find_waiting(tx.db, effort.id) is None:
            sessions.end_all(tx, effort.id, outcome, settlement.reason)
        facts["usage"] = settlement.usage or usage.sum_of_effort(tx.db, effort.id)
    if decision.requeue:
        facts["not_before"] = following.not_before
        if effort.is_attended and not following.is_fresh:
            facts["continues_session_id"] = session_rows.find_last_native(tx.db, effort.id)
    else:
        facts |= {"lifecycle": "finished", "finished_at": tx.now, "outcome": outcome}
    settled = queue_rows.settle(tx.db, effort.id, replace(settlement, **facts))
    _tell(tx, settled, decision, outcome)
    if not decision.requeue:
        settled = endings.ended(tx, settled)
    if effort.is_awaiting:
        endings.leave_children(tx, effort.id)
    return settled


def _tell(tx: Transaction, effort: Effort, decision: Decision, outcome: Outcome) -> None:
    """The event, and the notice if a person has to know."""
    why = {"failure": effort.retry.failure, "reason": effort.reason, "attempt": effort.retry.attempts}
    if decision.requeue:
        data: dict[str, Any] = {**why, "not_before": effort.retry.not_before}
        tx.record("effort.requeued", task_id=effort.task_id, effort_id=effort.id, data=data)
    else:
        tx.record("effort.finished", task_id=effort.task_id, effort_id=effort.id, data={"outcome": outcome, **why})
    if decision.notice == "limit" and parked_drivers.is_parked(tx, effort.driver):
        return  # the notice of that has been given
    if decision.notice == "limit":
        until = "" if effort.retry.not_before is None else f" until {to_iso(from_datetime(effort.retry.not_before))}"
        text = f"{effort.driver or 'the agent'} has reached a usage limit; its efforts wait{until}"
        notices.add(tx, "limit", effort, text, key=f"limit/{effort.driver}/{until or effort.id}")
    elif decision.notice is not None:
        said = f": {effort.reason}" if effort.reason else ""
        attempts = "1 attempt" if effort.retry.attempts == 1 else f"{effort.retry.attempts} attempts"
        text = f"effort {effort.id} ({effort.skill}) ended with {outcome} after {attempts}{said}"
        notices.add(tx, decision.notice, effort, text)


def _policy(tx: Transaction) -> RetryPolicy:
    work = tx.work
    return RetryPolicy(
        retries=work.retries,
        host_retries=work.host_retries,
        backoff_seconds=work.backoff_seconds,
        backoff_max_seconds=work.backoff_max_seconds,
        limit_seconds=tx.work.limit_seconds,
    )
