"""The crew: the workers of one daemon. It claims ready efforts, one for each free slot, and looks after every attempt
until it is settled, including those that a former daemon left.

An attempt belongs to the crew, not to the connection that asked for work: when that connection closes, nothing more is
claimed, but running attempts are still settled. When the daemon stops, the keepers stay, and the next crew adopts them.
"""

import asyncio
import itertools
import logging
import time
from collections import Counter
from collections.abc import Collection, Coroutine, Mapping
from contextlib import suppress
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from ramet.clock import steady_seconds
from ramet.errors import RametError, RunAttended
from ramet.model.record.effort import NOT_FAILURES, StopRequest
from ramet.model.record.session import Session
from ramet.model.runs.run import Run
from ramet.protocol.operation import Request
from ramet.protocol.pages import follow_async
from ramet.protocol.work.leases import Claimed, ClaimWork, Completed, Refused
from ramet.protocol.work.queue import ListWork, NextWork
from ramet.protocol.work.workers import RunWork, StopWork, WorkDone
from ramet.runner.attempts.attempt import Attempts
from ramet.runner.attempts.host_gate import HostGate
from ramet.runner.budgets.holds import Holds
from ramet.runner.context import Order, RunnerContext
from ramet.runner.processes import keepers
from ramet.runner.processes.lease_guard import LeaseGuard
from ramet.runner.runs.attendance import attend, leave_all
from ramet.runner.settlement import adoption
from ramet.runner.spawn.stranded_children import tend

log = logging.getLogger(__name__)

_COALESCE_SECONDS = 0.01
"""Many commits in a row are one reason to check the queue again, if it was empty a moment ago."""
_LOOK_SECONDS = 5.0
"""How long to wait before checking the queue again if nothing happened here: another daemon may have added work."""


class _Run(Struct, eq=False):
    """One `work.run` that has not been answered."""

    request: RunWork
    free: list[str]
    """The slots that run nothing."""
    wanted: list[int] | None
    """The efforts that are still to be run, if they were named."""
    attended: Run | None
    """The run whose lines are worked on."""
    finished: Counter[str]
    running: int = 0
    is_stopped: bool = False
    found_nothing_at: float = 0.0
    """When there last was nothing for a free slot."""
    is_held: bool = False
    """Whether something would start if a budget were not used up."""
    is_parked: bool = False
    """Whether something would start, now or after a pause, if this host claimed efforts."""


class _Post(Struct, frozen=True):
    """Who is in a slot, and with what."""

    effort_id: int
    order: Order


class _Seat(Struct, frozen=True):
    """A slot for an awaited child."""

    order: Order
    run: _Run | None
    """Whose slot it is; None if it is lent by the session that waits."""


