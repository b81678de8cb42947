"""The work of a hook: it does not grow with how long its session is, nor with how many sub-agents it had.

What is counted are the steps of the database's machine, which a busy computer does not change.
"""

from collections.abc import Iterator
from typing import Any

import apsw
import pytest
from tests.conformance.hook_calls import (
    entry,
    hook,
    ingest,
    start,
)
from tests.world import World, open_world

FEW, MANY = 200, 2_000
_STEPS = 10
_ENDED = "2026-01-05T08:00:00.000Z"


def turns(number: int) -> Iterator[dict[str, Any]]:
    """So many tool calls, each with its result."""
    for each in range(number):
        at = f"2026-01-05T08:{each // 60:02}:{each % 60:02}Z"
        call = {"call_id": f"t{each}", "at": at}
        yield entry(f"c{each}", '{"command": "make"}', kind="tool_call", tool="Bash", **call)
        yield entry(f"r{each}", "made", kind="tool_result", role="tool", **call)


def fill(world: World, number: int) -> None:
    """A session of so many turns, which has had so many sub-agents."""
    above = start(world)
    ingest(world, above, entry("c", "", kind="compaction"), *turns(number))
    world.sql(
        f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {number}) "
        "INSERT INTO sessions (task_id, effort_id, root_session_id, branch, created_at, driver, native_id, "
        "parent_session_id, ended_at, outcome) "
        f"SELECT task_id, effort_id, id, branch, created_at, 'claude', 'sub/' || i, id, '{_ENDED}', 'success' "
        f"FROM sessions, n WHERE id = {above}"
    )
    hook(world, "subagent_start", agent_id="a1", agent_type="Explore")


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, World]]:
    with (
        open_world(tmp_path_factory.mktemp("few"), None) as few,
        open_world(tmp_path_factory.mktemp("many"), None) as many,
    ):
        fill(few, FEW)
        fill(many, MANY)
        yield few, many


def count_steps(world: World, name: str, said: dict[str, Any]) -> int:
    """How much the database does for a hook, or for a line of a transcript."""
    database: apsw.Connection = world.db.database  # type: ignore[attr-defined]
    steps = 0

    def count() -> bool:
        nonlocal steps
        steps += _STEPS
        return False

    database.set_progress_handler(count, _STEPS)
    try:
        if name == "line":
            ingest(world, 1, entry(**said))
        else:
            hook(world, name, **said)
    finally:
        database.set_progress_handler(None)
    return steps


@pytest.mark.requirement("R316")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("session_start", {"source": "resume"}),
        ("session_start", {"source": "compact"}),
        ("user_prompt", {"prompt": "go on", "prompt_id": "p2"}),
        ("pre_tool_use", {"tool": "Bash", "tool_use_id": "x"}),
        ("post_tool_use", {"tool": "Bash", "tool_use_id": "x"}),
        ("pre_compact", {}),
        ("stop", {}),
        ("line", {"key": "u1", "text": "done", "kind": "tool_result", "role": "tool", "call_id": "unknown"}),
        ("line", {"key": "u2", "text": "", "kind": "compaction"}),
    ],
)
def test_what_a_hook_costs_does_not_grow_with_its_session(
    worlds: tuple[World, World], name: str, said: dict[str, Any]
) -> None:
    few, many = (count_steps(world, name, said) for world in worlds)
    assert 0 < many < 1.2 * few + 200
