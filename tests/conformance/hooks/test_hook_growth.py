"""The work of a hook does not grow with its project, even if the database has learned nothing since that was small.

SQLite plans with the sizes that tables had when it last looked, which is when a daemon stops. One that runs for months
must not scan a table because it once had a single row. What is counted are the steps of the database's machine.
"""

from typing import Any

import apsw
import pytest
from tests.conformance.hook_calls import hook, start
from tests.world import World, open_world

FEW, MANY = 1, 2_000
_STEPS = 10
_NOW = "2026-01-05T08:00:00.000Z"
_NUMBERS = "WITH RECURSIVE n(i) AS (SELECT {} UNION ALL SELECT i + 1 FROM n WHERE i < {})"
_EDITED = {"file_path": "/shop/src/cart.py"}
_AGENT = {"agent_id": "a1", "agent_type": "Explore"}
HOOKS: list[tuple[str, dict[str, Any]]] = [
    ("session_start", {"source": "resume"}),
    ("session_start", {"source": "compact"}),
    ("session_start", {"source": "startup", "native_id": "another"}),
    ("user_prompt", {"prompt": "go on", "prompt_id": "p2"}),
    ("pre_tool_use", {"tool": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "x"}),
    ("pre_tool_use", {"tool": "Edit", "tool_input": _EDITED, "tool_use_id": "y"}),
    ("post_tool_use", {"tool": "Read", "tool_input": _EDITED, "tool_use_id": "z"}),
    ("permission_request", {"tool": "Bash"}),
    ("notification", {"text": "a person is needed", "reason": "permission_prompt"}),
    ("status_line", {"usage": {"cost_usd": 1.5, "context_percent": 20}}),
    ("pre_compact", {}),
    ("post_compact", {"summary": "so far"}),
    ("subagent_start", _AGENT),
    ("subagent_stop", {**_AGENT, "summary": "found"}),
    ("stop", {}),
    ("session_end", {"reason": "clear"}),
]
NAMES = [f"{name} {' '.join(map(str, said.values()))}" for name, said in HOOKS]


def fill(world: World, first: int, last: int) -> None:
    """Tasks, efforts, ended sessions and their children, branches, usage, messages, events, notices and agents."""
    (task,) = world.sql("SELECT task_id FROM sessions WHERE id = 1")[0]
    tokens = "input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, estimated_usd"
    session = "effort_id, root_session_id, branch, created_at, driver, native_id, ended_at, outcome"
    efforts, sessions, children = (f"(i + {1000 * first + base})" for base in (0, 100_000, 200_000))
    own = f"{efforts}, {efforts}, 'x/' || i, '{_NOW}', 'claude', "
    inserts = {
        "tasks (dir_path, project_id)": "'/shop/' || i, 1",
        "efforts (id, task_id, skill, ordinal, lifecycle, outcome, finished_at)": (
            f"{efforts}, CASE WHEN i % 2 THEN '{task}' ELSE '/shop/' || i END, 'do', {efforts}, "
            f"'finished', 'success', '{_NOW}'"
        ),
        "branches (name, created_ms)": "'x/' || i, 0",
        f"sessions (id, task_id, {session})": f"{sessions}, '{task}', {own} 'old-' || i, '{_NOW}', 'success'",
        f"sessions (id, task_id, parent_session_id, {session})": (
            f"{children}, '{task}', {sessions}, {own} 'old-' || i || '/sub', '{_NOW}', 'success'"
        ),
        f"usage (session_id, key, {tokens})": f"{sessions}, 'call', 1, 1, 1, 1, 0.1, NULL",
        "messages (session_id, role, commit_id, timestamp)": f"{sessions}, 'user', 1, i",
        "events (kind, at_ms, session_id, effort_id)": f"'session.started', 0, {sessions}, {efforts}",
        "notices (kind, text, effort_id, created_at, dedupe_key)": f"'limit', 'x', {efforts}, '{_NOW}', 'n' || i",
        "agents (id, effort_id)": "'agent-' || i, NULL",
    }
    for target, values in inserts.items():
        world.sql(f"INSERT INTO {target} {_NUMBERS.format(first, last)} SELECT {values} FROM n")


def count_steps(world: World, name: str, said: dict[str, Any]) -> int:
    """How much the database does for a hook; it is the same session each time."""
    database: apsw.Connection = world.db.database  # type: ignore[attr-defined]
    steps = 0

    def count() -> bool:
        nonlocal steps
        steps += _STEPS
        return False

    database.set_progress_handler(count, _STEPS)
    try:
        hook(world, name, **said)
    finally:
        database.set_progress_handler(None)
    return steps


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, int]]:
    """What each hook costs in a small project that was closed, and in the same when it has grown. The second time is
    what is counted: the first one of a kind may write what is only written once.
    """
    folder = tmp_path_factory.mktemp("growing")
    with open_world(folder, None) as world:
        start(world)
        fill(world, 1, FEW)
        world.analyse()
    with open_world(folder, None) as world:
        rounds = []
        for number in range(4):
            if number == 2:
                fill(world, FEW + 1, MANY)
            rounds.append([count_steps(world, name, said) for name, said in HOOKS])
    return dict(zip(NAMES, zip(rounds[1], rounds[3], strict=True), strict=True))


@pytest.mark.requirement("R316", "R447")
@pytest.mark.parametrize("name", NAMES)
def test_what_a_hook_costs_does_not_grow_with_its_project(steps: dict[str, tuple[int, int]], name: str) -> None:
    few, many = steps[name]
    assert 0 < many < 1.2 * few + 300
