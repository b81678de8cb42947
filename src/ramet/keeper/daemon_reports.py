"""The exchange with the daemon: the spool goes out, the lease is renewed, a request to stop comes in."""

import selectors
from collections.abc import Callable

import msgspec
from msgspec import Raw, Struct

from ramet.clock import steady_seconds
from ramet.errors import BadRequest, Conflict, NotFound, RametError
from ramet.keeper.kernel import DeathTimer
from ramet.keeper.log import Log
from ramet.keeper.spool import Spool
from ramet.keeper.time_limits import Verdict
from ramet.keeper.uplink import Uplink
from ramet.model.record.effort import StopRequest
from ramet.protocol.work.keepers import KeeperSpec

_ANSWER_SECONDS = 30.0
_MARGIN_SECONDS = 1.0
"""How long before its lease ends an agent has to be gone, at the latest; of a short lease a tenth."""
ASKED_TO_STOP = "it was asked to stop"
_NEVER = (BadRequest, NotFound, Conflict)
"""What the daemon would answer again."""


class _Reported(Struct, frozen=True):
    """`ramet.protocol.work.Reported`, without the rest of that module, which takes a tenth of a keeper's start."""

    seq: int
    is_current: bool
    stop: StopRequest | None
    is_renewed: bool
    is_child_alive: bool = False


class DaemonReports:
    """Tells the daemon of one agent."""

    def __init__(
        self,
        spec: KeeperSpec,
        spool: Spool,
        selector: selectors.BaseSelector,
        log: Log,
        now: float,
        hear_child: Callable[[float], None],
    ) -> None:
        """`hear_child` is called when a child of the agent has given a sign of life."""
        self._spec = spec
        self._hear_child = hear_child
        self._spool = spool
        self._log = log
        self._uplink = Uplink(spec.socket, selector, min(_ANSWER_SECONDS, spec.lease_seconds / 3), self._hear)
        self._asked_seq = 0
        self._asked_at = now
        steady = steady_seconds()
        leased_at = steady if spec.leased_at is None else min(spec.leased_at, steady)
        self._renewed_at = now - (steady - leased_at)
        self._asked_steady = steady
        self._death = DeathTimer() if spec.is_fenced else None
        """Ends us if we hang until the lease is over; None once the agent is gone."""
        # If the lease is over already, we are well and end the agent ourselves.
        self._live_until(max(leased_at + spec.lease_seconds, steady + 2 * _margin(spec)))
        self._is_renewing = True
        needed_seconds = 2 * spec.grace_seconds + 2
        self._ending_seconds = min(needed_seconds, spec.lease_seconds / 4)
        self.grace_seconds = spec.grace_seconds * (self._ending_seconds / needed_seconds if spec.is_fenced else 1)
        """How long each step of ending the agent may take, so that it is over before the lease is."""
        self.answered_at = now
        """When the daemon last accepted a report."""
        self.is_refused = False
        """Whether it will never take it; the spool keeps it."""
        self.verdict: Verdict | None = None
        """Set when what the daemon answers, or its silence, is a reason to end the agent."""

    @property
    def due_at(self) -> float:
        """When to call `tell`."""
        return min(self._ask_at, self._uplink.late_at, self._fence_at)

    @property
    def lost_at(self) -> float:
        """When another worker can soon have the lease; infinity if none can."""
        if not self._spec.is_fenced:
            return float("inf")
        return self._renewed_at + self._spec.lease_seconds - _margin(self._spec)

    def tell(self, now: float) -> None:
        """Do what is due."""
        self._uplink.check(now)
        if now >= self._ask_at:
            self._report(now)
        if now >= self._fence_at:
            self.finish()
            reason = "its lease could not be renewed, and another worker may claim it"
            self.verdict = Verdict("error", "infrastructure", reason)

    def finish(self) -> None:
        """The agent ends: the lease needs no more renewing."""
        self._is_renewing = False

    def outlive_lease(self) -> None:
        """The agent is gone: what is left is to say so, however late."""
        if self._death is not None:
            self._death.clear()
            self._death = None

    def _live_until(self, steady: float) -> None:
        """Let the kernel end us, and with us the agent, behind the moment when we would have and before the end of the
        lease.
        """
        if self._death is not None:
            self._death.set(steady - _margin(self._spec) / 2)

    def close(self) -> None:
        """Say no more."""
        self._uplink.close()

    @property
    def _ask_at(self) -> float:
        if self.is_refused:
            return float("inf")
        renew_at = self._renewed_at + self._spec.lease_seconds / 3 if self._is_renewing else float("inf")
        return max(self._uplink.free_at, min(self._spool.due_at, renew_at))

    @property
    def _fence_at(self) -> float:
        if not (self._spec.is_fenced and self._is_renewing):
            return float("inf")
        return self.lost_at - self._ending_seconds

    def _report(self, now: float) -> None:
        seq, events = self._spool.batch()
        parts = (self._spec.session_id, self._spec.instance.encode(), seq, b",".join(events))
        params = b'{"session_id":%d,"instance":"%s","seq":%d,"events":[%s]}' % parts
        self._asked_seq = seq + len(events) - 1
        self._asked_at = now
        self._asked_steady = steady_seconds()
        self._uplink.ask("work.report", params, now)

    def _hear(self, answer: Raw | RametError, now: float) -> None:
        try:
            reported = _read(answer)
        except RametError as error:
            self._log.write(f"the daemon refused a report: {error.code}: {error.message}")
            self.is_refused = isinstance(error, _NEVER)
            self._uplink.lose(now)
            return
        if reported.is_renewed:
            self._renewed_at = self._asked_at  # the lease counts from when the daemon heard, which was later
            self._live_until(self._asked_steady + self._spec.lease_seconds)
        self.answered_at = now
        if reported.is_child_alive:
            self._hear_child(now)
        self._spool.acknowledge(reported.seq)
        if reported.seq < self._asked_seq:
            self._log.write(f"the daemon has {reported.seq} of {self._asked_seq} events")
            self._uplink.lose(now)
        else:
            self._uplink.succeed()
        if not reported.is_current:
            self.finish()
            self.verdict = Verdict("cancelled", None, "its lease was lost to another attempt")
        elif reported.stop is not None:
            self.verdict = Verdict(reported.stop.outcome, None, reported.stop.reason or ASKED_TO_STOP)


def _margin(spec: KeeperSpec) -> float:
    """How long before the end of its lease an agent has to be gone."""
    return min(_MARGIN_SECONDS, spec.lease_seconds / 10)


def _read(answer: Raw | RametError) -> _Reported:
    if isinstance(answer, RametError):
        raise answer
    try:
        return msgspec.json.decode(answer, type=_Reported)
    except msgspec.DecodeError as error:
        raise RametError(f"the reply to a report is not valid: {error}") from error
