"""The lines of runs: whether one may start, and what its end means for its run.

A run ends with its last line, in the same transaction.
"""

from ramet.engine.runs import conversations, review_rounds
from ramet.engine.system import notices
from ramet.engine.transaction import Transaction
from ramet.model.instant import from_datetime
from ramet.model.record.effort import Effort, Outcome, StopRequest
from ramet.model.runs.run import Run, derive_line_state
from ramet.store.record import efforts
from ramet.store.runs import runs
from ramet.store.runs.runs import SkippedLine, Spent, StoredRun


def are_waiting(tx: Transaction, run_id: int) -> bool:
    """Whether lines of a run may start, as far as that is known without a claim."""
    return _obstacle(run_id, runs.find(tx.db, run_id, tx.now)) is None


def _obstacle(run_id: int, run: StoredRun | None) -> str | None:
    """Why no line of a run can start."""
    if run is None:
        return f"there is no run {run_id}"
    if run.finished_at is not None:
        return f"run {run.id} is finished"
    if not run.is_attended:
        return f"run {run.id} is interrupted: no process attends it"
    if run.reason is not None:
        return f"run {run.id} starts no more lines: {run.reason}"
    return None


def admit(tx: Transaction, run_id: int) -> str | None:
    """The same for a line that is about to start, now that expired leases are released. If the run has reached a limit,
    its waiting lines are ended.
    """
    run = runs.find(tx.db, run_id, tx.now)
    reason = _obstacle(run_id, run)
    if run is None or reason is not None:
        return reason
    if run.limits.workers is not None and runs.count_active(tx.db, run.id) >= run.limits.workers:
        return f"run {run.id} already runs {run.limits.workers} lines, its limit"
    bound = find_bound(tx, run)
    if bound is None:
        return None
    outcome, reason = bound
    over = end_waiting(tx, run, outcome, reason)
    if over:
        text = f"run {run.id} ({run.name}) stopped at a limit: {reason}; {len(over)} of its lines were not run"
        key = f"run_bound/{run.id}/{from_datetime(run.started_at)}"
        notices.add(tx, "run_bound", efforts.must_find(tx.db, over[0]), text, key=key)
    close_if_done(tx, run)
    return reason


def find_bound(tx: Transaction, run: Run) -> tuple[Outcome, str] | None:
    """The limit that a run has reached, and the outcome of the lines that it stops."""
    limits = run.limits
    if limits.seconds is not None and tx.now_ms - from_datetime(run.started_at) >= limits.seconds * 1000:
        return "timeout", f"the run has reached its limit of {limits.seconds:,} seconds"
    if limits.tokens is None and limits.cost_usd is None:
        return None
    spent = runs.sum_spent(tx.db, run.id, run.id).get(run.id, Spent())
    if limits.tokens is not None and spent.tokens >= limits.tokens:
        return "budget", f"the run has used {spent.tokens:,} tokens, and its limit is {limits.tokens:,}"
    if limits.cost_usd is not None and (spent.cost_usd or 0) >= limits.cost_usd:
        return "budget", f"the run has cost ${spent.cost_usd:,.2f}, and its limit is ${limits.cost_usd:,.2f}"
    return None


def check_spent(tx: Transaction, run_id: int) -> StopRequest | None:
    """Whether a running line has to end, because its run has used what it may. Its time alone ends no line."""
    run = runs.find(tx.db, run_id, tx.now)
    bound = None if run is None or not _has_amounts(run) else find_bound(tx, run)
    return None if bound is None or bound[0] != "budget" else StopRequest(outcome="budget", reason=bound[1])


def _has_amounts(run: Run) -> bool:
    return run.limits.tokens is not None or run.limits.cost_usd is not None


def begun(tx: Transaction, effort: Effort) -> None:
    """An attempt at a line starts."""
    run = _run_of(tx, effort)
    if run is not None:
        conversations.ask(tx, run, effort)


