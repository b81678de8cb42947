"""The landing queue of this machine: claims what can land, and lands several targets side by side."""

import asyncio
import logging
import threading
from weakref import WeakValueDictionary

from ramet.errors import RametError
from ramet.model.landing.landing import LandingState
from ramet.protocol.landing.landings import ClaimedLanding, ClaimLanding, ListLandings
from ramet.runner.context import RunnerContext
from ramet.runner.landing.landed_refs import tidy
from ramet.runner.landing.lander import land

log = logging.getLogger(__name__)

_LEASE_SECONDS = 60
_LOOK_SECONDS = 30.0
_MOST_LANDERS = 4


class LandingQueue:
    """Lands what is queued for this machine, until it is cancelled."""

    def __init__(self, runner: RunnerContext, loop: asyncio.AbstractEventLoop) -> None:
        self._runner = runner
        self._loop = loop
        self._news = asyncio.Event()
        self._is_closing = threading.Event()
        self._landers: set[asyncio.Task[None]] = set()
        self._turns: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
        """By landing. A machine that slept may claim one again whose former lander is still at work here."""

    def wake(self) -> None:
        """Something may have been queued. Threads may call this."""
        self._loop.call_soon_threadsafe(self._news.set)

    async def follow(self) -> None:
        """Claim and land. What an earlier daemon of this home had claimed is taken over first."""
        takes_over = True
        try:
            while True:
                self._news.clear()
                while len(self._landers) < _MOST_LANDERS:
                    claimed = await self._claim(takes_over=takes_over and not self._landers)
                    if claimed is None:
                        takes_over = False
                        break
                    task = self._loop.create_task(self._land(claimed))
                    self._landers.add(task)
                    task.add_done_callback(self._landers.discard)
                try:
                    async with asyncio.timeout(_LOOK_SECONDS):
                        await self._news.wait()
                except TimeoutError:
                    pass
        finally:
            self._is_closing.set()
            if self._landers:
                await asyncio.wait(self._landers)

    async def _claim(self, *, takes_over: bool) -> ClaimedLanding | None:
        """The next landing. An empty queue is only read: an idle daemon writes nothing."""
        request = ClaimLanding(
            host=self._runner.host or "",
            lander=self._runner.name,
            lease_seconds=_LEASE_SECONDS,
            takes_over=takes_over,
        )
        try:
            if not await self._is_filled():
                return None
            claimed = await self._runner.ask(request)
        except RametError as error:
            log.warning("no landing can be claimed: %s", error.message)
            return None
        return claimed if claimed.landing is not None else None

    async def _is_filled(self) -> bool:
        """Whether any landing waits, or is under way and may have to be taken over."""
        states: tuple[LandingState, ...] = ("queued", "landing")
        for state in states:
            if (await self._runner.ask(ListLandings(state=state, limit=1))).items:
                return True
        return False

    async def _land(self, claimed: ClaimedLanding) -> None:
        landing_id = claimed.landing.id if claimed.landing else 0
        turn = self._turns.setdefault(landing_id, asyncio.Lock())
        try:
            async with turn:  # two would remove each other's scratch worktree
                row = await asyncio.to_thread(land, self._runner, claimed, _LEASE_SECONDS, self._is_closing.is_set)
            self._news.set()  # the next one need not wait until this one is tidied
            if row is not None and row.state == "landed" and row.kind == "work":
                await asyncio.to_thread(tidy, self._runner.machine, row)
        except Exception:
            log.exception("a landing failed id=%d", landing_id)
        finally:
            self._news.set()