class Crew:
    """Everything that runs. All of it happens on the event loop's thread."""

    def __init__(self, runner: RunnerContext) -> None:
        self._runner = runner
        self._gate = HostGate(runner)
        self.guard = LeaseGuard(
            runner.places.keepers,
            runner.settings.work.lease_seconds,
            is_fenced=runner.settings.database.type == "postgres",
        )
        self._attempts = Attempts(runner, self._gate, self.guard)
        self._holds = Holds(runner)
        self._tasks: set[asyncio.Task[None]] = set()
        self._lines: set[asyncio.Task[None]] = set()
        """Those that work on lines of runs, for which nothing of the queue waits."""
        self._runs: list[_Run] = []
        self._taken: set[str] = set()
        self._posts: dict[str, _Post] = {}
        self._attended: set[int] = set()
        self._news = asyncio.Event()
        self.commits = 0
        """How many there have been: a reader remembers the number, and waits until it has changed."""
        self._leases_kept = float("-inf")

    async def adopt(self) -> None:
        """Take over what a former daemon left: agents that live, and what is left of those that do not."""
        await leave_all(self._runner)
        renewed_at = steady_seconds()  # before it is asked for
        found = await adoption.look(self._runner)
        await tend(self._runner, is_starting=True)
        for left in found:
            if left.record is not None and keepers.is_alive(left.record):
                self.guard.watch(left.instance, renewed_at)
            self._taken.add(left.slot)
            self._posts[left.slot] = _Post(left.effort_id, Order(slot=left.slot))
            self._begin(self._look_after(left))

    async def run(self, request: RunWork) -> WorkDone:
        """Claim and run efforts until there is nothing left, or until asked to stop."""
        if request.run is None:
            return await self._work_on(request, None)
        if request.run in self._attended:
            raise RunAttended(f"this daemon already attends run {request.run}", field="run", value=request.run)
        self._attended.add(request.run)
        try:
            async with attend(self._runner, request, on_loss=lambda: self.stop(StopWork(run=request.run))) as attended:
                return await self._work_on(request, attended)
        finally:
            self._attended.discard(request.run)

    async def _work_on(self, request: RunWork, attended: Run | None) -> WorkDone:
        slots = self._take_slots(_count_slots(request, attended))
        run = _Run(request, slots, request.effort_ids, attended, Counter())
        self._runs.append(run)
        try:
            await self._serve(run)
        finally:
            self._runs.remove(run)
            self._taken.difference_update(run.free)
        why: Literal["stopped", "host_parked", "idle"] = "host_parked" if run.is_parked else "idle"
        return WorkDone(finished=dict(run.finished), why="stopped" if run.is_stopped else why)

    def stop(self, stop: StopWork) -> None:
        """Claim no more, or no more for those that are named."""
        for run in self._runs:
            if stop.run in (None, run.request.run) and stop.shift in (None, run.request.shift):
                run.is_stopped = True
        self.look_again()

    def look_again(self) -> None:
        """Something was committed: there may be work."""
        self.commits += 1
        self._news.set()

    async def news(self, commits: int) -> None:
        """Return when something has been committed since there were so many; or after a while, for others may have."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LOOK_SECONDS):
                while commits == self.commits:
                    self._news.clear()
                    await self._news.wait()

    async def lend(self, effort_id: int, lender: Session, environment: Mapping[str, str]) -> bool | None:
        """Run a child that a session waits for: in that session's slot, else in an idle one. Whether it has started;
        None if there is no slot. The environment is that of the client that waits, if it is a person's.
        """
        seat = self._find_seat(lender, environment)
        if seat is None:
            return None
        has_begun: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._begin(self._run_child(effort_id, seat, has_begun))
        return await has_begun  # the child is looked after, even where nobody waits here any more

    def end(self, effort_ids: Collection[int], stop: StopRequest) -> None:
        """Let the keepers of efforts end their agents."""
        for record in keepers.list_records(self._runner.places.keepers):
            if record.effort_id in effort_ids:
                keepers.ask_to_stop(self._runner.places.keepers, record, stop)

    @property
    def is_idle(self) -> bool:
        return not (self._tasks or self._runs)

    async def close(self) -> None:
        """Stop looking after attempts. Running agents continue without us."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # Claiming.

    async def _serve(self, run: _Run) -> None:
        is_over = False
        while True:
            commits = self.commits
            has_begun = await self._begin_patiently(run)
            if run.is_stopped and not run.running:
                return
            if is_over and not has_begun:
                return  # there was nothing left, and then nothing was ready
            is_over = await self._is_over(run)
            if not is_over:
                await self._wait_for_news(run, commits)

    async def _begin_patiently(self, run: _Run) -> bool:
        """The same as `_begin_ready`; workers that stay wait while the database cannot be used."""
        try:
            return await self._begin_ready(run)
        except RametError as error:
            if not error.is_transient or run.request.once or run.attended is not None:
                raise
            log.warning("the workers wait for the database error=%s: %s", error.code, error.message)
            await asyncio.sleep(_LOOK_SECONDS)
            return True

    async def _begin_ready(self, run: _Run) -> bool:
        """Give every free slot something to do; whether there was anything."""
        has_begun = False
        while run.free and not run.is_stopped:
            slot = run.free.pop()  # before the claim: others may be freed while it is made
            claimed = None
            try:
                claimed = await self._claim(run, slot)
            finally:
                if claimed is None:
                    run.free.append(slot)
                    self._gate.leave(slot)
            if claimed is None:
                run.found_nothing_at = time.monotonic()
                break
            run.running += 1
            task = self._begin(self._work(run, claimed, slot))
            if run.attended is not None:
                self._lines.add(task)
            has_begun = True
        return has_begun

    async def _claim(self, run: _Run, slot: str) -> Claimed | None:
        request = run.request
        await self._keep_leases()
        run.is_parked = False
        if not await self._gate.admits(slot):
            run.is_parked = await self._has_more(run, slot)
            return None
        if run.wanted is not None:
            return await self._claim_wanted(run, run.wanted, slot)
        host, held = self._runner.host, await self._find_held(run, slot)
        if held is None:
            return None
        asked = ClaimWork(worker=slot, project=request.project, run=request.run, host=host, held=held)
        claimed = await self._ask(asked)
        return claimed if isinstance(claimed, Claimed) else None

    async def _has_more(self, run: _Run, slot: str) -> bool:
        """Whether there is something for this host, now or after a pause."""
        if run.wanted is not None:
            return bool(run.wanted)
        project, host = run.request.project, self._runner.host
        if await self._ask(NextWork(worker=slot, project=project, run=run.request.run, host=host)) is not None:
            return True
        if run.attended is not None:
            return await self._waits_for_a_time(run.attended.id)
        queued = await self._ask(ListWork(state="queued", project=project, limit=self._runner.settings.limits.page_max))
        return any(each.run_id is None and each.blocked_by is None and each.not_before for each in queued.items)

    async def _find_held(self, run: _Run, slot: str) -> list[int] | None:
        """The projects whose budgets are used up, as far as the next effort needs them; None if nothing may start."""
        request, held, host = run.request, list[int](), self._runner.host
        run.is_held = False
        while True:
            following = NextWork(worker=slot, project=request.project, run=request.run, host=host, held=held)
            effort = await self._ask(following)
            if effort is None:
                return None
            reached = await self._holds.find(effort.id, request.environment, request.settings)
            if not reached:
                return held
            run.is_held = True
            projects = [use.project_id for use in reached if use.project_id is not None]
            if len(projects) < len(reached) or projects[0] in held:
                return None  # it is a budget of all projects
            held.append(projects[0])

    async def _claim_wanted(self, run: _Run, wanted: list[int], slot: str) -> Claimed | None:
        request, run.is_held = run.request, False
        for effort_id in list(wanted):
            if await self._holds.find(effort_id, request.environment, request.settings):
                run.is_held = True
                continue
            asked = ClaimWork(worker=slot, effort_id=effort_id, run=request.run, host=self._runner.host)
            claimed = await self._ask(asked)
            if isinstance(claimed, Claimed):
                return claimed
            if isinstance(claimed, Refused) and claimed.refused in ("missing", "not_queued"):
                wanted.remove(effort_id)
        return None

    async def _keep_leases(self) -> None:
        """A machine that slept finds every lease expired. On a database of its own, none is lost by that."""
        now = steady_seconds()  # the monotonic clock may stand still while the machine sleeps
        if self._runner.settings.database.type == "sqlite" and now - self._leases_kept > _LOOK_SECONDS:
            self._leases_kept = now
            await adoption.keep_leases(self._runner)

    async def _is_over(self, run: _Run) -> bool:
        """Whether nothing will become ready by itself within a reasonable time. What still runs may make it so. Trouble
        with an account takes hours, or a person.
        """
        if run.attended is not None:
            return not run.running and await self._is_at_its_end(run, run.attended)
        if not run.request.once or self._tasks - self._lines:
            return False
        if self._gate.closed_by is not None:
            return True
        if run.wanted is not None and not run.wanted:
            return True
        queued = await self._ask(ListWork(state="queued", limit=self._runner.settings.limits.page_max))
        now = self._runner.machine.now()
        patience = self._runner.settings.work.backoff_max_seconds * 2
        return not any(
            effort.run_id is None
            and effort.blocked_by is None
            and effort.not_before is not None
            and effort.failure != "limit"
            and (effort.not_before - now).total_seconds() < patience
            and (run.wanted is None or effort.id in run.wanted)
            for effort in queued.items
        )

    async def _is_at_its_end(self, run: _Run, attended: Run) -> bool:
        """Whether nothing of a run runs, here or elsewhere, and nothing of it waits for a time: a line whose driver is
        at a limit is waited for, however long that takes, and so is a budget.
        """
        active = await self._ask(ListWork(run=attended.id, state="active", limit=1))
        if active.items or ((run.is_held or run.is_parked) and not run.is_stopped):
            return False
        has_failed = any(outcome not in NOT_FAILURES for outcome in run.finished)
        return (attended.stop_on_failure and has_failed) or not await self._waits_for_a_time(attended.id)

    async def _waits_for_a_time(self, run_id: int) -> bool:
        now, limit = self._runner.machine.now(), self._runner.settings.limits.page_max
        async for page in follow_async(self._ask, ListWork(run=run_id, state="queued", limit=limit)):
            if any(line.blocked_by is None and line.not_before and line.not_before > now for line in page.items):
                return True
        return False

    async def _wait_for_news(self, run: _Run, commits: int) -> None:
        """Until something was committed since; and not too often for nothing."""
        await self.news(commits)
        await asyncio.sleep(max(0.0, run.found_nothing_at + _COALESCE_SECONDS - time.monotonic()))

    async def _ask(self, request: Request[Any]) -> Any:
        return await self._runner.ask(request)

    # Looking after attempts.

    async def _work(self, run: _Run, claimed: Claimed, slot: str) -> None:
        request = run.request
        order = Order(
            slot=slot,
            driver=request.driver,
            environment=request.environment,
            settings=request.settings,
            run=run.attended,
        )
        try:
            self._count(run, await self._make(claimed, order))
        finally:
            self._give_back(run, slot)

    async def _make(self, claimed: Claimed, order: Order) -> Completed | None:
        self._posts[order.slot] = _Post(claimed.id, order)
        try:
            return await self._attempts.make(claimed, order)
        except Exception:
            log.exception("an attempt could not be settled effort=%d", claimed.id)
            return None
        finally:
            self._gate.leave(order.slot)
            del self._posts[order.slot]

    def _give_back(self, run: _Run, slot: str) -> None:
        run.running -= 1
        run.free.append(slot)
        if run not in self._runs:
            self._taken.discard(slot)

    def _find_seat(self, lender: Session, environment: Mapping[str, str]) -> _Seat | None:
        """A slot for a child: one at a time in that of the session that waits for it. If that session does not run
        here, the child gets a slot of its own.
        """
        post = self._posts.get(lender.agent_id or "")
        is_here = post is not None and post.effort_id == lender.effort_id
        order = post.order if post is not None and is_here else Order(slot=f"{self._runner.name}/s{lender.id}")
        order = replace(order, environment=dict(environment) or order.environment or self._last_environment())
        slot = f"{order.slot}.1" if is_here else order.slot
        if slot not in self._taken:
            self._taken.add(slot)
            return _Seat(replace(order, slot=slot, run=None), None)
        run = next((run for run in self._runs if run.free and not run.is_stopped), None)
        if run is None:
            return None
        run.running += 1
        return _Seat(replace(order, slot=run.free.pop(), run=None), run)

    def _last_environment(self) -> dict[str, str]:
        """The environment of the newest `work.run`: for an agent that was left by a former daemon, which knew its own.
        None is the daemon's.
        """
        return next((run.request.environment for run in reversed(self._runs)), {})

    async def _run_child(self, effort_id: int, seat: _Seat, has_begun: asyncio.Future[bool]) -> None:
        slot = seat.order.slot
        try:
            await self._keep_leases()
            claimed = await self._claim_child(effort_id, seat.order)
            if not has_begun.done():
                has_begun.set_result(isinstance(claimed, Claimed))
            if isinstance(claimed, Claimed):
                await self._make(claimed, seat.order)
        except Exception as error:
            log.exception("a child could not be run effort=%d", effort_id)
            if not has_begun.done():
                has_begun.set_exception(error)
        finally:
            has_begun.cancel()  # which changes nothing where it is done
            if seat.run is not None:
                self._give_back(seat.run, slot)
            else:
                self._taken.discard(slot)

    async def _claim_child(self, effort_id: int, order: Order) -> Any:
        """The child, unless the host or a budget keeps it from starting: it waits with the session that wants it."""
        if not await self._gate.admits(order.slot):
            return None
        if await self._holds.find(effort_id, order.environment, order.settings):
            return None
        return await self._ask(ClaimWork(worker=order.slot, effort_id=effort_id, host=self._runner.host))

    def _count(self, run: _Run, done: Completed | None) -> None:
        if done is None or done.requeued or done.ignored or done.outcome is None:
            return
        run.finished[done.outcome] += 1
        if run.wanted is not None and done.id in run.wanted:
            run.wanted.remove(done.id)

    async def _look_after(self, left: adoption.Left) -> None:
        try:
            await self._attempts.finish(left)
        except Exception:  # as above
            log.exception("an adopted attempt could not be settled effort=%d", left.effort_id)
        finally:
            self._taken.discard(left.slot)
            self._posts.pop(left.slot, None)

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._lines.discard(task)
        self.look_again()

    def _take_slots(self, count: int) -> list[str]:
        """Unused names, the lowest numbers first; they are used from the end."""
        names = (f"{self._runner.name}/{number}" for number in itertools.count(1))
        slots = list(itertools.islice((name for name in names if name not in self._taken), count))
        self._taken.update(slots)
        return slots[::-1]


def _count_slots(request: RunWork, attended: Run | None) -> int:
    """How many efforts may run at once: one of a run whose lines follow each other, and no more than the run allows."""
    if attended is None:
        return request.workers
    if attended.mode != "parallel":
        return 1
    return min(request.workers, attended.limits.workers or request.workers)
