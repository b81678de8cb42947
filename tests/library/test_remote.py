"""`ramet.connect`: the same operations through a real daemon."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import pytest

import ramet
from ramet.errors import DaemonUnreachable, DatabaseHeld, EffortHeld, InvalidParams, UnknownKey
from ramet.model.event import Event

TASK = "/projects/shop/tasks/cart"


@pytest.fixture
def r(daemon_home: Path) -> Iterator[ramet.Ramet]:
    """A program connected to a daemon of its own."""
    with ramet.connect(timeout_seconds=60) as connected:
        connected.db.project.upsert("/projects/shop")
        connected.db.task.upsert(TASK)
        yield connected


@pytest.mark.requirement("R293")
def test_the_daemon_is_started_and_answers(r: ramet.Ramet, home: Path) -> None:
    status = r.daemon.status()
    assert status.store == f"sqlite {home / 'ramet' / 'ramet.db'}"
    assert r.daemon.ping().pong
    assert r.daemon.hello(client="test").version == ramet.__version__


def test_replies_are_the_typed_rows(r: ramet.Ramet) -> None:
    effort = r.db.effort.start(TASK, "implement", metadata={"scope": "cart"})
    assert effort.artifact_prefix == "1_IMPLEMENTATION"
    assert effort.created_at.tzinfo is not None
    assert r.db.effort.list(TASK).items == [effort]


def test_a_refusal_is_raised_as_what_it_is(r: ramet.Ramet) -> None:
    effort = r.db.effort.start(TASK, "plan")
    r.db.agents.register("blue")
    r.db.agents.register("green")
    r.db.agents.assign("blue", effort.id)
    with pytest.raises(EffortHeld, match="blue") as refused:
        r.db.agents.assign("green", effort.id)
    assert (refused.value.field, refused.value.value) == ("effort_id", effort.id)


def test_wrong_parameters_are_refused_before_and_behind_the_socket(r: ramet.Ramet) -> None:
    with pytest.raises(InvalidParams, match="cannot be written as JSON"):
        r.db.effort.start(TASK, "plan", metadata={"made": object()})
    with pytest.raises(InvalidParams) as refused:
        r.db.session.updateContextUsage(1, 7.5)
    assert refused.value.field == "usage"


@pytest.mark.requirement("R293")
def test_while_the_daemon_holds_it_the_database_cannot_be_opened(r: ramet.Ramet, home: Path) -> None:
    with pytest.raises(DatabaseHeld) as refused:
        ramet.open(home / "ramet" / "ramet.db")
    assert "ramet.connect()" in refused.value.fix


def test_threads_share_one_connection(r: ramet.Ramet) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: r.db.effort.start(TASK, "do"), range(40)))
    assert [effort.ordinal for effort in r.db.effort.list(TASK).items] == list(range(1, 41))


def test_events_come_as_they_happen_and_from_any_id_on(r: ramet.Ramet) -> None:
    r.db.agents.register("blue")
    with r.events.subscribe(after=0) as events:
        first = list(islice(events, 3))
        assert [event.kind for event in first] == ["project.added", "task.added", "agent.registered"]
        r.db.agents.register("green")
        assert next(iter(events)).agent_id == "green"
    assert isinstance(first[0], Event)


def test_after_a_kill_the_call_says_so_and_the_next_one_goes_on(r: ramet.Ramet) -> None:
    effort = r.db.effort.start(TASK, "plan", idempotency_key="once")
    os.kill(r.daemon.status().pid, signal.SIGKILL)
    with pytest.raises(DaemonUnreachable):
        r.db.effort.start(TASK, "plan", idempotency_key="once")
    assert r.db.effort.start(TASK, "plan", idempotency_key="once") == effort


def test_without_autostart_and_without_a_daemon_it_fails_with_what_to_do() -> None:
    with pytest.raises(DaemonUnreachable) as refused:
        ramet.connect(autostart=False)
    assert "ramet daemon start" in refused.value.fix


def test_a_closed_connection_stays_closed(r: ramet.Ramet) -> None:
    other = ramet.connect()
    other.close()
    other.close()
    with pytest.raises(DaemonUnreachable, match="closed"):
        other.daemon.ping()
    assert r.daemon.ping().pong


def test_the_configuration_is_that_of_the_project(home: Path) -> None:
    project = home / "elsewhere"
    project.mkdir()
    (project / "ramet.yaml").write_text("databse:\n  path: x.db\n", encoding="utf-8")
    with pytest.raises(UnknownKey, match="databse"):
        ramet.connect(project)


def test_connecting_loads_no_database_module() -> None:
    program = (
        "import sys, ramet\n"
        "try: ramet.connect(autostart=False)\n"
        "except ramet.errors.DaemonUnreachable: pass\n"
        "print(sorted({'apsw', 'psycopg', 'click', 'rich'} & sys.modules.keys()))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
