"""Parking: a driver whose account cannot be used, or whose program fails permanently several times, is not used for a
while. A failure that is a task's own never parks a driver.

After trouble with the account, all efforts continue. After failures, one attempt is admitted (`admit`) and the others
wait for its result; if it fails, the driver is parked for twice as long.
"""

from ramet.engine.answers import answers
from ramet.engine.record import lookup
from ramet.engine.system import notices
from ramet.engine.transaction import Transaction
from ramet.model.instant import from_datetime, from_iso, to_iso
from ramet.model.record.effort import NOT_FAILURES
from ramet.model.record.task import first_line
from ramet.model.work.driver import NEVER_PARKED
from ramet.model.work.retry_policy import Tried
from ramet.protocol.replies import Page
from ramet.protocol.work.drivers import ListParked, ParkedDriver, Released, ReleaseDriver
from ramet.protocol.work.leases import CompleteWork
from ramet.store.work import parked_drivers
from ramet.store.work.parked_drivers import Parked

_LONGEST_SECONDS = 3600
_LONGEST_REASON = 200


@answers(ListParked)
def list_parked(tx: Transaction, _request: ListParked) -> Page[ParkedDriver]:
    """The drivers that are not used for a while."""
    return Page(
        items=[
            ParkedDriver(driver=row.driver, until=row.until or "", reason=row.reason, failures=row.failures)
            for row in parked_drivers.list_parked(tx.db, tx.now)
        ]
    )


@answers(ReleaseDriver)
def release(tx: Transaction, request: ReleaseDriver) -> Released:
    """Use a driver again at once, because a person says so. Its failures are counted from zero."""
    known = parked_drivers.find(tx.db, request.driver)
    if known is None:
        return Released(driver=request.driver, effort_ids=[], already=True)
    # Also if its time is over: one attempt is then tried, and the failures before it still count.
    effort_ids = parked_drivers.let_begin(tx.db, known)
    parked_drivers.remove(tx.db, known.driver)
    tx.record("driver.released", data={"driver": known.driver, "efforts": effort_ids})
    return Released(driver=known.driver, effort_ids=effort_ids)


def is_parked(tx: Transaction, driver: str | None) -> bool:
    """Whether a driver is not to be used now."""
    return driver is not None and _is_parked(tx, parked_drivers.find(tx.db, driver))


def note(tx: Transaction, effort: Tried, request: CompleteWork, not_before: str | None) -> None:
    """Learn from how an attempt ended. `not_before` is when the effort's next attempt may start."""
    begun = parked_drivers.find_begun(tx.db, effort.id, request.generation)
    if begun is None or begun.driver in NEVER_PARKED:
        return
    known = parked_drivers.find(tx.db, begun.profile)
    is_old = known is not None and _is_older(tx, known, begun.created_at)
    if request.outcome in NOT_FAILURES:
        if known is not None and not is_old:
            _release(tx, known)
    elif request.failure == "limit":
        _wait_for_limit(tx, effort.id, begun.profile, known, not_before, request.reason)
    elif request.failure == "permanent" and request.is_fresh and not request.has_begun and not is_old:
        _count_failure(tx, effort.id, begun.profile, known, request.reason)


def let_one_through(tx: Transaction, driver: str) -> Parked | None:
    """What keeps a driver from being used now. A driver that failed is tried once when its time is over: the others
    keep waiting for as long as before, in case that attempt never reports.
    """
    known = parked_drivers.find(tx.db, driver)
    if known is None or _is_parked(tx, known):
        return known
    if known.failures >= tx.work.breaker_failures:
        parked_drivers.put(tx.db, Parked(driver, _after(tx, known.failures), known.reason, known.failures))
        tx.record("driver.released", data={"driver": driver, "attempts": 1})
    return None


def _wait_for_limit(
    tx: Transaction, effort_id: int, driver: str, known: Parked | None, until: str | None, reason: str | None
) -> None:
    """Of several attempts that meet the same limit the first one parks the driver; a later end counts. It is the same
    limit as long as no attempt has succeeded.
    """
    if until is None or until <= tx.now or (known is not None and (known.until or "") >= until):
        return
    is_same = known is not None and known.until is not None and known.failures == 0
    why = first_line(reason or "")[:_LONGEST_REASON] or "it has reached a usage limit"
    _park(tx, effort_id, Parked(driver, until, why, 0), is_known=is_same)


def _count_failure(tx: Transaction, effort_id: int, driver: str, known: Parked | None, reason: str | None) -> None:
    failures = (known.failures if known else 0) + 1
    reason = reason or "it failed"
    if failures < tx.work.breaker_failures:
        parked_drivers.put(tx.db, Parked(driver, None, reason, failures))
        return
    _park(tx, effort_id, Parked(driver, _after(tx, failures), reason, failures), is_known=False)


def _park(tx: Transaction, effort_id: int, parked: Parked, *, is_known: bool) -> None:
    parked_drivers.put(tx.db, parked)
    data = {"driver": parked.driver, "until": parked.until, "reason": parked.reason, "failures": parked.failures}
    tx.record("driver.parked", effort_id=effort_id, data=data)
    if not is_known:
        why = f"failed {parked.failures} times in a row" if parked.failures else "cannot use its account"
        text = (
            f"{parked.driver} {why}: {parked.reason}; its efforts wait until {parked.until}, or until "
            f"`ramet drivers release {parked.driver}`"
        )
        notices.add(tx, "parked", lookup.effort(tx, effort_id), text, key=f"parked/{parked.driver}/{parked.until}")


def _release(tx: Transaction, known: Parked) -> None:
    parked_drivers.remove(tx.db, known.driver)
    if known.until is not None:
        tx.record("driver.released", data={"driver": known.driver})


def _is_parked(tx: Transaction, known: Parked | None) -> bool:
    return known is not None and known.until is not None and known.until > tx.now


def _is_older(tx: Transaction, known: Parked, began_at: str) -> bool:
    """Whether an attempt started before its driver was parked, and so says nothing about the driver since then."""
    if known.until is None or not _is_parked(tx, known):
        return False
    return known.failures == 0 or _after(tx, known.failures, since=began_at) < known.until


def _after(tx: Transaction, failures: int, since: str | None = None) -> str:
    """For how long so many failures leave a driver alone."""
    first = tx.work.breaker_seconds
    seconds = min(first * 2 ** min(failures - tx.work.breaker_failures, 32), max(first, _LONGEST_SECONDS))
    return to_iso((tx.now_ms if since is None else from_datetime(from_iso(since))) + seconds * 1000)
