"""The landing queue: what waits, who lands it, and what became of it.

Each target has one lander at a time, fenced by a lease with a generation. The lander records the commit that passed the
checks before it moves the target, so that whoever takes over knows whether the target has moved.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import asdict

from ramet.engine.answers import answers
from ramet.engine.record import lookup
from ramet.engine.system import notices
from ramet.engine.transaction import Transaction
from ramet.errors import LandingNotFound, LandingRefused, LeaseLost
from ramet.model.instant import to_datetime, to_iso
from ramet.model.landing.landing import TRANSITIONS, UNFINISHED, Landing, LandingState
from ramet.protocol.landing.landings import (
    ClaimedLanding,
    ClaimLanding,
    DropLanding,
    FinishLanding,
    GetLanding,
    LandingRow,
    ListLandings,
    NewLanding,
    NoteTested,
    QueueLandings,
    RenewLanding,
    RetryLanding,
    UndoLanding,
)
from ramet.protocol.pages import cut
from ramet.protocol.replies import Page
from ramet.store.landing import landings
from ramet.store.landing.landings import Asked, End, New
from ramet.store.record import efforts

_SECOND_MS = 1000


@answers(QueueLandings)
def queue(tx: Transaction, request: QueueLandings) -> Page[LandingRow]:
    """Queue branches for a target, in their order."""
    project_id = lookup.project_id(tx, request.project) or 0
    known = landings.list_of_target(tx.db, request.host, request.repository, request.target)
    rows: list[LandingRow] = []
    for entry in request.entries:
        before = next((one for one in known if one.kind == "work" and one.head == entry.head), None)
        if before is not None:
            rows.append(_ask_again(tx, before, request, entry))
            continue
        new = New(
            project_id=project_id,
            host=request.host,
            directory=request.directory,
            repository=request.repository,
            target=request.target,
            kind="work",
            method=request.method,
            efforts=entry.efforts,
            needs=_find_needed(known, entry),
            undoes=None,
            branch=entry.branch,
            head=entry.head,
            left_out=list(entry.left_out),
            message=entry.message,
            checks=dict(request.checks),
        )
        added = _add(tx, new)
        known.append(added)
        rows.append(_show(tx, added))
    return Page(items=rows)


def _ask_again(tx: Transaction, before: Landing, request: QueueLandings, entry: NewLanding) -> LandingRow:
    """The landing of this commit, as it is asked for now: with these checks, and without what is to stay behind."""
    if before.state not in ("queued", "failed", "conflicted", "stopped"):
        return _show(tx, before, already=True)
    asked = Asked(
        method=request.method, left_out=list(entry.left_out), checks=dict(request.checks), message=entry.message
    )
    again = landings.ask_again(tx.db, before, asked)
    if again is None:
        return _show(tx, _require(tx, before.id), already=True)
    if before.state != "queued":
        _tell(tx, again, "landing.queued")
    return _show(tx, again, already=before.state == "queued")


def _find_needed(known: Sequence[Landing], entry: NewLanding) -> list[int]:
    """The landings in the queue that have to land first."""
    needed = set(entry.needs) - set(entry.efforts)
    return [one.id for one in known if one.state in UNFINISHED and needed & set(one.efforts)]


def _add(tx: Transaction, new: New) -> Landing:
    added = landings.add(tx.db, new, tx.now)
    _tell(tx, added, "landing.queued")
    return added


@answers(ListLandings)
def list_newest(tx: Transaction, request: ListLandings) -> Page[LandingRow]:
    """Landings, newest first."""
    limit = min(request.limit, tx.limits.page_max)
    project_id = lookup.project_id(tx, request.project)
    found = landings.list_newest(tx.db, limit + 1, before=request.cursor, project_id=project_id, state=request.state)
    page = cut(found, limit, lambda landing: landing.id)
    return Page(items=[_show(tx, landing) for landing in page.items], next=page.next)


@answers(GetLanding)
def get(tx: Transaction, request: GetLanding) -> LandingRow:
    """A landing."""
    return _show(tx, _require(tx, request.landing_id))


@answers(RetryLanding)
def retry(tx: Transaction, request: RetryLanding) -> LandingRow:
    """Queue a landing again."""
    landing = _require(tx, request.landing_id)
    if landing.state == "queued":
        return _show(tx, landing, already=True)
    return _show(tx, _move(tx, landing, "queued", "only a landing that did not land can be tried again"))


@answers(DropLanding)
def drop(tx: Transaction, request: DropLanding) -> LandingRow:
    """Remove a landing from the queue."""
    landing = _require(tx, request.landing_id)
    if landing.state == "dropped":
        return _show(tx, landing, already=True)
    return _show(tx, _move(tx, landing, "dropped", "only a landing that waits or did not land can be dropped"))


@answers(UndoLanding)
def undo(tx: Transaction, request: UndoLanding) -> LandingRow:
    """Queue the undoing of a landing."""
    landing = _require(tx, request.landing_id)
    if landing.kind == "undo" or landing.state != "landed" or landing.tested is None or landing.tip is None:
        what = "has nothing to undo" if landing.kind == "undo" or landing.state == "landed" else f"is {landing.state}"
        raise _refusal(landing, f"landing {landing.id} {what}", "`ramet landings list` shows what has landed")
    of_target = landings.list_of_target(tx.db, landing.host, landing.repository, landing.target)
    before = next((one for one in of_target if one.undoes == landing.id and one.state in UNFINISHED), None)
    if before is not None:
        return _show(tx, before, already=True)
    columns = {name: getattr(landing, name) for name in New.__struct_fields__}
    changed = {"kind": "undo", "undoes": landing.id, "needs": [], "head": landing.tested, "left_out": []}
    subject = landing.message.partition("\n")[0]
    message = f'Revert "{subject}"\n\nThis takes back {landing.tested}.\n\nRamet-Undoes: l{landing.id}\n'
    return _show(tx, _add(tx, New(**{**columns, **changed, "message": message})))


@answers(ClaimLanding)
def claim(tx: Transaction, request: ClaimLanding) -> ClaimedLanding:
    """Give a lander the next landing of its host."""
    waiting = landings.list_open(tx.db, request.host)
    if not waiting:
        return ClaimedLanding()
    not_landed = landings.list_not_landed(tx.db, request.host)
    now = to_datetime(tx.now_ms)
    busy: set[tuple[str, str]] = set()
    for landing in waiting:
        place = landing.repository, landing.target
        if landing.state == "landing":
            is_own = request.takes_over and landing.lease.owner == request.lander
            if not is_own and not landings.has_expired(landing, now):
                busy.add(place)
                continue
        elif place in busy or _find_blocker(landing, not_landed) is not None:
            continue
        claimed = landings.claim(tx.db, landing, request.lander, _until(tx, request.lease_seconds))
        if claimed is not None:
            _tell(tx, claimed, "landing.claimed")
            undone = None if claimed.undoes is None else _require(tx, claimed.undoes)
            return ClaimedLanding(landing=_show(tx, claimed), undoes=None if undone is None else _show(tx, undone))
    return ClaimedLanding()


@answers(RenewLanding)
def renew(tx: Transaction, request: RenewLanding) -> LandingRow:
    """Renew the lease of a landing."""
    renewed = landings.renew(tx.db, request.landing_id, request.generation, _until(tx, request.lease_seconds))
    return _show(tx, _held(tx, renewed, request))


@answers(NoteTested)
def note_tested(tx: Transaction, request: NoteTested) -> LandingRow:
    """Record the commit that passed the checks."""
    noted = landings.note_tested(
        tx.db, request.landing_id, request.generation, tip=request.tip, tested=request.tested, log=request.log
    )
    noted = _held(tx, noted, request)
    _tell(tx, noted, "landing.tested")
    return _show(tx, noted)


@answers(FinishLanding)
def finish(tx: Transaction, request: FinishLanding) -> LandingRow:
    """Record what became of a landing; of an undoing, also at the landing that it took back."""
    is_finished = request.outcome is not None
    end = End(
        state=request.outcome or "queued",
        reason=request.reason,
        files=list(request.files),
        log=request.log,
        finished_at=tx.now if is_finished else None,
    )
    finished = _held(tx, landings.finish(tx.db, request.landing_id, request.generation, end), request)
    _tell(tx, finished, "landing.finished" if is_finished else "landing.requeued")
    if request.outcome == "landed" and finished.undoes is not None:
        undone = landings.move(tx.db, _require(tx, finished.undoes), "undone", f"by landing {finished.id}", tx.now)
        if undone is not None:
            _tell(tx, undone, "landing.undone")
    if is_finished and request.outcome != "landed":
        _warn(tx, finished)
    return _show(tx, finished)


def _warn(tx: Transaction, landing: Landing) -> None:
    """Tell a person which check or which files are in the way."""
    effort = efforts.find(tx.db, landing.efforts[-1]) if landing.efforts else None
    if effort is not None:
        text = f"landing {landing.id} ({landing.branch} onto {landing.target}) {landing.state}: {landing.reason}"
        notices.add(tx, "landing", effort, text, key=f"landing/{landing.id}/{landing.attempts}")


def _move(tx: Transaction, landing: Landing, state: LandingState, rule: str) -> Landing:
    moved = None
    if landing.state != "landing" and state in TRANSITIONS[landing.state]:  # only a lander moves what it has
        moved = landings.move(tx.db, landing, state, None, tx.now if state == "dropped" else None)
    if moved is None:
        raise _refusal(landing, f"landing {landing.id} is {landing.state}; {rule}", "see `ramet landings list`")
    _tell(tx, moved, "landing.queued" if state == "queued" else "landing.dropped")
    return moved


def _refusal(landing: Landing, message: str, fix: str) -> LandingRefused:
    return LandingRefused(message, field="landing_id", value=landing.id, fix=fix)


def _require(tx: Transaction, landing_id: int) -> Landing:
    landing = landings.find(tx.db, landing_id)
    if landing is None:
        raise LandingNotFound(f"there is no landing {landing_id}", field="landing_id", value=landing_id)
    return landing


def _held(tx: Transaction, landing: Landing | None, request: RenewLanding | NoteTested | FinishLanding) -> Landing:
    """The landing that a lander has changed, unless its lease was over and nothing has changed."""
    if landing is not None:
        return landing
    now = _require(tx, request.landing_id)
    raise LeaseLost(
        f"generation {request.generation} of landing {now.id} is over; now it is {now.state}, "
        f"generation {now.lease.generation}",
        field="generation",
        value=request.generation,
    )


def _until(tx: Transaction, lease_seconds: int) -> str:
    return to_iso(tx.now_ms + lease_seconds * _SECOND_MS)


def _find_blocker(landing: Landing, not_landed: Mapping[int, LandingState]) -> int | None:
    return next((needed for needed in landing.needs if needed in not_landed), None)


def _show(tx: Transaction, landing: Landing, *, already: bool = False) -> LandingRow:
    blocked_by = None
    if landing.needs and landing.state == "queued":
        blocked_by = _find_blocker(landing, landings.list_not_landed(tx.db, landing.host))
    columns = asdict(landing)
    lease = columns.pop("lease")
    flat = {f"lease_{name}": getattr(lease, name) for name in lease.__struct_fields__}
    return LandingRow(**columns, **flat, blocked_by=blocked_by, already=already)


def _tell(tx: Transaction, landing: Landing, kind: str) -> None:
    data = {"landing": landing.id, "state": landing.state, "target": landing.target, "reason": landing.reason}
    effort_id = landing.efforts[-1] if landing.efforts else None
    tx.record(kind, project_id=landing.project_id, effort_id=effort_id, data=data)  # type: ignore[arg-type]
