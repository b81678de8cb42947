"""Random lives of the queue on each database, each step compared with the plain one."""

import shutil
import tempfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.conformance.effort_states import may_follow, state_of
from tests.conformance.queue_worker import add, claim, expire
from tests.properties.machine import bounded
from tests.properties.plain_queue import HOST_RETRIES, RETRIES, PlainEffort, PlainQueue
from tests.world import FakeClock, World, open_in

from ramet.config.settings import WorkSettings
from ramet.errors import EffortFinished, EffortHeld, LeaseLost, NotFinished, RametError
from ramet.model.instant import to_datetime
from ramet.model.work.effort_state import State

WORKERS = ("a", "b", "c", "planner")
DAY_SECONDS = 86_400
LONGEST_PAUSE_SECONDS = 3600
"""After a usage limit whose end is not known."""
WORK = WorkSettings(retries=RETRIES, host_retries=HOST_RETRIES)
"""Bounds so low that a short life reaches them."""
OUTCOMES = (*8 * ("error",), "success", "stuck", "cancelled")
FAILURES = (*3 * ("infrastructure", "transient"), "unknown", "limit", "permanent", None)


class QueueLife(RuleBasedStateMachine):
    """What workers and people may do to the queue, well or badly."""

    def open(self) -> World:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    @initialize()
    def begin(self) -> None:
        self.world = self.open()
        self.plain = PlainQueue()
        self.states: dict[int, State] = {}
        self.world.call("db.agents.register", id="planner", claims=["plan"])

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.close()

    @property
    def now(self) -> datetime:
        return to_datetime(self.world.clock.now_ms())

    def pick(self, data: st.DataObject) -> PlainEffort:
        return data.draw(st.sampled_from(list(self.plain.efforts.values())))

    def refuses(self, error: type[RametError], name: str, **params: Any) -> None:
        with pytest.raises(error):
            self.world.call(name, **params)

    @precondition(lambda self: len(self.plain.efforts) < 5)
    @rule(data=st.data(), skill=st.sampled_from(("do", "plan")), priority=st.integers(-1, 1))
    def add(self, data: st.DataObject, skill: str, priority: int) -> None:
        needs = data.draw(st.lists(st.sampled_from(list(self.plain.efforts) or [0]), max_size=3, unique=True))
        needs = [each for each in needs if each]
        effort = add(self.world, skill=skill, priority=priority, depends_on=needs)
        self.plain.efforts[effort.id] = PlainEffort(effort.id, skill, priority, needs)

    @rule(worker=st.sampled_from(WORKERS))
    def claim_next(self, worker: str) -> None:
        offered = self.world.call("work.next", worker=worker)
        had_lost = any(effort.is_expired for effort in self.plain.efforts.values())
        self.plain.sweep()
        reply = claim(self.world, worker, lease_seconds=DAY_SECONDS)
        if any(effort.owner == worker for effort in self.plain.efforts.values()):
            assert reply.refused == "busy"
            return
        expected = self.plain.next(self.now, ["plan"] if worker == "planner" else None)
        if expected is None:
            assert reply.refused == "missing"
            return
        self.plain.claim(expected, worker)
        assert (reply.id, reply.generation) == (expected.id, expected.generation)
        assert had_lost or offered.id == expected.id

    @precondition(lambda self: self.plain.efforts)
    @rule(data=st.data(), worker=st.sampled_from(WORKERS))
    def claim_one(self, data: st.DataObject, worker: str) -> None:
        effort = self.pick(data)
        self.plain.sweep()
        reply = claim(self.world, worker, effort_id=effort.id, lease_seconds=DAY_SECONDS)
        refusal = self.why_not(effort, worker)
        assert getattr(reply, "refused", None) == refusal
        if refusal is None:
            self.plain.claim(effort, worker)
            assert reply.generation == effort.generation

    def why_not(self, effort: PlainEffort, worker: str) -> str | None:
        if any(each.owner == worker for each in self.plain.efforts.values()):
            return "busy"
        if effort.owner is not None:
            return "lost"
        if effort.lifecycle != "queued":
            return "not_queued"
        if not self.plain.is_ready(effort, self.now) or (worker == "planner" and effort.skill != "plan"):
            return "blocked"
        return None

    @precondition(lambda self: self.plain.efforts)
    @rule(
        data=st.data(),
        behind=st.sampled_from((0, 0, 0, 1)),
        outcome=st.sampled_from(OUTCOMES),
        failure=st.sampled_from(FAILURES),
    )
    def complete(self, data: st.DataObject, behind: int, outcome: str, failure: str | None) -> None:
        self.report(self.pick(data), behind, outcome, failure)

    @rule(worker=st.sampled_from(WORKERS), outcome=st.sampled_from(OUTCOMES), failure=st.sampled_from(FAILURES))
    def attempt(self, worker: str, outcome: str, failure: str | None) -> None:
        """From claim to report, when every pause is over: so that some fail often enough to be given up."""
        self.wait(LONGEST_PAUSE_SECONDS)
        self.agrees()
        self.claim_next(worker)
        self.agrees()
        for effort in self.plain.efforts.values():
            if effort.owner == worker:
                self.report(effort, 0, outcome, failure)

    def report(self, effort: PlainEffort, behind: int, outcome: str, failure: str | None) -> None:
        generation = max(effort.generation - behind, 1)
        is_current = effort.owner is not None and generation == effort.generation
        reply = self.world.call(
            "work.complete", effort_id=effort.id, generation=generation, outcome=outcome, failure=failure
        )
        assert reply.ignored is not is_current
        if is_current:
            assert reply.requeued is self.plain.settle(effort, outcome, None if outcome == "success" else failure)
            effort.not_before = reply.not_before
            assert reply.requeued or reply.not_before is None
            assert reply.not_before is None or self.now <= reply.not_before <= self.now + timedelta(
                seconds=LONGEST_PAUSE_SECONDS
            )

    @precondition(lambda self: self.plain.efforts)
    @rule(data=st.data(), behind=st.sampled_from((0, 0, 1)))
    def renew(self, data: st.DataObject, behind: int) -> None:
        effort = self.pick(data)
        generation = max(effort.generation - behind, 1)
        params = {"effort_id": effort.id, "generation": generation, "lease_seconds": DAY_SECONDS}
        if effort.owner is None or generation != effort.generation:
            self.refuses(LeaseLost, "work.renew", **params)
        else:
            self.world.call("work.renew", **params)
            effort.is_expired = False

    @precondition(lambda self: any(effort.owner for effort in self.plain.efforts.values()))
    @rule(data=st.data())
    def vanish(self, data: st.DataObject) -> None:
        effort = data.draw(st.sampled_from([each for each in self.plain.efforts.values() if each.owner]))
        expire(self.world, effort.id)
        effort.is_expired = True

    @precondition(lambda self: self.plain.efforts)
    @rule(data=st.data())
    def retry(self, data: st.DataObject) -> None:
        effort = self.pick(data)
        if effort.lifecycle != "finished":
            self.refuses(NotFinished, "work.retry", effort_id=effort.id)
            return
        copy = self.world.call("work.retry", effort_id=effort.id)
        self.plain.efforts[copy.id] = PlainEffort(
            copy.id, effort.skill, effort.priority, list(effort.needs), retry_of=effort.id
        )
        self.plain.repoint(effort.id, copy.id)

    @precondition(lambda self: self.plain.efforts)
    @rule(data=st.data())
    def resume(self, data: st.DataObject) -> None:
        effort = self.pick(data)
        if effort.lifecycle != "finished":
            self.refuses(NotFinished, "work.resume", effort_id=effort.id)
        elif effort.outcome == "success":
            self.refuses(EffortFinished, "work.resume", effort_id=effort.id)
        else:
            self.world.call("work.resume", effort_id=effort.id)
            effort.lifecycle, effort.outcome = "queued", None
            effort.agent_failures = effort.host_failures = 0

    @precondition(lambda self: self.plain.efforts)
    @rule(data=st.data())
    def drop(self, data: st.DataObject) -> None:
        effort = self.pick(data)
        if effort.owner is not None:
            self.refuses(EffortHeld, "work.drop", effort_id=effort.id)
        elif effort.lifecycle == "finished" and effort.outcome != "dropped":
            self.refuses(EffortFinished, "work.drop", effort_id=effort.id)
        else:
            self.world.call("work.drop", effort_id=effort.id)
            self.plain.finish(effort, "dropped")

    @precondition(lambda self: self.plain.efforts)
    @rule(data=st.data())
    def kill(self, data: st.DataObject) -> None:
        effort = self.pick(data)
        if effort.lifecycle == "finished":
            self.refuses(EffortFinished, "fleet.kill", effort_id=effort.id)
        else:
            assert not self.world.call("fleet.kill", effort_id=effort.id).is_running
            self.plain.finish(effort, "cancelled")

    @rule(seconds=st.sampled_from((1, LONGEST_PAUSE_SECONDS)))
    def wait(self, seconds: int) -> None:
        self.world.clock.advance(seconds)

    @invariant()
    def agrees(self) -> None:
        if not hasattr(self, "world"):
            return
        rows = {row.id: row for row in self.world.call("work.list", limit=1000).items}
        assert list(rows) == sorted(self.plain.efforts, reverse=True)
        for effort in self.plain.efforts.values():
            row = rows[effort.id]
            assert (row.lifecycle, row.outcome, row.lease_owner) == (effort.lifecycle, effort.outcome, effort.owner)
            assert (row.lease_generation, row.attempts) == (effort.generation, effort.attempts)
            assert (row.agent_failures, row.host_failures) == (effort.agent_failures, effort.host_failures)
            assert (row.depends_on or [], row.retry_of) == (effort.needs, effort.retry_of)
            blocker = self.plain.blocker(effort) if effort.lifecycle == "queued" else None
            assert (row.blocked_by, row.blocked_status if blocker else None) == (blocker or (None, None))
            state = state_of(self.world, row)
            assert state == self.plain.state(effort, self.now)
            assert may_follow(self.states.get(effort.id), state)
            self.states[effort.id] = state

    @invariant()
    def is_whole(self) -> None:
        if hasattr(self, "world"):
            assert self.world.call("db.check").findings == []


class SqliteQueueLife(QueueLife):
    def open(self) -> World:
        self.folder = Path(tempfile.mkdtemp(prefix="ramet-"))
        clock = FakeClock()
        return World(open_in(self.folder, None, clock=clock), clock, work=WORK)

    def close(self) -> None:
        self.world.store.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class PostgresQueueLife(QueueLife):
    url: ClassVar[str]

    def open(self) -> World:
        self.folder = Path(tempfile.mkdtemp(prefix="ramet-"))
        clock = FakeClock()
        return World(open_in(self.folder, self.url, clock=clock), clock, work=WORK)

    def close(self) -> None:
        self.world.empty()
        self.world.db.close()
        self.world.store.close()
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def _on_postgres(request: pytest.FixtureRequest) -> None:
    if "Postgres" in request.node.nodeid:
        PostgresQueueLife.url = str(request.getfixturevalue("postgres_url"))


TestSqliteQueue = pytest.mark.timeout(1800)(SqliteQueueLife.TestCase)
TestSqliteQueue.settings = bounded(40)
TestPostgresQueue = pytest.mark.timeout(1800)(PostgresQueueLife.TestCase)
TestPostgresQueue.settings = bounded(8)
