"""Random lives of trees with budgets on each database, each step compared with the plain book.

Spawns, calls that are reported once or again, attempts that end or fail, and crashes: an operation that was rolled back
before it was done for good.
"""

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.conformance import queue_worker
from tests.properties.machine import bounded
from tests.properties.plain_budgets import UNITS, Amount, PlainBook, PlainBudget, PlainSession
from tests.world import FakeClock, World, open_in

from ramet.config.settings import SpawnSettings, WorkSettings
from ramet.errors import BudgetExceeded, UnmeasurableBound
from ramet.protocol.wire.frames import decode_params, find_operation

SPAWN = SpawnSettings(depth=3, children=1000, total=1000)
WORK = WorkSettings(retries=1000, backoff_seconds=0, lease_seconds=86_400)
"""Failures are tried again at once, and no lease runs out."""
TOKENS = st.none() | st.integers(1, 60)
COSTS = st.none() | st.integers(1, 40).map(lambda quarters: quarters / 4)
"""Quarters of a dollar: sums of them are exact."""


class Spender:
    """An attempt that runs: what it does next, and whether it was told to end."""

    def __init__(self, attempt: Any) -> None:
        self.attempt = attempt
        self.session_id: int = attempt.session.id
        self.seq = 0
        self.is_told = attempt.effort.stop_request is not None
        self.calls_beyond = 0


