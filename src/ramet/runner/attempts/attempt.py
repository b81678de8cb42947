"""One attempt at an effort, from its claim to its end: prepare, record, launch, wait, settle.

Each step leaves what the next daemon needs to continue from there: a lease, then a session with its keeper's instance,
then the keeper's folder, then an ended session, then an outcome. Repeating a step changes nothing.
"""

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from ramet.clock import steady_seconds
from ramet.errors import LeaseLost, NoStart, RametError, StoreError, WorktreeBusy
from ramet.model.record.effort import Failure
from ramet.model.work.stream import End, Started
from ramet.protocol.record.sessions import GetSession
from ramet.protocol.work.attempts import Attempt, BeginAttempt, ReportStream
from ramet.protocol.work.hosts import NotStarted
from ramet.protocol.work.keepers import KeeperRecord, Spooled
from ramet.protocol.work.leases import Claimed, Completed, CompleteWork, RenewLease
from ramet.runner.attempts import preparation
from ramet.runner.attempts.host_gate import HostGate
from ramet.runner.attempts.lease_hold import hold
from ramet.runner.attempts.preparation import Prepared
from ramet.runner.attempts.preparation_failures import Blame, blame, failure_of
from ramet.runner.context import Order, RunnerContext
from ramet.runner.processes import keepers, process_exit, process_tree
from ramet.runner.processes.lease_guard import LeaseGuard
from ramet.runner.settlement import settlement
from ramet.runner.settlement.adoption import Left

log = logging.getLogger(__name__)

_LOOK_SECONDS = 0.1
_MAY_BE_HOSTS = ("infrastructure", "unknown")
"""The failures of an attempt whose keeper ended before it could say more."""
_AWAY_SECONDS = 2.0
"""How long a shared database that is away is left alone."""


class _Held(Struct, frozen=True, kw_only=True):
    """An attempt whose session is on record."""

    effort_id: int
    generation: int
    session_id: int
    instance: str
    claimed_at: float | None = None
    """By the monotonic clock; None if a former daemon claimed it."""
    continues: bool = False
    """Whether it was to go on in an earlier context window."""


