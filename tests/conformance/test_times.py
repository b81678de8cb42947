"""Times: UTC, ISO-8601 with a zone, in the rows and on the wire."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, get_args

import msgspec
import pytest
from tests.conformance import queue_worker
from tests.world import World

from ramet.errors import InvalidParams
from ramet.protocol.operations import OPERATIONS

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


def _times(kind: Any, path: str = "") -> Iterator[str]:
    """The fields of a type that are times, also inside of it."""
    for part in (kind, *get_args(kind)):
        if part is datetime:
            yield path
        if isinstance(part, type) and issubclass(part, msgspec.Struct):
            for field in msgspec.structs.fields(part):
                yield from _times(field.type, f"{path}.{field.name}")


@pytest.mark.requirement("R297")
def test_a_time_without_a_zone_is_refused_by_its_field_wherever_a_request_takes_one(world: World) -> None:
    """A transcript's line is not ours to refuse: it gets the time at which it was read."""
    world.call("history.commit", branch="main", text="hello")
    world.call("work.add", task=world.task(), prompt="x", skill="do")
    naive = "2026-01-05T08:00:00"
    asked: dict[str, dict[str, Any]] = {
        "history.at.time": {"branch": "main"},
        "history.commit.at": {"branch": "main", "text": "there"},
        "usage.show.since": {},
        "usage.show.until": {},
        "work.complete.retry_at": {
            "effort_id": 1,
            "outcome": "error",
            "generation": queue_worker.claim(world).generation,
        },
        "work.lost.since": {},
    }
    taken = {f"{name}{path}" for name, operation in OPERATIONS.items() for path in _times(operation.request)}
    assert taken == {*asked, "ingest.add.entries.at"}
    for name, params in asked.items():
        operation, _, field = name.rpartition(".")
        with pytest.raises(InvalidParams, match="zone") as refusal:
            world.call(operation, **params, **{field: naive})
        assert refusal.value.field == field
        assert refusal.value.fix == "give a time with its zone, such as 2026-01-31T12:00:00Z"
