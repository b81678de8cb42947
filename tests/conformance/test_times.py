"""Times: UTC, ISO-8601 with a zone, in the rows and on the wire."""

import re

import msgspec
import pytest
from tests.world import World

_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3,6})?Z")

STORED = {
    "projects": ("created_at",),
    "skills": ("updated_at",),
    "tasks": ("created_at",),
    "efforts": ("created_at", "finished_at"),
    "sessions": ("created_at", "last_heartbeat", "ended_at"),
    "phase_history": ("created_at",),
    "schema_migrations": ("applied_at",),
}


def live(world: World) -> None:
    world.skill("paint", ["1: Look"])
    session = world.session("paint", agent_id="ada")
    world.call("db.effort.phase", effort_id=session.effort_id, label="1")
    world.call("db.session.heartbeat", session_id=session.id)
    world.call("db.messages.append", session_id=session.id, role="user", content="hi")
    world.call("db.session.finish", session_id=session.id)
    world.call("db.effort.finish", effort_id=session.effort_id)


@pytest.mark.requirement("R297")
@pytest.mark.parametrize("table", STORED)
def test_stored_times_are_iso_with_a_zone(world: World, table: str) -> None:
    live(world)
    rows = world.sql(f"SELECT {', '.join(STORED[table])} FROM {table}")
    assert rows
    assert all(_ISO.fullmatch(text) and len(text) == 24 for row in rows for text in row)


@pytest.mark.requirement("R297")
def test_the_databases_own_default_is_such_a_time_too(world: World) -> None:
    world.task()
    world.sql("INSERT INTO tasks (dir_path, project_id) VALUES ('/shop/x', 1)")
    (created,) = world.sql("SELECT created_at FROM tasks WHERE dir_path = '/shop/x'")[0]
    assert _ISO.fullmatch(created)
    assert len(created) == 24


@pytest.mark.requirement("R297")
def test_times_on_the_wire_are_iso_with_a_zone(world: World) -> None:
    live(world)
    replies = [
        world.call(name, **params)
        for name, params in (
            ("db.project.list", {}),
            ("db.task.list", {}),
            ("db.effort.list", {"task_id": "/shop/tasks/cart"}),
            ("db.session.find", {}),
            ("db.messages.list", {"session_id": 1}),
            ("events.list", {}),
            ("db.skills.get", {"name": "paint", "project_id": 1}),
        )
    ]
    texts = re.findall(r'"\d{4}-\d\d-\d\d[^"]*"', msgspec.json.encode(replies).decode())
    assert len(texts) > 20
    assert all(_ISO.fullmatch(text.strip('"')) for text in texts)


@pytest.mark.requirement("R297")
def test_a_time_is_kept_to_the_millisecond(world: World) -> None:
    session = world.session()
    world.clock.now = 1_000_000_000_007
    beaten = world.call("db.session.heartbeat", session_id=session.id)
    said = world.call("db.messages.append", session_id=session.id, role="user", content="hi")
    assert beaten.last_heartbeat.isoformat() == said.timestamp.isoformat() == "2001-09-09T01:46:40.007000+00:00"
