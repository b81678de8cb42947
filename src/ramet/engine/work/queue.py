"""The queue: efforts that wait to be run, each until those that it needs have succeeded.

Whether an effort has to wait follows from its dependencies and its time, and is stored nowhere.
"""

from msgspec.structs import asdict, replace

from ramet.engine import scopes
from ramet.engine.answers import answers
from ramet.engine.record import (
    efforts,
    lookup,
    projects,
    skills,
    tasks,
)
from ramet.engine.runs import run_lines
from ramet.engine.transaction import Transaction
from ramet.engine.work import endings
from ramet.errors import EffortFinished, EffortHeld, EffortNotFound, InvalidParams, NotFinished
from ramet.model.instant import from_datetime, given_instant, to_datetime, to_iso
from ramet.model.record.budget import Limit, as_metadata
from ramet.model.record.effort import Effort, Failure
from ramet.model.record.prompt import EXACT
from ramet.model.record.task import task_path, title_of
from ramet.model.work.effort_state import State, derive_state
from ramet.model.work.retry_policy import Scope
from ramet.protocol.record.efforts import EffortReply
from ramet.protocol.record.tasks import UpsertTask
from ramet.protocol.replies import Page
from ramet.protocol.work.queue import (
    AddedWork,
    AddWork,
    Blocked,
    DropWork,
    GetWork,
    ListLost,
    ListWork,
    NextWork,
    ResumeWork,
    RetryWork,
    SetOutput,
    WorkBlocked,
    WorkReply,
)
from ramet.store.record import efforts as effort_rows
from ramet.store.record import refused_calls, usage
from ramet.store.record import sessions as session_rows
from ramet.store.work import leases, queue
from ramet.store.work.queue import NewWork, Settlement, Waiting

_NEWEST = 2**63 - 1


@answers(AddWork)
def add(tx: Transaction, request: AddWork) -> AddedWork:
    """Queue an effort, on a task and in a project that are created if they are new."""
    based_on = None if request.based_on is None else lookup.effort(tx, request.based_on, "based_on")
    registered = None
    if request.here is not None and request.task is None and based_on is None:
        project, is_new = projects.around(tx, request.here)
        registered = project if is_new else None
        own = UpsertTask(dir_path=task_path(project, request.prompt), title=title_of(request.prompt))
        task = tasks.upsert(tx, own, "here")
        task_id, project_id = task.dir_path, task.project_id
    else:
        task_id, project_id = _task(tx, request, based_on)
    skills.apply(tx, project_id, request.skill)
    needs = list(dict.fromkeys([*([based_on.id] if based_on else []), *request.depends_on]))
    for needs_id in request.depends_on:
        if not queue.is_there(tx.db, needs_id):
            raise EffortNotFound(f"there is no effort {needs_id}", field="depends_on", value=needs_id)
    new = NewWork(
        task_id=task_id,
        ordinal=effort_rows.next_ordinal(tx.db, task_id),
        skill=request.skill,
        prompt=request.prompt,
        based_on=request.based_on,
        depends_on=needs,
        driver=request.driver,
        model=request.model,
        priority=request.priority,
        timeout_seconds=request.timeout_seconds,
        metadata=_facts(request),
        base_commit=tx.start.commit,
        base_branch=tx.start.branch,
        base_changes=tx.start.changes,
        accepts_no_change=request.accept_no_change,
    )
    return AddedWork(
        **asdict(_enqueue(tx, new)),
        registered=registered,
        uncommitted=tx.start.uncommitted,
        base_note=tx.start.note,
    )


def _facts(request: AddWork) -> dict[str, object] | None:
    """What the runner and the budgets have to know of it."""
    limit = Limit(tokens=request.max_tokens, cost_usd=request.max_cost_usd)
    return {**({EXACT: True} if request.is_exact else {}), **as_metadata(limit)} or None


def _task(tx: Transaction, request: AddWork, based_on: Effort | None) -> tuple[str, int]:
    """The path of the task, and its project."""
    if request.task is not None:
        return tasks.ensure(tx, request.task, "task")
    if based_on is None:
        raise InvalidParams(
            "task is missing",
            field="task",
            fix="name a task, an effort to continue (based_on) or a directory (here)",
        )
    return based_on.task_id, effort_rows.project_of(tx.db, based_on.id)


def _enqueue(tx: Transaction, new: NewWork) -> WorkReply:
    effort_id = queue.add(tx.db, new, tx.now)
    data = {"skill": new.skill, "ordinal": new.ordinal, "retry_of": new.retry_of, "base": new.base_commit}
    tx.record("effort.queued", task_id=new.task_id, effort_id=effort_id, data=data)
    return reply(tx, find(tx, effort_id))


@answers(GetWork)
def get(tx: Transaction, request: GetWork) -> WorkReply:
    """An effort, and what it waits for; if it runs or is not settled, also what it has used so far."""
    effort = find(tx, request.effort_id)
    if effort.lifecycle == "active" or effort.spent.usage is None:
        used = usage.sum_of_effort(tx.db, effort.id) or effort.spent.usage
        effort = replace(effort, spent=replace(effort.spent, usage=used))
    return reply(tx, effort)


