"""Slot loans: a session that waits for a child lends it its slot.

An awaited child is outside the queue: it runs in the slot of the session that waits for it, one child at a time, and
in idle slots as well. So one worker is enough for sessions of any depth, and while parents wait there are never more
running agents than workers. A parent that stops waiting before its child has ended is one more, until it waits again or
the child ends.

A wait that ends before its children do releases them: those that have not started are then run from the queue.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType

from ramet.errors import NotFound, RametError
from ramet.model.spawn.child import SpawnResult
from ramet.protocol.operation import AsyncAsk
from ramet.protocol.record.sessions import GetSession
from ramet.protocol.spawn.children import ListResults, Results
from ramet.protocol.work.awaited_children import ExpectChildren
from ramet.protocol.work.queue import GetWork
from ramet.runner.attempts.crew import Crew
from ramet.runner.context import RunnerContext
from ramet.runner.spawn.stranded_children import tend

log = logging.getLogger(__name__)

_TEND_SECONDS = 60.0
_COALESCE_SECONDS = 0.02
"""Many commits in a row are one reason to check the children again."""
_AWAY_SECONDS = 2.0
_REFUSED_SECONDS = 5.0
"""How long a child is left alone that could not be claimed."""
_GRACE_SECONDS = 10.0
"""How long the children of a vanished parent are left alone: if it has ended, that is on record by then, and so is what
becomes of them.
"""


class SlotLoans:
    """Waits for children, and sees to it that they are run."""

    def __init__(self, runner: RunnerContext, crew: Crew) -> None:
        self._runner = runner
        self._crew = crew
        self._awaited: Counter[int] = Counter()
        """For each child, how many wait for it here."""
        self._forsaking: set[asyncio.Task[None]] = set()

    async def wait(
        self,
        children: Sequence[int],
        seconds: float | None,
        ask: AsyncAsk,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> Results:
        """What the children came to, once all of them have ended, or when the time is over. `ask` is the asker's, and
        so is the environment, if a person's client waits.
        """
        self._awaited.update(children)
        try:
            async with asyncio.timeout(seconds):
                await ask(ExpectChildren(session_ids=list(children)))
                return await self._run(children, environment)
        except TimeoutError:
            pass
        except BaseException:
            self.forsake(children, ask)
            raise
        finally:
            self._awaited -= Counter(children)
        await self._let_go(children, ask)
        return await self._look(children)

    def forsake(self, children: Iterable[int], ask: AsyncAsk) -> None:
        """The session that waited for them is gone. It may be back in a moment, or it may have ended."""
        task = asyncio.get_running_loop().create_task(self._forsake(list(children), ask))
        self._forsaking.add(task)
        task.add_done_callback(self._forsaking.discard)

    async def tend(self) -> None:
        """Check, again and again, that no child waits for a session that is gone."""
        while True:
            await asyncio.sleep(min(_TEND_SECONDS, self._runner.settings.spawn.orphan_seconds))
            try:
                await tend(self._runner)
            except RametError as error:
                log.warning("awaited children could not be run error=%s", error.code)

    def close(self) -> None:
        """The daemon stops: the next one finds the children that are no longer awaited."""
        for task in self._forsaking:
            task.cancel()

    async def _run(self, children: Sequence[int], environment: Mapping[str, str]) -> Results:
        """Look after the children until all have ended; a shared database that is away is waited for."""
        refused: dict[int, float] = {}
        while True:
            commits = self._crew.commits
            try:
                found = await self._look(children)
                if all(result.outcome is not None for result in found.results):
                    return found
                for result in found.results:
                    if result.status == "queued" and not await self._lend(result, refused, environment):
                        break
            except RametError as error:
                if not error.is_transient:
                    raise
                await asyncio.sleep(_AWAY_SECONDS)
            await self._crew.news(commits)
            await asyncio.sleep(_COALESCE_SECONDS)

    async def _look(self, children: Sequence[int]) -> Results:
        return await self._runner.ask(ListResults(session_ids=list(children)))

    async def _lend(self, result: SpawnResult, refused: dict[int, float], environment: Mapping[str, str]) -> bool:
        """Let a child run that waits; whether there may be a slot for the next one."""
        now = asyncio.get_running_loop().time()
        effort = await self._runner.ask(GetWork(effort_id=result.effort_id or 0))
        if effort.lifecycle != "queued" or effort.blocked or now < refused.get(effort.id, 0.0):
            return True
        lender = effort.awaited_by or effort.spawned_by
        if lender is None:
            return True
        session = await self._runner.ask(GetSession(session_id=lender))
        has_begun = await self._crew.lend(effort.id, session, environment)
        if has_begun is False:
            refused[effort.id] = now + _REFUSED_SECONDS
        return has_begun is not None

    async def _forsake(self, children: Sequence[int], ask: AsyncAsk) -> None:
        await asyncio.sleep(min(_GRACE_SECONDS, self._runner.settings.spawn.orphan_seconds))
        with suppress(RametError):
            await self._let_go(children, ask)

    async def _let_go(self, children: Sequence[int], ask: AsyncAsk) -> None:
        """Release the children that no session here waits for any more."""
        alone = [child for child in children if child not in self._awaited]
        if alone:
            with suppress(NotFound):
                await ask(ExpectChildren(session_ids=alone, is_expected=False))