class Attempts:
    """Makes attempts."""

    def __init__(self, runner: RunnerContext, gate: HostGate, guard: LeaseGuard) -> None:
        self._runner = runner
        self._gate = gate
        self._guard = guard

    async def make(self, claimed: Claimed, order: Order) -> Completed | None:
        """Run a claimed effort once."""
        claimed_at = time.monotonic()
        try:
            async with hold(self._runner, claimed.id, claimed.generation):
                prepared = await asyncio.to_thread(preparation.prepare, self._runner, claimed, order)
                attempt, prepared = await self._record(claimed, prepared, order)
        except preparation.Postponed as postponed:
            return postponed.requeued
        except LeaseLost as error:  # another host had the outcome, or the effort was stopped: nothing has failed here
            log.info("an attempt is not needed any more effort=%d why=%s", claimed.id, error.message)
            return None
        except (RametError, OSError) as error:
            return await self._give_up(claimed, error, claimed_at)
        held = _Held(
            effort_id=claimed.id,
            generation=claimed.generation,
            session_id=attempt.session.id,
            instance=prepared.instance,
            claimed_at=claimed_at,
            continues=prepared.continues,
        )
        self._runner.faults.reach("before_launch")
        try:
            prepared = await self._set_up(claimed, prepared, order)
        except (RametError, OSError) as error:
            return await self._abandon(held, error, _reason(error))
        try:
            sandbox = await asyncio.to_thread(preparation.confine, self._runner, claimed, prepared, order)
            spec = preparation.specify(self._runner, claimed, attempt, prepared, order, sandbox)
            record = await asyncio.to_thread(keepers.start, self._runner.places.keepers, spec)
        except (RametError, OSError) as error:
            return await self._abandon(held, error, f"the keeper could not be started: {_reason(error)}")
        self._runner.faults.reach("after_launch")
        self._guard.watch(held.instance, steady_seconds() if prepared.leased_at is None else prepared.leased_at)
        return await self._wait(held, record)

    async def finish(self, left: Left) -> Completed | None:
        """Continue what a former daemon left."""
        held = _Held(
            effort_id=left.effort_id,
            generation=left.generation,
            session_id=left.session_id,
            instance=left.instance,
        )
        return await self._wait(held, left.record)

    async def _record(self, claimed: Claimed, prepared: Prepared, order: Order) -> tuple[Attempt, Prepared]:
        """Record that the attempt starts; if its worktree is in use, in a worktree of its own."""
        try:
            prepared = replace(prepared, leased_at=steady_seconds())
            return await self._begin(claimed, prepared, order), prepared
        except WorktreeBusy:
            apart = await asyncio.to_thread(preparation.move_apart, self._runner, claimed, prepared)
            apart = replace(apart, leased_at=steady_seconds())
            return await self._begin(claimed, apart, order), apart

    async def _set_up(self, claimed: Claimed, prepared: Prepared, order: Order) -> Prepared:
        """Prepare the worktree, and hold the effort meanwhile: a set-up command may take longer than a lease lasts."""
        async with hold(self._runner, claimed.id, claimed.generation):
            has_run = await asyncio.to_thread(preparation.set_up, self._runner, claimed, prepared, order)
        if not has_run:
            return prepared
        renewed_at = steady_seconds()
        await self._runner.ask(RenewLease(effort_id=claimed.id, generation=claimed.generation))
        return replace(prepared, leased_at=renewed_at)

    async def _begin(self, claimed: Claimed, prepared: Prepared, order: Order) -> Attempt:
        worktree = prepared.worktree
        return await self._runner.ask(
            BeginAttempt(
                effort_id=claimed.id,
                generation=claimed.generation,
                driver=prepared.driver.name,
                profile=prepared.profile_name,
                agent_id=order.slot,
                instance=prepared.instance,
                prompt=prepared.prompt.prompt,
                model=prepared.model,
                native_id=prepared.native_id,
                continues=prepared.continues,
                is_cut=prepared.prompt.cut,
                timeout_seconds=prepared.timeout_seconds,
                worktree=worktree.path if worktree else None,
                git_branch=worktree.branch if worktree else None,
                git_base=worktree.base if worktree else None,
                git_host=self._runner.host,
            )
        )

    async def _wait(self, held: _Held, record: KeeperRecord | None) -> Completed | None:
        """Until the keeper is gone; then see to it that everything it held is, too."""
        if record is not None:
            if held.claimed_at is not None:  # an agent that runs since a former daemon says nothing about the host now
                await self._note_beginning(record)
            await process_exit.until_gone(record.pid, keepers.find_start(record))
            self._guard.forget(held.instance)
        while True:
            try:
                await self._tidy(held)
                return await self._settle(held)
            except RametError as error:
                if not error.is_transient:
                    raise
                log.warning("an attempt waits to be settled effort=%d error=%s", held.effort_id, error.code)
                await asyncio.sleep(_AWAY_SECONDS)

    async def _note_beginning(self, record: KeeperRecord) -> None:
        """If this host has just failed, wait until an agent has started: then the failures before it count no more."""
        while self._gate.is_doubted and keepers.is_alive(record):
            known = await asyncio.to_thread(keepers.read_record, self._runner.places.keepers, record.instance)
            if known is not None and known.agent_pid is not None:
                with suppress(StoreError):  # the next attempt will say so
                    await self._gate.note_works()
                return
            await asyncio.sleep(_LOOK_SECONDS)

    async def _abandon(self, held: _Held, error: RametError | OSError, reason: str) -> Completed | None:
        """An attempt that is on record failed before its agent started."""
        whose = self._blame(error)
        await self._end(held, reason, failure_of(whose))
        return await self._settle(held, whose, reason)

    async def _has_no_agent(self, held: _Held) -> bool:
        """Whether the attempt ended before its keeper had started the agent."""
        spooled = await asyncio.to_thread(keepers.read_spool, self._runner.places.keepers, held.instance)
        if _has_started(spooled):
            return False
        return (await self._runner.ask(GetSession(session_id=held.session_id))).pid is None

    async def _tidy(self, held: _Held) -> None:
        """Stop what the keeper left running, and report what it could not. If the lease was lost, the session has
        ended, and there may still be more to report.
        """
        session = await self._runner.ask(GetSession(session_id=held.session_id))
        spooled = await asyncio.to_thread(keepers.read_spool, self._runner.places.keepers, held.instance)
        if session.ended_at is None or settlement.find_end(spooled) is None:
            await asyncio.to_thread(process_tree.end_marked, held.instance, self._runner.settings.work.grace_seconds)
        is_untold = bool(spooled) and spooled[-1].seq > session.reported_seq
        if session.instance == held.instance and (session.ended_at is None or is_untold):
            await self._report_rest(held)

    async def _report_rest(self, held: _Held) -> None:
        """What the keeper could not deliver any more; and an end, if it wrote none."""
        folder = self._runner.places.keepers
        spooled = await asyncio.to_thread(keepers.read_spool, folder, held.instance)
        if settlement.find_end(spooled) is None:
            return await self._end(held, "its keeper died")
        for batch in settlement.batches(spooled):
            await self._runner.ask(
                ReportStream(
                    session_id=held.session_id,
                    instance=held.instance,
                    seq=batch[0].seq,
                    events=[line.event for line in batch],
                )
            )
        return None

    async def _end(self, held: _Held, reason: str, failure: Failure = "infrastructure") -> None:
        """Close an attempt that did not close itself: on disk first, so that the next daemon would find it so."""
        folder = self._runner.places.keepers
        spooled = await asyncio.to_thread(keepers.read_spool, folder, held.instance)
        end = End(outcome="error", failure=failure, reason=reason)
        closing = Spooled(seq=spooled[-1].seq + 1 if spooled else 1, event=end)
        try:
            await asyncio.to_thread(keepers.add_to_spool, folder, held.instance, closing)
        except OSError as error:  # a full disk: if no agent started, the outcome says enough
            if _has_started(spooled):
                raise
            log.warning("the end of an attempt was not written effort=%d: %s", held.effort_id, error)
            return
        await self._report_rest(held)

    async def _settle(self, held: _Held, whose: Blame | None = None, reason: str | None = None) -> Completed | None:
        """Record the outcome. `whose` failure it is, if it is known that no agent started."""
        self._runner.faults.reach("before_settle")
        async with hold(self._runner, held.effort_id, held.generation):
            completion = await asyncio.to_thread(
                settlement.conclude, self._runner, held.effort_id, held.generation, held.session_id, held.instance
            )
        if whose is None and completion.failure in _MAY_BE_HOSTS and await self._has_no_agent(held):
            whose = "host" if held.claimed_at is not None else "nobody"
        if whose is not None:
            completion = replace(
                completion,
                outcome="error",
                failure=failure_of(whose),
                reason=reason or completion.reason,
                is_fresh=not held.continues,
                not_started=self._not_started(whose, held.claimed_at),
            )
        done = await self._runner.ask(completion)
        self._runner.faults.reach("after_settle")
        await asyncio.to_thread(keepers.remove, self._runner.places.keepers, held.instance)
        return done

    async def _give_up(self, claimed: Claimed, error: RametError | OSError, claimed_at: float) -> Completed:
        """End an attempt that is not on record yet. What depends on something that came to nothing is dropped: that
        failed, and not this.
        """
        whose, is_dropped = self._blame(error), isinstance(error, NoStart)
        code = error.code if isinstance(error, RametError) else type(error).__name__
        log.warning("an attempt could not start effort=%d error=%s", claimed.id, code)
        return await self._runner.ask(
            CompleteWork(
                effort_id=claimed.id,
                generation=claimed.generation,
                outcome="dropped" if is_dropped else "error",
                failure=None if is_dropped else failure_of(whose),
                reason=_reason(error),
                is_fresh=claimed.continues_session_id is None,
                not_started=self._not_started(whose, claimed_at),
            )
        )

    def _blame(self, error: Exception) -> Blame:
        return blame(error, is_alone=self._runner.host is None)

    def _not_started(self, whose: Blame, claimed_at: float | None) -> NotStarted | None:
        """What the queue should know of a failure before the agent began."""
        if whose == "effort":
            return None
        if whose == "host":
            self._gate.doubt()
        return NotStarted(
            host=None if whose == "nobody" else self._runner.host_name,
            is_hosts=whose != "unfit",
            seconds=0 if claimed_at is None else time.monotonic() - claimed_at,
        )


def _reason(error: RametError | OSError) -> str:
    return f"{error.message}; {error.fix}" if isinstance(error, RametError) else f"this machine failed: {error}"


def _has_started(spooled: Sequence[Spooled]) -> bool:
    return any(isinstance(line.event, Started) for line in spooled)
