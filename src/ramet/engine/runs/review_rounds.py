"""The rounds of a chain: plan, implement, review; then improve and review again, until a review approves or the bound
is reached. What reviews found is kept as data, so that a later round knows what is open.

A review that cannot be read requests changes: nothing is approved by accident.
"""

from msgspec import Struct

from ramet.engine.system import notices
from ramet.engine.transaction import Transaction
from ramet.model.record.effort import NOT_FAILURES, Effort
from ramet.model.runs.review import Review, parse_review
from ramet.model.runs.run import Run
from ramet.protocol.runs.runs import StartRun
from ramet.store.record import efforts
from ramet.store.runs import findings, runs
from ramet.store.work import queue
from ramet.store.work.queue import NewWork

FIRST = (("plan", "plan"), ("implement", "implement"), ("review-1", "review"))
"""The first lines of a chain, and their skills."""


class _Work(Struct, frozen=True):
    """What all lines of a chain have in common."""

    prompt: str
    driver: str | None
    model: str | None
    accepts_no_change: bool


def begin(tx: Transaction, run: Run, request: StartRun) -> None:
    """Queue the first lines of a chain, each based on the one before it."""
    work = _Work(request.prompt or "", request.driver, request.model, request.accept_no_change)
    before: int | None = None
    for key, skill in FIRST:
        before = _queue(tx, run, key, skill, work, before)


def advance(tx: Transaction, run: Run, effort: Effort) -> str | None:
    """Continue a chain after one of its lines has ended; why it stops, unless it is done."""
    if effort.outcome == "no_change" and not effort.accepts_no_change:
        return f"its {effort.line.key} changed nothing: {effort.reason}"
    if effort.outcome not in NOT_FAILURES:
        return f"its {effort.line.key} ended with {effort.outcome}"
    if effort.skill != "review":
        return None
    number = int((effort.line.key or "").rpartition("-")[2])
    review = parse_review(effort.output_content or "")
    _note_findings(tx, run, effort, number, review)
    if review.is_approval:
        return None
    if number >= (run.limits.rounds or 0):
        return _give_up(tx, run, effort, number, review)
    work = _Work(effort.prompt or "", effort.driver, effort.model, effort.accepts_no_change)
    improvement = _queue(tx, run, f"improve-{number}", "improve", work, effort.id)
    _queue(tx, run, f"review-{number + 1}", "review", work, improvement)
    return None


def _note_findings(tx: Transaction, run: Run, effort: Effort, number: int, review: Review) -> None:
    """What was said before and is said no more is gone, but not because a review could not be read."""
    findings.put(tx.db, run.id, effort.id, number, review.findings)
    if review.verdict is not None:
        findings.close(tx.db, run.id, number)


def _give_up(tx: Transaction, run: Run, effort: Effort, number: int, review: Review) -> str:
    """The limit is reached: a person has to decide about the open findings, or read a verdict that Ramet cannot."""
    left = [finding for finding in findings.list_of_run(tx.db, run.id) if finding.state == "open"]
    blockers = [finding for finding in left if finding.severity == "BLOCKER"]
    is_unread = review.verdict is None
    unread = [f"the verdict of the last one {review.doubt}"] if is_unread else []
    is_open = "finding is" if len(left) == 1 else "findings are"
    open_ones = [f"{len(left)} {is_open} open, {len(blockers)} of them blockers"] if left or not is_unread else []
    reviews = "1 review" if number == 1 else f"{number} reviews"
    reason = f"{reviews}: {'; '.join([*unread, *open_ones])}"
    text = f"run {run.id} ({run.name}) is not approved after {reason}"
    notices.add(tx, "review_bound", effort, text, key=f"review_bound/{run.id}/{effort.id}")
    return f"not approved after {reason}"


def _queue(tx: Transaction, run: Run, key: str, skill: str, work: _Work, before: int | None) -> int:
    """One more line of a chain, which waits for the success of the one before it."""
    is_first = before is None  # the others start where the one before them ended
    new = NewWork(
        task_id=run.task_id,
        ordinal=efforts.next_ordinal(tx.db, run.task_id),
        skill=skill,
        prompt=work.prompt,
        based_on=before,
        depends_on=[] if before is None else [before],
        driver=work.driver,
        model=work.model,
        run_id=run.id,
        run_line=key,
        run_order=runs.next_place(tx.db, run.id),
        base_commit=run.base_commit if is_first else None,
        base_branch=run.base_branch if is_first else None,
        base_changes=run.base_changes if is_first else None,
        accepts_no_change=work.accepts_no_change,
    )
    effort_id = queue.add(tx.db, new, tx.now)
    data = {"skill": skill, "ordinal": new.ordinal, "run": run.id, "line": key}
    tx.record("effort.queued", task_id=run.task_id, effort_id=effort_id, data=data)
    return effort_id