def ended(tx: Transaction, effort: Effort) -> None:
    """A line has come to its outcome."""
    run = _run_of(tx, effort)
    if run is None:
        return
    conversations.answer(tx, run, effort)
    state = derive_line_state(effort.lifecycle, effort.outcome, was_tried=effort.retry.attempts > 0)
    if run.mode == "chain":
        reason = review_rounds.advance(tx, run, effort)
        if reason is not None:
            end_waiting(tx, run, "dropped", reason)
    else:
        _skip(tx, run, effort)
        if run.stop_on_failure and state == "failed" and runs.has_queued(tx.db, run.id):
            runs.stop(tx.db, run.id, f"line {effort.line.key} ended with {effort.outcome}")
    close_if_done(tx, run)


def _skip(tx: Transaction, run: Run, effort: Effort) -> None:
    """Finish the lines that cannot start any more, because a line that they need ended without success. In a run that
    keeps going, no line needs the success of another.
    """
    if run.mode == "parallel":
        if effort.outcome != "success":
            _skip_dependents(tx, run, effort)
        return
    # One after the other: a line is skipped when its turn comes, else the line behind it would no longer wait for those
    # before it.
    while not runs.count_active(tx.db, run.id) and (doomed := runs.find_doomed_next(tx.db, run.id)) is not None:
        reason = _say_unmet(doomed.needed_line, doomed.needed_outcome, doomed.needed_reason)
        runs.skip_line(tx.db, doomed.id, reason, tx.now)
        _tell_skipped(tx, run, SkippedLine(doomed.id, doomed.run_line, doomed.attempts), reason)


def _skip_dependents(tx: Transaction, run: Run, effort: Effort) -> None:
    """Finish the lines that need the success of one that ended otherwise, and the lines that need those."""
    waiting = [(effort.id, _say_unmet(effort.line.key, effort.outcome, None))]
    while waiting:
        needs_id, reason = waiting.pop()
        for line in runs.skip_dependents(tx.db, run.id, needs_id, reason, tx.now):
            _tell_skipped(tx, run, line, reason)
            waiting.append((line.id, _say_unmet(line.run_line, "dropped", reason)))


def _say_unmet(key: str | None, outcome: Outcome | None, reason: str | None) -> str:
    """Why a line is skipped: what became of the one that it needs. A skipped one has a reason, a dropped one none."""
    dropped = "was dropped" if reason is None else "was skipped"
    return f"{key} {({'no_change': 'changed no file', 'dropped': dropped}).get(outcome or '', 'failed')}"


def _tell_skipped(tx: Transaction, run: Run, line: SkippedLine, reason: str) -> None:
    data = {"outcome": "dropped", "reason": reason, "run": run.id, "line": line.run_line}
    tx.record("effort.finished", task_id=run.task_id, effort_id=line.id, data=data)
    if line.attempts:  # it waited for another one
        conversations.answer(tx, run, efforts.must_find(tx.db, line.id))


def _run_of(tx: Transaction, effort: Effort) -> StoredRun | None:
    return None if effort.line.run_id is None else runs.find(tx.db, effort.line.run_id, tx.now)


def end_waiting(tx: Transaction, run: Run, outcome: Outcome, reason: str) -> list[int]:
    """Start no more lines of a run: finish the waiting ones, and return them."""
    over = runs.finish_lines(tx.db, run.id, outcome, reason, tx.now)
    for effort_id, attempts in over:
        data = {"outcome": outcome, "reason": reason}
        tx.record("effort.finished", task_id=run.task_id, effort_id=effort_id, data=data)
        if attempts:  # it waited for another one
            conversations.answer(tx, run, efforts.must_find(tx.db, effort_id))
    runs.stop(tx.db, run.id, reason)
    return [effort_id for effort_id, _ in over]


def close_if_done(tx: Transaction, run: Run) -> None:
    """Finish a run none of whose lines waits or is being worked on."""
    if runs.has_queued(tx.db, run.id) or runs.count_active(tx.db, run.id):
        return
    runs.finish(tx.db, run.id, tx.now)
    data = {"run": run.id, "counts": dict(runs.tally(tx.db, run.id, run.id)[run.id])}
    tx.record("run.finished", project_id=run.project_id, task_id=run.task_id, data=data)
