"""Runs: a task file, or a chain, whose lines are efforts.

A run is worked on while a process attends it, and interrupted when none does; it is finished with its last line. The
states of its lines follow from their efforts, and are stored nowhere else.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import asdict, replace

from ramet.engine import scopes
from ramet.engine.answers import answers
from ramet.engine.history import commits, references
from ramet.engine.record import lookup, skills, tasks
from ramet.engine.runs import conversations, retry_lines, review_rounds, run_lines
from ramet.engine.transaction import Transaction
from ramet.errors import InvalidParams, RunAttended, RunChanged, RunFinished, RunNotFound, TaskFileInvalid
from ramet.model.history.branch import Point
from ramet.model.instant import from_datetime, to_datetime, to_iso
from ramet.model.record.effort import Needs
from ramet.model.runs import line_order
from ramet.model.runs.run import (
    CHAIN_SKILLS,
    LineState,
    Run,
    RunLimits,
    derive_state,
)
from ramet.protocol.history.branches import DeleteBranch
from ramet.protocol.replies import Page
from ramet.protocol.runs.runs import (
    AddTurn,
    ArchiveRun,
    AttendRun,
    Cleaned,
    CleanRuns,
    GetRun,
    LeaveRun,
    LineContext,
    ListRuns,
    ListTurns,
    NewLine,
    RunContext,
    RunDetail,
    RunReply,
    StartedRun,
    StartRun,
    ToldTurn,
    TurnRow,
)
from ramet.store.history import segments
from ramet.store.record import efforts
from ramet.store.runs import findings, runs
from ramet.store.runs.runs import (
    NewRun,
    PlacedLine,
    Spent,
    StoredRun,
)

_NEWEST = 2**63 - 1
_BEGINNING = 2_000
"""How many characters of a line's output are shown."""
_WHOLE = 2**30
_LONGEST_NAME = 60
_DAY_MS = 86_400_000
_DONE_BEFORE = "done before the run"
_STATES: tuple[LineState, ...] = ("pending", "in_progress", "completed", "no_change", "failed", "skipped")


class _Numbered(Struct, frozen=True):
    """A line as its order sees it."""

    key: str
    depends_on: tuple[str, ...]


@answers(StartRun)
def start(tx: Transaction, request: StartRun) -> StartedRun:
    """Record a run and queue its lines, all in one transaction. No line starts yet."""
    _check_shape(request)
    task_id, project_id = tasks.ensure(tx, request.task, "task")
    is_chain = request.mode == "chain"
    limits = request.limits or RunLimits()
    new = NewRun(
        project_id=project_id,
        task_id=task_id,
        name=request.name or _name(request.prompt or task_id.rpartition("/")[2]),
        mode=request.mode,
        content_hash=request.content_hash,
        limits=replace(limits, rounds=limits.rounds or tx.runs.review_rounds) if is_chain else limits,
        stop_on_failure=request.stop_on_failure,
        keep_going=request.keep_going,
        save_conversation=request.save_conversation,
        base_commit=tx.start.commit,
        base_branch=tx.start.branch,
        base_changes=tx.start.changes,
    )
    run_id = runs.add(tx.db, new, tx.now)
    if request.mode == "sequential" and request.save_conversation:
        runs.set_branch(tx.db, run_id, conversations.begin(tx, run_id))
    data = {"run": run_id, "mode": request.mode, "lines": len(review_rounds.FIRST if is_chain else request.lines)}
    tx.record("run.started", project_id=project_id, task_id=task_id, data=data)
    if is_chain:
        for skill in sorted(CHAIN_SKILLS):
            skills.apply(tx, project_id, skill)
        review_rounds.begin(tx, find(tx, run_id), request)
    else:
        _queue_lines(tx, request, find(tx, run_id))
    run = find(tx, run_id)
    detail = _detail(tx, run, _BEGINNING, conversations.find_head(tx, run.branch))
    return StartedRun(**asdict(detail), uncommitted=tx.start.uncommitted, base_note=tx.start.note)


def _check_shape(request: StartRun) -> None:
    """A chain has a prompt and no lines, a task file the other way round."""
    if request.mode != "chain":
        if request.prompt is not None:
            raise InvalidParams("only a chain has a prompt", field="prompt", fix="give lines, or set mode to chain")
        if not request.lines:
            raise TaskFileInvalid("there are no tasks", field="lines")
    elif request.lines or not (request.prompt or "").strip():
        field = "lines" if request.lines else "prompt"
        raise InvalidParams("a chain has a prompt and no lines", field=field, fix="describe the work in `prompt`")


