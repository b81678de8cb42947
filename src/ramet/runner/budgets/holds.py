"""Holds: efforts that do not start because a daily or project budget is used up. They stay in the queue, and are
checked again whenever the queue is.
"""

import asyncio
import time
from collections.abc import Mapping

from ramet.errors import ConfigError, EffortNotFound
from ramet.model.record.budget import Bound, BudgetUse
from ramet.protocol.record.daily_budgets import MeasureBounds
from ramet.protocol.work.attempts import WorkChain
from ramet.protocol.work.drivers import HoldWork
from ramet.runner.budgets import daily_budgets
from ramet.runner.context import RunnerContext

_FRESH_SECONDS = 1.0
"""How long what the files say is used again: many efforts may be claimed at once."""


class Holds:
    """What keeps this daemon's workers from starting efforts."""

    def __init__(self, runner: RunnerContext) -> None:
        self._runner = runner
        self._read: dict[object, tuple[float, list[Bound]]] = {}
        self._told: set[tuple[object, ...]] = set()

    async def find(
        self, effort_id: int, environ: Mapping[str, str] | None, flags: Mapping[str, str] | None
    ) -> list[BudgetUse]:
        """The used up budgets that keep an effort from starting; each is told of once."""
        runner = self._runner
        try:
            chain = await runner.ask(WorkChain(effort_id=effort_id, host=runner.host))
        except EffortNotFound:
            return []
        bounds = await self._find_bounds(chain.project_path, environ or None, flags or None)
        if not bounds:
            return []
        uses = (await runner.ask(MeasureBounds(bounds=bounds, effort_id=effort_id))).items
        reached = [use for use in uses if use.is_reached]
        news = {(use.key, use.project_id, use.unit, use.limit, use.resets_at) for use in reached} - self._told
        if news:
            await runner.ask(HoldWork(effort_id=effort_id, bounds=bounds))
            self._told |= news
        return reached

    async def _find_bounds(
        self, project_path: str, environ: Mapping[str, str] | None, flags: Mapping[str, str] | None
    ) -> list[Bound]:
        key, now = (project_path, id(environ), id(flags)), time.monotonic()
        known = self._read.get(key)
        if known is not None and now - known[0] < _FRESH_SECONDS:
            return known[1]
        try:
            bounds = await asyncio.to_thread(daily_budgets.find, self._runner.machine, project_path, environ, flags)
        except (ConfigError, OSError):
            bounds = []  # the attempt fails with it, and says what is wrong
        self._read = {each: kept for each, kept in self._read.items() if now - kept[0] < _FRESH_SECONDS}
        self._read[key] = (now, bounds)
        return bounds
