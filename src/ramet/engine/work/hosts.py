"""Hosts that fail: a host on which several attempts in a row fail before their agents start claims nothing for a while.

Its efforts wait for another host, or until it works again. When its time is over, it tries one effort; if an agent
begins, it claims all efforts again, else it waits twice as long. Attempts that were under way when one failed have met
the same trouble, so they count as that one.
"""

from msgspec.structs import replace

from ramet.engine.answers import answers
from ramet.engine.system import notices
from ramet.engine.transaction import Transaction
from ramet.model.instant import from_iso, to_iso
from ramet.model.record.task import first_line
from ramet.protocol.replies import Page
from ramet.protocol.work.hosts import (
    HostRow,
    HostState,
    ListHosts,
    NoteHostWorks,
    NotStarted,
    ParkHost,
    ResumedHost,
    ResumeHost,
)
from ramet.store.work import hosts
from ramet.store.work.hosts import Host

_LONGEST_SECONDS = 600
"""The longest time between two probes: one costs no agent anything."""
_LONGEST_REASON = 300
_PATIENCE_DAYS = 7
"""Of a host on which no agent has started for so long, each failure counts as one of the effort."""


@answers(ListHosts)
def list_all(tx: Transaction, _request: ListHosts) -> Page[HostRow]:
    """The hosts that are in trouble."""
    return Page(items=[_show(tx, host) for host in hosts.list_all(tx.db)])


@answers(ResumeHost)
def resume(tx: Transaction, request: ResumeHost) -> ResumedHost:
    """Let a host claim again at once, because a person says so."""
    resumed = _resume(tx, request.name, "person")
    hosts.forget_failures(tx.db, request.name)
    return resumed


@answers(NoteHostWorks)
def note_works(tx: Transaction, request: NoteHostWorks) -> ResumedHost:
    """What failed before is over."""
    return _resume(tx, request.name, "probe")


@answers(ParkHost)
def park(tx: Transaction, request: ParkHost) -> HostRow:
    """Let a host claim nothing until it says that it works."""
    known = hosts.find(tx.db, request.name)
    failures = known.failures if known else 0
    host = Host(name=request.name, failures=failures, failed_at=tx.now, reason=request.reason)
    return _show(tx, _park(tx, known, host))


def is_efforts(tx: Transaction, avoid_host: str | None, not_started: NotStarted) -> bool:
    """Whether this failure is the effort's, whatever its cause: it failed on this host before, and others have started
    there since; or nothing has started there for days, and nobody has done anything about it.
    """
    known = hosts.find(tx.db, not_started.host) if not_started.host is not None else None
    if known is None:
        return not_started.host is not None and avoid_host == not_started.host
    return known.parked_at is not None and known.parked_at < to_iso(tx.now_ms - _PATIENCE_DAYS * 86_400_000)


def note_failure(tx: Transaction, not_started: NotStarted, reason: str | None) -> int:
    """Count a failure of a host; how many there have been in a row."""
    if not_started.host is None:
        return 1
    known = hosts.find(tx.db, not_started.host)
    if known is not None and known.failed_at is not None and _began_at(tx, not_started) < known.failed_at:
        return known.failures
    failures = (known.failures if known else 0) + 1
    why = first_line(reason or "")[:_LONGEST_REASON] or "no agent could start"
    host = Host(name=not_started.host, failures=failures, failed_at=tx.now, reason=why)
    if failures >= tx.work.host_breaker_failures:
        _park(tx, known, replace(host, parked_until=_after(tx, failures)))
    else:
        hosts.put(tx.db, host)
    return failures


def _began_at(tx: Transaction, not_started: NotStarted) -> str:
    return to_iso(tx.now_ms - int(not_started.seconds * 1000))


def _park(tx: Transaction, known: Host | None, host: Host) -> Host:
    """Let a host claim nothing. A person is told once, however often it tries again in vain."""
    since = known.parked_at if known else None
    parked = replace(host, parked_at=since or tx.now)
    hosts.put(tx.db, parked)
    data = {"host": host.name, "until": host.parked_until, "reason": host.reason, "failures": host.failures}
    tx.record("host.parked", data=data)
    if since is None:
        text = f"{host.name} claims no efforts: {host.reason}; it tries again by itself, or now with "
        notices.add_about_host(tx, f"{text}`ramet resume --host {host.name}`", key=f"host/{host.name}/{tx.now}")
    return parked


def _resume(tx: Transaction, name: str, by: str) -> ResumedHost:
    known = hosts.find(tx.db, name)
    if known is None:
        return ResumedHost(name=name, effort_ids=[], already=True)
    effort_ids = hosts.let_begin(tx.db, name)
    hosts.remove(tx.db, name)
    if known.parked_at is not None:
        tx.record("host.resumed", data={"host": name, "by": by, "efforts": effort_ids})
    return ResumedHost(name=name, effort_ids=effort_ids, already=known.parked_at is None)


def _show(tx: Transaction, host: Host) -> HostRow:
    return HostRow(
        name=host.name,
        state=_state(tx, host),
        failures=host.failures,
        reason=host.reason,
        parked_at=from_iso(host.parked_at) if host.parked_at else None,
        parked_until=from_iso(host.parked_until) if host.parked_until else None,
    )


def _state(tx: Transaction, host: Host) -> HostState:
    if host.parked_at is None:
        return "counting"
    return "parked" if host.parked_until is None or host.parked_until > tx.now else "probing"


def _after(tx: Transaction, failures: int) -> str:
    """For how long a host with so many failures claims nothing."""
    first = tx.work.host_breaker_seconds
    doublings = min(max(failures - tx.work.host_breaker_failures, 0), 32)
    return to_iso(tx.now_ms + min(first * 2**doublings, max(first, _LONGEST_SECONDS)) * 1000)