def _name(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _LONGEST_NAME else words[: _LONGEST_NAME - 1].rstrip() + "…"


def _queue_lines(tx: Transaction, request: StartRun, run: StoredRun) -> None:
    """The lines of a task file, those first that were done before, and what each waits for."""
    for skill in dict.fromkeys(line.skill for line in request.lines):
        skills.apply(tx, run.project_id, skill)
    _check_keys(request.lines)
    by_key = {line.key: line for line in request.lines}
    to_do = [_Numbered(line.key, tuple(line.depends_on)) for line in request.lines if not line.is_done]
    ordered = [line.key for line in line_order.order(to_do)]
    done = [line.key for line in request.lines if line.is_done]
    placed = [_place(number, by_key[key], request) for number, key in enumerate([*done, *ordered])]
    ordinal = efforts.next_ordinal(tx.db, run.task_id)
    ids = runs.add_lines(tx.db, run.id, run.task_id, placed, ordinal=ordinal, reason=_DONE_BEFORE, now=tx.now)
    waits: dict[tuple[str, str], Needs] = {}
    if request.mode == "sequential":
        waits = dict.fromkeys(zip(ordered[1:], ordered, strict=False), "end")
    named = [(key, needed) for key, wanted in line_order.needs(to_do).items() for needed in wanted]
    waits |= dict.fromkeys(named, "end" if request.keep_going else "success")
    runs.add_needs(tx.db, run.id, [(ids[key], ids[needed], needs) for (key, needed), needs in waits.items()])
    run_lines.close_if_done(tx, run)


def _check_keys(given: Sequence[NewLine]) -> None:
    known: set[str] = set()
    places: set[str] = set()
    for line in given:
        if line.key in known:
            raise TaskFileInvalid(f"two lines have the key {line.key}", field="lines", value=line.key)
        known.add(line.key)
        places.update((line.key, *line_order.parents(line.key)))
    for line in given:
        for key in line.depends_on:
            if key not in places:
                raise TaskFileInvalid(
                    f"line {line.key} depends on {key}, which does not exist", field="lines", value=key
                )


def _place(place: int, line: NewLine, request: StartRun) -> PlacedLine:
    return PlacedLine(
        place=place,
        key=line.key,
        text=line.text,
        skill=line.skill,
        driver=line.driver or (None if line.skill == "shell" else request.driver),
        agent=line.driver,
        model=line.model or request.model,
        timeout_seconds=line.timeout_seconds,
        is_done=line.is_done,
        accepts_no_change=line.accept_no_change or request.accept_no_change,
    )


@answers(GetRun)
def get(tx: Transaction, request: GetRun) -> RunDetail:
    """A run with its lines, its conversation and what its reviews found."""
    run, characters = find(tx, request.run_id), _WHOLE if request.outputs else _BEGINNING
    first, head = _find_start(tx, run, request.cursor)
    detail = _detail(tx, run, characters, head)
    lines, turns = detail.lines[first:], detail.conversation[first:]
    limit = request.limit or max(len(lines), len(turns))
    following = _write_cursor(first + limit, head) if max(len(lines), len(turns)) > limit else None
    return replace(detail, lines=lines[:limit], conversation=turns[:limit], next=following)


@answers(ListRuns)
def list_page(tx: Transaction, request: ListRuns) -> Page[RunReply]:
    """The runs, the newest first; `next` is the cursor of those behind them."""
    limit = min(request.limit, tx.limits.page_max)
    before = request.cursor or _NEWEST
    project_id = lookup.project_id(tx, request.project)
    found = runs.list_page(
        tx.db, before=before, limit=limit + 1, archived=request.all, project_id=project_id, now=tx.now
    )
    items = _replies(tx, found[:limit])
    return Page(items=items, next=items[-1].id if len(found) > limit else None)


@answers(AttendRun)
def attend(tx: Transaction, request: AttendRun) -> RunReply:
    """Start, resume or continue a run. A run whose attender has vanished is taken over."""
    run = find(tx, request.run_id)
    if not request.begins:
        return _go_on(tx, run, request)
    _require_free(run)
    if not request.is_forced:
        _require_unchanged(run, request.content_hash)
    run = replace(run, limits=_widen(run.limits, request.limits), started_at=to_datetime(tx.now_ms))
    _relax(tx, run, request)
    retried = _retry(tx, run, retry_failed=request.retry_failed)
    if request.branch is not None and request.branch != run.branch:
        conversations.move(tx, run, request.branch)
    runs.attend(tx.db, run.id, request.attender, limits=run.limits, lease_seconds=request.lease_seconds, now=tx.now)
    data = {"run": run.id, "attender": request.attender, "retried": len(retried), "limits": run.limits}
    tx.record("run.attended", project_id=run.project_id, task_id=run.task_id, data=data)
    return _reply(tx, find(tx, run.id))


def _widen(limits: RunLimits, given: RunLimits | None) -> RunLimits:
    """The bounds of a run with those that are new."""
    known = {} if given is None else asdict(given)
    return replace(limits, **{name: value for name, value in known.items() if value is not None})


def _retry(tx: Transaction, run: StoredRun, *, retry_failed: bool) -> list[int]:
    """Queue again the lines that `retry_lines` finds; return them. A finished run with nothing to do is refused."""
    bound = run_lines.find_bound(tx, run)
    retried = [] if bound else retry_lines.find(tx, run.id, retry_failed=retry_failed)
    runs.retry_lines(tx.db, retried)
    if run.finished_at is not None and not retried:
        raise _finished(run) if bound is None else _bounded(run, bound[1])
    for effort_id in retried:
        tx.record("effort.queued", task_id=run.task_id, effort_id=effort_id, data={"run": run.id})
    return retried


def _relax(tx: Transaction, run: StoredRun, request: AttendRun) -> None:
    """Let lines start, from now on, that have waited for more than they need to."""
    if request.keep_going and run.mode == "chain":
        raise InvalidParams(
            f"run {run.id} is a chain, and each step of a chain needs the one before it",
            field="keep_going",
            value=True,
            fix=f"retry the failed step: `ramet run --resume r{run.id} --retry-failed`",
        )
    if request.keep_going:
        runs.keep_going(tx.db, run.id)
    if request.accept_no_change:
        runs.accept_no_change(tx.db, run.id)


def _require_unchanged(run: StoredRun, content_hash: str | None) -> None:
    if None not in (content_hash, run.content_hash) and content_hash != run.content_hash:
        raise RunChanged(
            f"the task file of run {run.id} has changed since the run started",
            field="content_hash",
            value=run.content_hash,
        )


def _go_on(tx: Transaction, run: StoredRun, request: AttendRun) -> RunReply:
    if run.finished_at is not None:
        raise _finished(run)
    if run.attender != request.attender:
        raise RunAttended(
            f"{request.attender} does not attend run {run.id}: {run.attender or 'no process'} does",
            field="attender",
            value=request.attender,
        )
    runs.renew(tx.db, run.id, lease_seconds=request.lease_seconds, now=tx.now)
    return _reply(tx, find(tx, run.id))


@answers(LeaveRun)
def leave(tx: Transaction, request: LeaveRun) -> RunReply:
    """Attend a run no longer. What another one attends stays as it is."""
    run = find(tx, request.run_id)
    if run.attender == request.attender:
        runs.leave(tx.db, run.id)
        data = {"run": run.id, "attender": request.attender}
        tx.record("run.left", project_id=run.project_id, task_id=run.task_id, data=data)
    return _reply(tx, find(tx, run.id))


@answers(AddTurn)
def add_turn(tx: Transaction, request: AddTurn) -> RunReply:
    """Add a turn to a run's conversation by hand."""
    run = find(tx, request.run_id)
    if run.branch is None:
        raise InvalidParams(
            f"run {run.id} does not save its conversation",
            field="run_id",
            value=run.id,
            fix="start a run without `--no-save-conversation`",
        )
    conversations.add(tx, run, request.role, request.content, None, request.line)
    return _reply(tx, run)


@answers(ListTurns)
def list_turns(tx: Transaction, request: ListTurns) -> Page[TurnRow]:
    """What was said in a run."""
    first, head = _find_start(tx, find(tx, request.run_id), request.cursor)
    turns = conversations.read(tx, head)[first:]
    limit = request.limit or len(turns)
    return Page(items=turns[:limit], next=_write_cursor(first + limit, head) if len(turns) > limit else None)


def _find_start(tx: Transaction, run: StoredRun, cursor: str | None) -> tuple[int, Point | None]:
    """How many items come before a page, and the turn up to which all pages show the conversation."""
    if cursor is None:
        return 0, conversations.find_head(tx, run.branch)
    first, _, named = cursor.partition(".")
    if not named:
        return int(first), None
    return int(first), references.commit(tx, named, "cursor")


def _write_cursor(first: int, head: Point | None) -> str:
    return f"{first}.{'' if head is None else head.hash.hex()}"


@answers(RunContext)
def context(tx: Transaction, request: RunContext) -> LineContext:
    """What the agent of a line is told of its run."""
    run = find(tx, request.run_id)
    known = LineContext(mode=run.mode, started_at=run.started_at, is_saved=run.branch is not None)
    if run.branch is None:
        return known
    window = conversations.read_window(tx, run.branch, request.effort_id, request.max_tokens)
    turns = [ToldTurn(turn.role, turn.content) for turn in window.turns]
    return replace(known, turns=turns, is_cut=window.is_cut)


@answers(ArchiveRun)
def archive(tx: Transaction, request: ArchiveRun) -> RunReply:
    """Hide a run from the list, or show it again."""
    run = find(tx, request.run_id)
    _require_free(run)
    if (run.archived_at is not None) is not request.archived:
        runs.archive(tx.db, run.id, tx.now if request.archived else None)
        data = {"run": run.id, "archived": request.archived}
        tx.record("run.archived", project_id=run.project_id, task_id=run.task_id, data=data)
    return _reply(tx, find(tx, run.id))


@answers(CleanRuns)
def clean(tx: Transaction, request: CleanRuns) -> Cleaned:
    """Delete runs that have been archived or finished for a while. Their efforts stay, as what their task went through;
    what still waited is dropped.
    """
    before = to_iso(tx.now_ms - request.days * _DAY_MS)
    project_id = lookup.project_id(tx, request.project)
    outdated = runs.list_outdated(tx.db, before=before, project_id=project_id, now=tx.now)
    if not request.dry_run:
        for run_id in outdated:
            _delete(tx, find(tx, run_id))
    return Cleaned(run_ids=outdated)


def _delete(tx: Transaction, run: StoredRun) -> None:
    run_lines.end_waiting(tx, run, "dropped", "its run was deleted")
    if run.branch is not None and segments.find_head(tx.db, run.branch) is not None:
        commits.delete(tx, DeleteBranch(branch=run.branch))
    runs.delete(tx.db, run.id)
    data = {"run": run.id, "name": run.name}
    tx.record("run.deleted", project_id=run.project_id, task_id=run.task_id, data=data)


def find(tx: Transaction, run_id: int) -> StoredRun:
    """A run by its id."""
    found = runs.find(tx.db, run_id, tx.now)
    if found is None:
        raise RunNotFound(f"run not found: {run_id}", field="run_id", value=run_id)
    scopes.require_run(tx, found.id)
    return found


def _require_free(run: StoredRun) -> None:
    if run.is_attended and run.finished_at is None:
        raise RunAttended(f"run {run.id} is already attended by {run.attender}", field="run_id", value=run.id)


def _finished(run: StoredRun) -> RunFinished:
    return RunFinished(f"run {run.id} is finished", field="run_id", value=run.id)


def _bounded(run: StoredRun, reason: str) -> RunFinished:
    fix = f"raise the limit: `ramet run --resume r{run.id} --max-cost USD` or --max-tokens N"
    return RunFinished(f"run {run.id} cannot continue: {reason}", field="run_id", value=run.id, fix=fix)


def _reply(tx: Transaction, run: StoredRun) -> RunReply:
    return _replies(tx, [run])[0]


def _replies(tx: Transaction, found: Sequence[StoredRun]) -> list[RunReply]:
    """Runs, and what their lines are doing."""
    if not found:
        return []
    first, last = min(run.id for run in found), max(run.id for run in found)
    counts, spent = runs.tally(tx.db, first, last), runs.sum_spent(tx.db, first, last)
    return [
        RunReply(
            **{name: getattr(run, name) for name in Run.__struct_fields__},
            state=derive_state(run, is_attended=run.is_attended),
            counts={state: counts[run.id][state] for state in _STATES},
            **asdict(spent.get(run.id, Spent())),
        )
        for run in found
    ]


def _detail(tx: Transaction, run: StoredRun, characters: int, head: Point | None) -> RunDetail:
    rows = runs.list_lines(tx.db, run.id, characters)
    turns = conversations.read(tx, head)
    moments = [to_iso(from_datetime(moment)) for moment in (run.started_at, run.finished_at) if moment is not None]
    moments += [moment for row in rows for moment in (row.started_at, row.finished_at) if moment is not None]
    return RunDetail(
        **asdict(_reply(tx, run)),
        saved_at=max(*moments, *(turn.timestamp for turn in turns[-1:])),
        lines=rows,
        conversation=turns,
        findings=findings.list_of_run(tx.db, run.id),
    )