class BudgetLife(RuleBasedStateMachine):
    """What agents, keepers and people may do to a tree."""

    def open(self) -> World:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    @initialize(tokens=st.none() | st.integers(50, 300), cost_usd=st.none() | st.integers(5, 50))
    def begin(self, tokens: int | None, cost_usd: float | None) -> None:
        self.world = self.open()
        self.book = PlainBook()
        self.running: dict[int, Spender] = {}
        self.waiting: dict[int, int | None] = {}
        """Efforts that wait to be begun, and the session of the attempt before."""
        self.limits_set = 0
        self.settled: dict[int, str] = {}
        self.excess: dict[int, dict[int, dict[str, float]]] = {}
        """By budget, what each attempt used with the one call that it had in flight when the bound was reached."""
        attempt = queue_worker.start(self.world)
        self.root: int = attempt.session.id
        self.book.sessions[self.root] = PlainSession(self.root, attempt.effort.id, 0, None)
        self.running[attempt.effort.id] = Spender(attempt)
        self.limit(self.root, tokens, cost_usd)

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.close()

    # What may happen.

    @rule(data=st.data(), tokens=TOKENS, cost_usd=COSTS, crashes=st.booleans())
    def spawn(self, data: st.DataObject, tokens: int | None, cost_usd: float | None, crashes: bool) -> None:
        parents = [spender.session_id for spender in self.running.values()]
        self.spawn_for(self.book.sessions[data.draw(st.sampled_from(parents))], tokens, cost_usd, crashes=crashes)

    def spawn_for(self, parent: PlainSession, tokens: int | None, cost_usd: float | None, *, crashes: bool) -> None:
        if parent.depth >= SPAWN.depth:
            return
        asked = {"tokens": tokens, "cost_usd": cost_usd}
        params = {"parent_session_id": parent.id, "goal": "look", "limits": asked}
        if not self.book.has_room(parent.id, asked):
            before = self.world.dump()
            with pytest.raises(BudgetExceeded):
                self.world.call("spawn.agent", **params)
            assert self.world.dump() == before
            return
        child = self.ask("spawn.agent", crashes, **params)
        session = PlainSession(child.child_session_id, child.effort_id, parent.depth + 1, parent.id)
        self.book.sessions[session.id] = session
        self.waiting[session.effort_id] = None
        if tokens is not None or cost_usd is not None:
            self.book.budgets[session.id] = PlainBudget(asked)

    @rule(tokens=TOKENS, cost_usd=COSTS)
    def grow(self, tokens: int | None, cost_usd: float | None) -> None:
        """A child of whoever is deepest that begins at once: so that some trees grow as deep as they may."""
        deepest = max(
            (self.book.sessions[each.session_id] for each in self.running.values()), key=lambda each: each.depth
        )
        before = len(self.waiting)
        self.spawn_for(deepest, tokens, cost_usd, crashes=False)
        if len(self.waiting) > before:
            self.begin_one(max(self.waiting))

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def begin_attempt(self, data: st.DataObject) -> None:
        self.begin_one(data.draw(st.sampled_from(sorted(self.waiting))))

    def begin_one(self, effort_id: int) -> None:
        before = self.waiting.pop(effort_id)
        claimed = queue_worker.claim(self.world, f"host/{effort_id}", effort_id=effort_id)
        attempt = queue_worker.begin(self.world, claimed, instance=f"keeper{effort_id:03}x{claimed.generation:03}")
        if before is not None:
            earlier = self.book.sessions[before]
            assert attempt.session.id not in self.book.sessions
            later = PlainSession(attempt.session.id, effort_id, earlier.depth, earlier.id)
            self.book.sessions[later.id] = later
        self.running[effort_id] = Spender(attempt)
        assert self.running[effort_id].is_told is self.book.is_used_up(attempt.session.id)

    @precondition(lambda self: any(not each.is_told for each in self.running.values()))
    @rule(
        data=st.data(),
        key=st.integers(0, 30).map(str),
        tokens=st.integers(0, 30),
        cost_usd=COSTS,
        times=st.sampled_from((1, 1, 2)),
        crashes=st.booleans(),
    )
    def use(
        self, data: st.DataObject, key: str, tokens: int, cost_usd: float | None, times: int, crashes: bool
    ) -> None:
        going_on = [each for each, spender in self.running.items() if not spender.is_told]
        spender = self.running[data.draw(st.sampled_from(going_on))]
        was_used_up = self.book.is_used_up(spender.session_id)
        call: Amount = {"tokens": tokens, "cost_usd": cost_usd}
        self.book.sessions[spender.session_id].calls[key] = call
        spender.seq += 1
        events = [{"kind": "usage", "key": key, "input_tokens": tokens, "cost_usd": cost_usd}]
        attempt = spender.attempt
        said = {"session_id": spender.session_id, "instance": attempt.session.instance, "seq": spender.seq}
        replies = [self.ask("work.report", crashes, **said, events=events) for _ in range(times)]
        spender.is_told = replies[-1].stop is not None
        assert spender.is_told is self.book.is_used_up(spender.session_id)
        spender.calls_beyond += was_used_up
        self.note_excess(spender, call)

    def note_excess(self, spender: Spender, call: Amount) -> None:
        for unit in UNITS:
            for bound in self.book.bounds(spender.session_id, unit):
                if self.book.left(bound, unit) < 0:
                    self.excess.setdefault(bound, {}).setdefault(spender.session_id, {})[unit] = call[unit] or 0

    @precondition(lambda self: any(each != self.book.sessions[self.root].effort_id for each in self.running))
    @rule(data=st.data(), is_retried=st.booleans(), crashes=st.booleans())
    def complete(self, data: st.DataObject, is_retried: bool, crashes: bool) -> None:
        root_effort = self.book.sessions[self.root].effort_id
        effort_id = data.draw(st.sampled_from([each for each in self.running if each != root_effort]))
        spender = self.running.pop(effort_id)
        end = {"outcome": "error", "failure": "transient"} if is_retried else {"outcome": "success"}
        if spender.is_told:
            end = {"outcome": "budget"}
        generation = spender.attempt.effort.lease_generation
        done = self.ask("work.complete", crashes, effort_id=effort_id, generation=generation, **end)
        if done.requeued:
            self.waiting[effort_id] = spender.session_id
        else:
            self.finished(effort_id)

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), crashes=st.booleans())
    def drop(self, data: st.DataObject, crashes: bool) -> None:
        effort_id = data.draw(st.sampled_from(sorted(self.waiting)))
        self.waiting.pop(effort_id)
        self.ask("work.drop", crashes, effort_id=effort_id)
        self.finished(effort_id)

    @precondition(lambda self: self.limits_set < 4)
    @rule(data=st.data(), tokens=TOKENS, cost_usd=COSTS)
    def set_limit(self, data: st.DataObject, tokens: int | None, cost_usd: float | None) -> None:
        self.limit(data.draw(st.sampled_from(sorted(self.book.sessions))), tokens, cost_usd)

    # How it is done, and what the book says of it.

    def ask(self, name: str, crashes: bool, **params: Any) -> Any:
        """One operation; where it crashes, it is done up to its commit, undone, and done again."""
        if crashes:
            before = self.world.dump()
            operation = find_operation(name)
            call = self.world.engine.prepare(operation, decode_params(operation, json.dumps(params).encode()), "user")
            self.world.db.begin(locks_rows=operation.locks_rows)
            self.world.engine.perform(self.world.db, call, self.world.clock.now_ms())
            self.world.db.rollback()
            assert self.world.dump() == before
        return self.world.call(name, **params)

    def limit(self, session_id: int, tokens: int | None, cost_usd: float | None) -> None:
        try:
            self.world.call("budget.set", session_id=session_id, tokens=tokens, cost_usd=cost_usd)
        except UnmeasurableBound:  # a call without a cost was among what it used
            assert cost_usd is not None
            self.limit(session_id, tokens, None)
            return
        self.limits_set += 1
        effort_id = self.book.sessions[session_id].effort_id
        is_over = effort_id not in self.running and effort_id not in self.waiting
        self.book.budgets[session_id] = PlainBudget({"tokens": tokens, "cost_usd": cost_usd}, is_settled=is_over)
        self.excess.pop(session_id, None)
        self.excess.setdefault(session_id, {})[0] = {unit: self.book.spent(session_id, unit) for unit in UNITS}

    def finished(self, effort_id: int) -> None:
        for session_id, budget in self.book.budgets.items():
            if self.book.sessions[session_id].effort_id == effort_id:
                budget.is_settled = True

    # What always holds.

    @invariant()
    def the_sum_of_the_leaves_is_what_the_root_cost(self) -> None:
        if not hasattr(self, "world"):
            return
        rows = {row.id: row for row in self.world.call("spawn.tree", session_id=self.root).items}
        assert sorted(rows) == sorted(self.book.sessions)
        assert rows[self.root].total_tokens == sum(row.tokens for row in rows.values())
        for session_id, row in rows.items():
            assert row.total_tokens == self.book.spent(session_id, "tokens")
            assert row.total_cost_usd == self.book.known_cost(session_id)

    @invariant()
    def every_budget_says_what_is_used_and_promised_of_it(self) -> None:
        if not hasattr(self, "world"):
            return
        for session_id, budget in self.book.budgets.items():
            reply = self.world.call("budget.get", session_id=session_id)
            assert reply.tokens == self.book.spent(session_id, "tokens")
            assert reply.cost_usd == self.book.known_cost(session_id)
            state = reply.own
            if state is None:
                assert set(budget.limit.values()) == {None}
                continue
            for unit in UNITS:
                said = tuple(getattr(state, prefix + unit) for prefix in ("", "spent_", "reserved_"))
                reserved = 0 if budget.limit[unit] is None else self.book.reserved(session_id, unit)
                assert said == (budget.limit[unit], self.told_spent(session_id, unit), reserved)

    def told_spent(self, session_id: int, unit: str) -> float | None:
        """What a budget says is used: not 0 of a cost that nobody has told, but unknown once tokens were used."""
        is_unknown = self.book.known_cost(session_id) is None and self.book.spent(session_id, "tokens") > 0
        return None if unit == "cost_usd" and is_unknown else self.book.spent(session_id, unit)

    @invariant()
    def no_bound_is_exceeded_by_more_than_one_call_in_flight_of_each_agent(self) -> None:
        if not hasattr(self, "world"):
            return
        assert all(spender.calls_beyond <= 1 for spender in self.running.values())
        for session_id, budget in self.book.budgets.items():
            for unit in UNITS:
                limit = budget.limit[unit]
                beyond = sum(each.get(unit, 0) for each in self.excess.get(session_id, {}).values())
                assert limit is None or self.book.spent(session_id, unit) <= limit + beyond

    @invariant()
    def every_reservation_is_settled_once_when_its_effort_is_over(self) -> None:
        if not hasattr(self, "world"):
            return
        self.world.clock.advance(1)
        stored: dict[int, str | None] = dict(self.world.sql("SELECT session_id, settled_at FROM budgets"))
        assert {each: at is not None for each, at in stored.items()} == {
            each: budget.is_settled for each, budget in self.book.budgets.items()
        }
        for session_id, at in stored.items():
            if at is not None:
                assert self.settled.setdefault(session_id, at) == at

    @invariant()
    def is_whole(self) -> None:
        if hasattr(self, "world"):
            assert self.world.call("db.check").findings == []


