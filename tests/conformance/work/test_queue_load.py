"""The queue under load: what is ready is found without a look at what is finished."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.query_plans import plan, statements
from tests.conformance.queue_worker import (
    KEEPER,
    add,
    begin,
    claim,
    text,
)
from tests.world import World, open_world

FINISHED, QUEUED = 5_000, 500
_NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {})"
ANY = {
    "skills": None,
    "drivers": None,
    "held": None,
    "project_id": None,
    "run_id": None,
    "host": None,
    "now": "2026-06-01T00:00:00.000Z",
}
EVERYWHERE = {"run_id": None, "project_id": None}


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def long_queue(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Many finished efforts, and many that wait; one of them runs."""
    url = None if request.param == "sqlite" else str(request.getfixturevalue("loaded_schema"))
    folder: Path = tmp_path_factory.mktemp("queue")
    with open_world(folder, url) as world:
        add(world)
        begin(world, claim(world))
        row = "task_id, skill, ordinal, prompt, lifecycle"
        world.sql(
            f"INSERT INTO efforts ({row}, finished_at, outcome) {_NUMBERS.format(FINISHED)} "
            "SELECT '/shop/tasks/cart', 'do', i + 1, 'x', 'finished', '2026-01-05T08:00:00.000Z', 'success' FROM n"
        )
        world.sql(
            f"INSERT INTO efforts ({row}) {_NUMBERS.format(QUEUED)} "
            f"SELECT '/shop/tasks/cart', 'do', i + {FINISHED + 1}, 'x', 'queued' FROM n"
        )
        world.analyse()
        yield world


@pytest.mark.parametrize(
    ("index", "noun", "query", "params"),
    [
        ("idx_efforts_queue", "work/queue", "next_ready", ANY),
        ("idx_efforts_queue", "work/leases", "claim_next", {**ANY, "worker": "w", "lease_seconds": 60}),
        ("idx_efforts_", "work/queue", "page_queued", {**EVERYWHERE, "before": 10**6, "limit": 10}),
        ("idx_efforts_queue", "work/queue", "next_ready", {**ANY, "run_id": 1}),
        ("idx_efforts_queue", "runs/runs", "has_queued", {"run_id": 1}),
        ("idx_efforts_", "runs/runs", "count_active", {"run_id": 1}),
        (
            "idx_efforts_run",
            "work/queue",
            "page_of_run",
            {**EVERYWHERE, "run_id": 1, "state": None, "before": 10**6, "limit": 10},
        ),
        ("idx_efforts_lease", "work/leases", "take_expired", {"now": ANY["now"], "lease_seconds": 60}),
        ("idx_efforts_owner", "work/leases", "worker", {"worker": "w", "now": ANY["now"]}),
        ("idx_efforts_owner", "work/queue", "page_active", {**EVERYWHERE, "before": 10**6, "limit": 10}),
        ("idx_efforts_owner", "work/leases", "worktree_user", {"worktree": "/t", "id": 1}),
    ],
)
def test_what_waits_and_what_runs_is_found_by_an_index(
    long_queue: World, index: str, noun: str, query: str, params: Any
) -> None:
    found = plan(long_queue, noun, query, **params)
    assert index in found
    assert "SCAN efforts\n" not in found + "\n"
    assert "Seq Scan on efforts" not in found


@pytest.mark.parametrize(
    ("name", "params", "most"),
    [
        ("work.add", {"prompt": "x", "task": "/shop/tasks/cart", "based_on": 1}, 8),
        ("work.next", {}, 2),
        ("work.claim", {"worker": "host/2"}, 3),
        ("work.renew", {"effort_id": 1, "generation": 1}, 1),
        ("work.report", {"session_id": 1, "instance": KEEPER, "seq": 1, "events": []}, 2),
        (
            "work.report",
            {"session_id": 1, "instance": KEEPER, "seq": 1, "events": [text(str(i)) for i in range(9)]},
            32,
        ),
        ("work.complete", {"effort_id": 1, "generation": 1, "outcome": "success"}, 10),
        ("work.list", {"state": "queued", "limit": 100}, 1),
    ],
)
def test_a_step_of_the_queue_takes_a_fixed_number_of_statements(
    long_queue: World, name: str, params: Any, most: int
) -> None:
    assert statements(long_queue, name, **params)[0] <= most
