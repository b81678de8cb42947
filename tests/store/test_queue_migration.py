"""The migration that brings the queue: what was there before is there afterwards, and can be worked with."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.world import World, open_world

from ramet.store.database.schema import migrations as module
from ramet.store.database.schema.migrations import load_migrations

NUMBER = next(step.number for step in load_migrations("sqlite") if step.name == "queue")
LAST = load_migrations("sqlite")[-1].number
TASK = "/shop/tasks/cart"


@pytest.fixture
def only_known(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Lets Ramet know only the migrations up to a number, as an older version would."""

    def know(number: int) -> None:
        monkeypatch.setattr(
            module,
            "load_migrations",
            lambda dialect: [step for step in load_migrations(dialect) if step.number <= number],
        )

    yield know
    monkeypatch.undo()


def write_old_rows(world: World) -> None:
    """As a version without a queue left them: one effort that goes on, and one that is over and has a report."""
    world.sql("INSERT INTO projects (id, path) VALUES (1, '/shop')")
    world.sql(f"INSERT INTO tasks (dir_path, project_id) VALUES ('{TASK}', 1)")
    world.sql(f"INSERT INTO efforts (task_id, skill, ordinal) VALUES ('{TASK}', 'do', 1)")
    world.sql(
        "INSERT INTO efforts (task_id, skill, ordinal, lifecycle, finished_at, outcome, report_file) "
        f"VALUES ('{TASK}', 'plan', 2, 'finished', '2026-01-05T08:00:00.000Z', 'success', '.ramet/plan.md')"
    )
    world.sql("INSERT INTO branches (name, created_ms) VALUES ('session/1', 0)")
    world.sql(
        "INSERT INTO sessions (id, task_id, effort_id, root_session_id, branch, driver, native_id) "
        f"VALUES (1, '{TASK}', 1, 1, 'session/1', 'claude', 'n1')"
    )


@pytest.mark.requirement("R155", "R186", "R277")
def test_efforts_and_sessions_from_before_are_kept_and_what_is_new_is_empty(
    tmp_path: Path, database_url: str | None, only_known: Any
) -> None:
    only_known(NUMBER - 1)
    with open_world(tmp_path, database_url) as world:
        write_old_rows(world)
    only_known(LAST)
    for _ in range(2):
        with open_world(tmp_path, database_url) as world:
            running, done = world.call("db.effort.list", task_id=TASK).items
            assert (running.lifecycle, done.outcome, done.report_file) == ("active", "success", ".ramet/plan.md")
            for effort in (running, done):
                assert (effort.output_content, effort.failure, effort.not_before, effort.changes) == (None,) * 4
                assert (effort.agent_failures, effort.host_failures, effort.stop_request) == (0, 0, None)
            (session,) = world.call("db.session.find").items
            assert (session.native_id, session.reported_seq, session.tools_in_flight) == ("n1", 0, None)
            assert world.call("db.check").findings == []


def test_what_was_started_before_cannot_be_claimed_and_new_work_can(
    tmp_path: Path, database_url: str | None, only_known: Any
) -> None:
    only_known(NUMBER - 1)
    with open_world(tmp_path, database_url) as world:
        write_old_rows(world)
    only_known(LAST)
    with open_world(tmp_path, database_url) as world:
        assert world.call("work.claim", worker="w").refused == "missing"
        assert world.call("work.claim", worker="w", effort_id=1).refused == "not_queued"
        added = world.call("work.add", prompt="x", based_on=2)
        assert world.call("work.claim", worker="w").id == added.id