@answers(ListWork)
def list_page(tx: Transaction, request: ListWork) -> Page[WorkReply]:
    """The efforts of the queue, the newest first; `next` is the cursor of those behind them."""
    limit = min(request.limit, tx.limits.page_max)
    found = queue.list_page(
        tx.db,
        state=request.state,
        task_id=None if request.task is None else lookup.absolute(request.task, "task"),
        run_id=request.run,
        project_id=lookup.project_id(tx, request.project),
        before=request.cursor or _NEWEST,
        limit=limit + 1,
    )
    items = [reply(tx, waiting) for waiting in found[:limit]]
    return Page(items=items, next=found[limit - 1].id if len(found) > limit else None)


@answers(ListLost)
def list_lost(tx: Transaction, request: ListLost) -> Page[WorkReply]:
    """The efforts that a host has lost since a time."""
    limit = min(request.limit, tx.limits.page_max)
    found = queue.list_lost(
        tx.db,
        since=to_iso(given_instant(request.since, "since")),
        project_id=lookup.project_id(tx, request.project),
        before=request.cursor or _NEWEST,
        limit=limit + 1,
    )
    items = [reply(tx, waiting) for waiting in found[:limit]]
    return Page(items=items, next=found[limit - 1].id if len(found) > limit else None)


@answers(NextWork)
def show_next(tx: Transaction, request: NextWork) -> EffortReply | None:
    """The effort that a claim would give: the first that is ready, or one whose worker has vanished. Whether its run
    is at a bound is seen when it is claimed.
    """
    claims = None if request.worker is None else leases.find_worker(tx.db, request.worker, tx.now).claims
    if request.run is not None and not run_lines.are_waiting(tx, request.run):
        return None
    project_id = lookup.project_id(tx, request.project)
    held = request.held or None
    scope = Scope(skills=claims, project_id=project_id, run_id=request.run, host=request.host, held=held)
    ready = queue.find_ready(tx.db, scope, tx.now)
    expired = leases.list_expired(tx.db, tx.now, tx.work.lease_seconds)
    lost = [effort for effort in expired if _is_within(tx, effort, scope)]
    found = min([*([ready] if ready else []), *lost], key=lambda each: (-each.priority, each.id), default=None)
    return None if found is None else efforts.reply(found)


def _is_within(tx: Transaction, effort: Effort, scope: Scope) -> bool:
    """Whether an effort whose lease ran out would be given to this worker, and not up."""
    stop = effort.stop_request
    is_given_up = effort.retry.host_failures >= tx.work.host_retries if stop is None else not stop.requeues
    return not is_given_up and unfit(tx, effort, scope) is None


def unfit(tx: Transaction, effort: Effort, scope: Scope) -> str | None:
    """What about an effort keeps a worker from it."""
    project_id = effort_rows.project_of(tx.db, effort.id)
    hosts = [] if scope.host is None else queue.list_hosts(tx.db, project_id)
    return scope.excludes(effort, project_id, hosts)


@answers(WorkBlocked)
def show_blocked(tx: Transaction, request: WorkBlocked) -> Blocked:
    """Whether an effort has to wait, for which one, and what that one is doing."""
    return blocked(tx, find(tx, request.effort_id))


@answers(RetryWork)
def retry(tx: Transaction, request: RetryWork) -> WorkReply:
    """Queue a fresh copy of a finished effort; those that wait for it wait for the copy."""
    effort = _finished(tx, request.effort_id)
    new = NewWork(
        task_id=effort.task_id,
        ordinal=effort_rows.next_ordinal(tx.db, effort.task_id),
        skill=effort.skill,
        prompt=effort.prompt or "",
        mode=effort.mode,
        metadata=effort.metadata,
        based_on=effort.based_on,
        depends_on=effort.depends_on or [],
        driver=effort.driver,
        model=effort.model,
        priority=effort.priority,
        timeout_seconds=effort.timeout_seconds,
        retry_of=effort.id,
        workspace=effort.place.workspace,
        base_commit=effort.base.commit,
        base_branch=effort.base.branch,
        base_changes=effort.base.changes,
        accepts_no_change=effort.accepts_no_change,
    )
    copy = _enqueue(tx, new)
    queue.repoint(tx.db, effort.id, copy.id)
    return copy


