"""A tree of 100,000 sessions, page after page."""

from typing import Any

import pytest
from tests.world import World

from ramet.protocol.pages import follow
from ramet.protocol.spawn.trees import ShowTree

NUMBER = 100_000
EFFORT = "SELECT n, '/shop/tasks/cart', 'do', n, 'finished', '2026-01-05T08:00:00.000Z', 'success', 'part ' || n"
COLUMNS = (
    "id, task_id, effort_id, parent_session_id, root_session_id, spawn_depth, branch, created_at, ended_at, outcome"
)
SESSION = (
    "SELECT n, '/shop/tasks/cart', n, CASE WHEN n = 1 THEN NULL WHEN n <= 1000 THEN 1 ELSE n / 100 END, 1, 1,"
    " 'session/' || n, '2026-01-05T08:00:00.000Z', '2026-01-05T08:00:00.000Z', 'success'"
)


def plant(world: World) -> None:
    """A root, its children, and their children; each used ten tokens."""
    world.task()
    numbers = f"(WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {NUMBER}) SELECT n FROM c) x"
    for table, columns, rows in (
        ("branches", "name, created_ms", "SELECT 'session/' || n, 0"),
        ("efforts", "id, task_id, skill, ordinal, lifecycle, finished_at, outcome, prompt", EFFORT),
        (
            "sessions",
            COLUMNS,
            SESSION,
        ),
        (
            "usage",
            "session_id, key, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens",
            "SELECT n, 'call', 4, 6, 0, 0",
        ),
    ):
        world.sql(f"INSERT INTO {table} ({columns}) {rows} FROM {numbers} RETURNING 1")
    world.analyse()


@pytest.mark.slow
@pytest.mark.requirement("R343")
def test_every_session_of_a_large_tree_is_in_one_page_after_its_parent_and_with_its_total(world: World) -> None:
    plant(world)
    seen: set[int] = set()
    below: dict[Any, int] = {}
    totals: dict[int, int] = {}
    sizes = []
    for page in follow(lambda each: world.perform("user", each.op, each), ShowTree(session_id=1)):
        sizes.append(len(page.items))
        for row in page.items:
            assert row.parent_session_id in seen or row.id == 1
            assert row.id not in seen
            seen.add(row.id)
            below[row.parent_session_id] = below.get(row.parent_session_id, 0) + 1
            totals[row.id] = row.total_tokens
    assert sizes == [10_000] * 10
    assert seen == set(range(1, NUMBER + 1))
    assert totals[1] == 10 * NUMBER
    assert totals[500] == 10 * (1 + below[500])
    if not world.is_sqlite:  # deleting row by row, as the next test would have it, takes minutes
        world.sql("TRUNCATE branches, efforts, sessions, usage CASCADE")
