"""A harbour: a project whose branches land, without a daemon. What the daemon's queue does on threads is done here in
turn.
"""

import uuid
from pathlib import Path
from typing import Any, NoReturn

from tests.conformance import queue_worker
from tests.runner.desk import Desk

from ramet.config.settings import Settings
from ramet.faults import FaultPoint, Faults
from ramet.runner.context import RunnerContext
from ramet.runner.landing.landed_refs import tidy
from ramet.runner.landing.lander import land


class Death(BaseException):
    """The process ends here. Nothing that follows runs, but what git has begun."""


class DyingFaults(Faults):
    """Dies when a point is reached for the first time."""

    def __init__(self, point: FaultPoint) -> None:
        self._point = point

    def reach(self, point: FaultPoint) -> None:
        if point == self._point:
            raise Death(point)


async def _nobody(request: Any) -> NoReturn:
    raise AssertionError(request)


class Harbour:
    """A project on `main`, which is checked out, and branches that land on it."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.shop = desk.shop
        self.project = desk.project

    def runner(self, faults: Faults | None = None) -> RunnerContext:
        return RunnerContext(
            ask=_nobody,
            machine=self.desk.machine,
            settings=Settings(),
            places=self.desk.machine.places,
            environ=self.shop.environ,
            faults=faults or Faults(),
            name="north",
            identify=lambda: uuid.uuid4().hex,
            token=str,
        )

    def work(self, files: dict[str, str], **params: Any) -> Any:
        """An effort that has changed these files."""
        effort = self.desk.add("implement", **params)
        start = next((row.git_head for row in self._based(params)), None)
        worktree = self.shop.prepare(f"e{effort.id}", start)
        for name, text in files.items():
            path = Path(worktree.path) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        claimed = queue_worker.claim(self.desk.world, f"host/{effort.id}", effort_id=effort.id)
        place = {"worktree": worktree.path, "git_branch": worktree.branch, "git_base": worktree.base}
        queue_worker.begin(self.desk.world, claimed, instance=f"keeper{effort.id:04}", **place)
        finished = self.shop.finish(worktree)
        changes = {"files": finished.changes.files, "insertions": 1, "deletions": 0}
        known: dict[str, Any] = {"git_head": finished.head, "git_branch": worktree.branch, "changes": changes}
        return queue_worker.complete(self.desk.world, claimed, **known)

    def _based(self, params: dict[str, Any]) -> list[Any]:
        return [self.desk.world.call("work.get", effort_id=params["based_on"])] if "based_on" in params else []

    def plan(self, *efforts: Any, **params: Any) -> Any:
        return self.desk.call("landing.plan", effort_ids=[effort.id for effort in efforts], **params)

    def add(self, *efforts: Any, **params: Any) -> list[Any]:
        return list(self.desk.call("landing.add", effort_ids=[effort.id for effort in efforts], **params).items)

    def land_next(self, faults: Faults | None = None, *, takes_over: bool = False) -> Any:
        """What became of the next landing; None if there is none."""
        claimed = self.desk.world.call("landing.claim", lander="north", takes_over=takes_over)
        row = None if claimed.landing is None else land(self.runner(faults), claimed, 60, lambda: False)
        if row is not None and row.state == "landed" and row.kind == "work":
            tidy(self.desk.machine, row)
        return row

    def land_all(self) -> list[Any]:
        landed = []
        while (row := self.land_next()) is not None:
            landed.append(row)
        return landed

    def undo(self, row: Any) -> Any:
        self.desk.world.call("landing.undo", landing_id=row.id)
        return self.land_next()

    @property
    def tip(self) -> str:
        return self.shop.run(self.project, "rev-parse", "main")

    def moves(self) -> list[str]:
        """Every commit that main has been at, the newest first."""
        return self.shop.run(self.project, "log", "-g", "--format=%H", "main").split()

    def status(self) -> str:
        return self.shop.run(self.project, "status", "--porcelain")