@answers(ResumeWork)
def resume(tx: Transaction, request: ResumeWork) -> WorkReply:
    """Queue the same effort again, to continue in its context window."""
    effort = _finished(tx, request.effort_id)
    if effort.outcome == "success" and not refused_calls.count(tx.db, effort.id):
        raise EffortFinished(
            f"effort {effort.id} succeeded: there is nothing to resume",
            field="effort_id",
            value=effort.id,
            fix=f"repeat it with `ramet retry e{effort.id}`, "
            f"or build on it with `ramet add --based-on e{effort.id} PROMPT`",
        )
    continues = session_rows.find_last_native(tx.db, effort.id)
    queue.settle(
        tx.db, effort.id, Settlement(lifecycle="queued", continues_session_id=continues, reason=request.reason)
    )
    data = {"skill": effort.skill, "ordinal": effort.ordinal, "resumes": effort.outcome}
    tx.record("effort.queued", task_id=effort.task_id, effort_id=effort.id, data=data)
    return reply(tx, find(tx, effort.id))


def _finished(tx: Transaction, effort_id: int) -> Effort:
    """A finished effort that can be run again."""
    effort = lookup.effort(tx, effort_id)
    if effort.prompt is None:
        raise InvalidParams(
            f"effort {effort_id} was never in the queue",
            field="effort_id",
            value=effort_id,
            fix="queue new work with `ramet add PROMPT`",
        )
    if effort.lifecycle != "finished":
        raise NotFinished(f"effort {effort_id} is {effort.lifecycle}", field="effort_id", value=effort_id)
    if effort.line.run_id is not None:
        raise InvalidParams(
            f"effort {effort_id} is a line of run {effort.line.run_id}",
            field="effort_id",
            value=effort_id,
            fix=f"resume the run and retry its failed lines: `ramet run --resume r{effort.line.run_id} --retry-failed`",
        )
    return effort


@answers(DropWork)
def drop(tx: Transaction, request: DropWork) -> EffortReply:
    """Remove an effort from the queue. Efforts that wait for it keep waiting, and say so."""
    effort = lookup.effort(tx, request.effort_id)
    if effort.outcome == "dropped":
        return efforts.reply(effort, already=True)
    if effort.lifecycle == "active":
        is_leased = effort.lease.owner is not None
        stop = f"`ramet kill e{effort.id}`" if is_leased else f"`ramet effort finish e{effort.id} --outcome dropped`"
        raise EffortHeld(
            f"effort {effort.id} is active: {effort.lease.owner or 'a process outside the queue'} runs it",
            field="effort_id",
            value=effort.id,
            fix=f"stop it first: {stop}",
        )
    lookup.require_unfinished(effort)
    return efforts.reply(endings.finish_waiting(tx, effort, "dropped", None))


def put_back(
    tx: Transaction,
    effort: Effort,
    reason: str | None,
    *,
    failure: Failure | None = None,
    not_before: str | None = None,
) -> Effort:
    """As if it had not been claimed: no attempt is counted, and the next one continues where this one would have."""
    leases.uncount(tx.db, effort.id)
    settlement = Settlement(
        lifecycle="queued",
        reason=reason,
        failure=failure,
        not_before=not_before,
        continues_session_id=effort.retry.continues_session_id,
        agent_failures=effort.retry.agent_failures,
        host_failures=effort.retry.host_failures,
    )
    waiting = queue.settle(tx.db, effort.id, settlement)
    data = {"failure": failure, "reason": reason, "attempt": waiting.retry.attempts, "not_before": not_before}
    tx.record("effort.requeued", task_id=effort.task_id, effort_id=effort.id, data=data)
    return waiting


@answers(SetOutput)
def set_output(tx: Transaction, request: SetOutput) -> EffortReply:
    """Replace the text of an effort's output."""
    lookup.effort(tx, request.effort_id)
    effort = queue.set_output(tx.db, request.effort_id, request.output_content, request.report_file)
    data = {"characters": len(request.output_content), "report_file": effort.report_file}
    tx.record("effort.output", task_id=effort.task_id, effort_id=effort.id, data=data)
    return efforts.reply(effort)


def find(tx: Transaction, effort_id: int) -> Waiting:
    """An effort, and the first that it waits for."""
    found = queue.find(tx.db, effort_id)
    if found is None:
        raise lookup.no_effort(effort_id)
    scopes.require_effort(tx, found)
    return found


def blocked(tx: Transaction, effort: Waiting) -> Blocked:
    """What an effort waits for: another one that has not succeeded, or a time."""
    match state_of(tx, effort):
        case "blocked":
            return Blocked(blocked=True, by=effort.blocked_by, status=effort.blocked_status)
        case "parked" if effort.retry.not_before is not None:
            return Blocked(blocked=True, status=f"waits until {to_iso(from_datetime(effort.retry.not_before))}")
        case _:
            return Blocked(blocked=False)


def state_of(tx: Transaction, effort: Waiting) -> State:
    """What an effort is doing now."""
    return derive_state(effort, to_datetime(tx.now_ms), blocked_by=effort.blocked_by)


def reply(tx: Transaction, effort: Waiting) -> WorkReply:
    """The row, and what it waits for."""
    waits = blocked(tx, effort)
    known = {
        "blocked_by": waits.by,
        "blocked_status": waits.status,
        "blocked": waits.blocked,
        "project_id": effort.project_id,
    }
    return WorkReply(**efforts.show(effort) | known)
