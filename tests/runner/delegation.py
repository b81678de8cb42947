"""Agents that delegate, on a real daemon: what they are to do, and what became of it."""

import json
import os
import shlex
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace
from tests.crash.daemons import Daemon, Home

from ramet.client.connection import Connection
from ramet.config.settings import WorkSettings
from ramet.errors import RametError

PROGRAM = Path(__file__).with_name("delegating_agent.py")
PATIENCE_SECONDS = 60.0


class Note(NamedTuple):
    at: float
    session: int
    name: str
    what: str


class Child(NamedTuple):
    """What the database has of a child."""

    session: int
    effort: int
    parent: int
    root: int
    depth: int
    agent: str | None
    outcome: str | None


class Delegation:
    """A project, an agent that is told to delegate, and where all of them leave their notes."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.project = home.path / "project"
        self.project.mkdir(parents=True)
        self._notes = home.path / "notes"
        home.settings = replace(home.settings, work=WorkSettings(grace_seconds=1, backoff_seconds=0))

    def add(self, connection: Connection, plan: dict[str, Any], **params: Any) -> int:
        """Queue the root."""
        connection.call("db.project.upsert", {"path": str(self.project)})
        task = {"skill": "shell", "task": str(self.project / "t"), **params}
        added: int = connection.call("work.add", {"prompt": self.command("root", plan), **task})["id"]
        return added

    def start_by_hand(self, connection: Connection) -> int:
        """A session that nobody here runs."""
        task = str(self.project / "t")
        connection.call("db.project.upsert", {"path": str(self.project)})
        connection.call("db.task.upsert", {"dir_path": task})
        effort = connection.call("db.effort.start", {"task_id": task, "skill": "implement"})
        params = {"task_id": task, "effort_id": effort["id"], "pid": os.getpid()}
        session: int = connection.call("db.session.start", params)["id"]
        return session

    def order(self, name: str, plan: dict[str, Any]) -> dict[str, Any]:
        return {"goal": self.command(name, plan), "workflowId": "shell"}

    def command(self, name: str, plan: dict[str, Any]) -> str:
        return shlex.join([sys.executable, str(PROGRAM), str(self._notes), name, json.dumps(plan)])

    def lock(self, name: str) -> Path:
        """A file that agents wait for."""
        return self.home.path / name

    @property
    def notes(self) -> list[Note]:
        if not self._notes.exists():
            return []
        lines = (line.split(" ", 3) for line in self._notes.read_text().splitlines())
        return sorted(Note(float(at), int(session), name, what) for at, session, name, what in lines)

    def has(self, name: str, what: str) -> bool:
        return any((note.name, note.what) == (name, what) for note in self.notes)

    def most_at_work(self) -> int:
        """How many agents worked at once: neither waiting for a child nor over."""
        change = {"begins": 1, "waits": -1, "goes on": 1, "ends": -1}
        at_work = most = 0
        for note in self.notes:
            at_work += change[note.what]
            most = max(most, at_work)
        return most


def run(daemon: Daemon, workers: int) -> threading.Thread:
    """Let workers do what there is, on a connection of its own; the daemon's death ends it."""

    def work() -> None:
        with suppress(RametError), daemon.connect() as connection:
            connection.set_timeout(None)
            connection.call("work.run", {"workers": workers, "once": True})

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def ask(connection: Connection, sql: str) -> list[list[Any]]:
    rows: list[list[Any]] = connection.call("db.query", {"sql": sql})["rows"]
    return rows


def children(connection: Connection) -> list[Child]:
    """All that were spawned, in that order."""
    rows = ask(
        connection,
        "SELECT s.id, e.id, e.spawned_by, s.root_session_id, s.spawn_depth, s.agent_id, e.outcome FROM efforts e"
        " JOIN sessions s ON s.effort_id = e.id WHERE e.spawned_by IS NOT NULL ORDER BY s.id",
    )
    return [Child(*row) for row in rows]


def results(connection: Connection, effort_id: int) -> list[dict[str, Any]]:
    """What an agent printed of its children's results."""
    output = connection.call("work.get", {"effort_id": effort_id})["output_content"]
    found: list[dict[str, Any]] = json.loads(output.splitlines()[0])
    return found


def wait_for(fact: Callable[[], bool], seconds: float = PATIENCE_SECONDS) -> bool:
    deadline = time.monotonic() + seconds
    while not fact():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def is_finished(connection: Connection) -> bool:
    return ask(connection, "SELECT count(*) FROM efforts WHERE lifecycle <> 'finished'") == [[0]]
