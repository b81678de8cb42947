"""Under load: the work of a question grows with its answer, never with what else is stored.

The bounds are counts of statements and the plans of the databases, not seconds: a busy machine proves nothing.
"""

from pathlib import Path
from typing import Any

import pytest
from tests.conformance.query_plans import plan, statements
from tests.world import World, open_world

from ramet.store.database.queries import Query

TASKS = 40
SESSIONS = 400
MESSAGES = 20_000

_NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {})"


def fill(world: World) -> None:
    """Many tasks, sessions and messages, written past the engine because only their number matters."""
    session = world.session("do", "/shop/first", agent_id="ada")
    world.call("db.messages.append", session_id=session.id, role="user", content="hi")
    now = "2026-01-05T08:00:00.000Z"
    place = f"'/shop/' || (i % {TASKS} + 1)"
    ended = f"CASE WHEN i > 10 THEN '{now}' END, CASE WHEN i > 10 THEN 'success' END"
    inserts = {
        "tasks (dir_path, project_id)": (TASKS, "'/shop/' || i, 1"),
        "efforts (task_id, skill, ordinal)": (SESSIONS, f"{place}, 'do', i"),
        "branches (name, created_ms)": (SESSIONS, "'x/' || i, 0"),
        "sessions (task_id, effort_id, root_session_id, branch, created_at, ended_at, outcome)": (
            SESSIONS,
            f"{place}, i + 1, i + 1, 'x/' || i, '{now}', {ended}",
        ),
        "messages (session_id, role, commit_id, timestamp)": (MESSAGES, f"i % {SESSIONS} + 1, 'user', 1, i"),
    }
    for target, (number, values) in inserts.items():
        world.sql(f"INSERT INTO {target} {_NUMBERS.format(number)} SELECT {values} FROM n")
    world.analyse()


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    url = None if request.param == "sqlite" else str(request.getfixturevalue("loaded_schema"))
    folder: Path = tmp_path_factory.mktemp("loaded")
    with open_world(folder, url) as world:
        fill(world)
        yield world


@pytest.mark.requirement("R316")
@pytest.mark.parametrize(
    ("name", "params", "most", "rows"),
    [
        ("db.task.list", {}, 1, TASKS + 1),
        ("db.task.find", {"query": "shop"}, 1, TASKS + 1),
        ("db.effort.list", {"task_id": "/shop/1"}, 2, SESSIONS // TASKS),
        ("db.session.find", {"task_id": "/shop/1"}, 1, SESSIONS // TASKS),
        ("db.agents.list", {}, 1, 1),
        ("fleet.status", {}, 4, 1),
        ("fleet.stale", {}, 1, 11),
        ("db.messages.list", {"session_id": 7, "limit": 40}, 2, 40),
        ("events.list", {"limit": 5}, 1, 5),
    ],
)
def test_a_list_takes_as_many_statements_for_thousands_of_rows_as_for_one(
    loaded: World, name: str, params: Any, most: int, rows: int
) -> None:
    loaded.clock.advance(3600)
    count, reply = statements(loaded, name, **params)
    assert count <= most
    assert len(reply.items) == rows


@pytest.mark.requirement("R316")
@pytest.mark.parametrize(
    ("name", "params", "most"),
    [
        ("db.messages.append", {"session_id": 7, "role": "user", "content": "one more"}, 10),
        ("db.session.heartbeat", {"session_id": 7}, 3),
        ("db.effort.start", {"task_id": "/shop/1", "skill": "do"}, 5),
        ("db.effort.phase", {"effort_id": 7, "label": "go"}, 8),
        ("db.session.start", {"task_id": "/shop/1", "effort_id": TASKS + 1}, 7),
    ],
)
def test_a_change_takes_a_fixed_number_of_statements(loaded: World, name: str, params: Any, most: int) -> None:
    assert statements(loaded, name, **params)[0] <= most


@pytest.mark.requirement("R205")
@pytest.mark.parametrize(
    ("index", "noun", "query", "params"),
    [
        ("idx_messages_session_ts", "record/messages", "page", {"session_id": 7, "limit": 5, "offset": 0}),
        ("idx_sessions_effort_ended", "record/efforts", "open_sessions", {"effort_id": 7}),
        ("idx_sessions_open", "record/sessions", "silent", {"before": "2026", "limit": 5}),
        ("idx_sessions_open", "record/sessions", "open_of_agent", {"agent_id": "a", "tree": 0, "root": None}),
    ],
)
def test_an_index_is_used(loaded: World, index: str, noun: str, query: str, params: Any) -> None:
    assert index in plan(loaded, noun, query, **params)


@pytest.mark.requirement("R205")
def test_the_efforts_of_a_task_in_a_state_are_found_by_their_index(loaded: World) -> None:
    statement = "SELECT count(*) FROM efforts WHERE task_id = '/shop/1' AND lifecycle = 'active'"
    assert "idx_efforts_task_lifecycle" in loaded.explain(Query("q", statement, statement))


@pytest.mark.requirement("R205", "R316")
@pytest.mark.parametrize(
    ("noun", "query", "params"),
    [
        ("record/messages", "page", {"session_id": 7, "limit": 5, "offset": 30}),
        ("record/agents", "fleet", {"project_id": None, "now": "2026"}),
        ("record/tasks", "matching", {"project_id": None, "workspace": None, "pattern": None}),
        ("record/tasks", "summary", {"dir_path": "/shop/1"}),
        ("record/sessions", "silent", {"before": "2026", "limit": 5}),
        ("record/sessions", "matching", {"open": None, "archived": 0, "project_id": None, "before": 9, "limit": 5}),
        (
            "record/sessions",
            "of_task",
            {"task_id": "/shop/1", "open": None, "archived": 0, "project_id": 1, "before": 9, "limit": 5},
        ),
        ("history/segments", "head", {"name": "x/1"}),
        ("record/efforts", "of_task", {"task_id": "/shop/1", "after": 0, "limit": 5}),
    ],
)
def test_no_question_reads_all_messages(loaded: World, noun: str, query: str, params: Any) -> None:
    found = plan(loaded, noun, query, **params)
    assert "SCAN messages" not in found
    assert "SCAN m\n" not in found
    assert "Seq Scan on messages" not in found


@pytest.mark.requirement("R316")
def test_the_scan_of_a_whole_table_would_be_seen(loaded: World) -> None:
    statement = "SELECT count(*) FROM messages WHERE tool_name = 'x'"
    found = loaded.explain(Query("q", statement, statement))
    assert ("SCAN messages" if loaded.is_sqlite else "Seq Scan on messages") in found