class SqliteBudgetLife(BudgetLife):
    def open(self) -> World:
        self.folder = Path(tempfile.mkdtemp(prefix="ramet-"))
        clock = FakeClock()
        return World(open_in(self.folder, None, clock=clock), clock, work=WORK, spawn=SPAWN)

    def close(self) -> None:
        self.world.store.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class PostgresBudgetLife(BudgetLife):
    url: ClassVar[str]

    def open(self) -> World:
        self.folder = Path(tempfile.mkdtemp(prefix="ramet-"))
        clock = FakeClock()
        return World(open_in(self.folder, self.url, clock=clock), clock, work=WORK, spawn=SPAWN)

    def close(self) -> None:
        self.world.empty()
        self.world.db.close()
        self.world.store.close()
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def _on_postgres(request: pytest.FixtureRequest) -> None:
    if "Postgres" in request.node.nodeid:
        PostgresBudgetLife.url = str(request.getfixturevalue("postgres_url"))


_proves = pytest.mark.requirement("R140", "R141", "R286")

TestSqliteBudgets = _proves(pytest.mark.timeout(1800)(SqliteBudgetLife.TestCase))
TestSqliteBudgets.settings = bounded(25)
TestPostgresBudgets = _proves(pytest.mark.timeout(1800)(PostgresBudgetLife.TestCase))
TestPostgresBudgets.settings = bounded(5)
