"""Clients that work as agents do, remember what was acknowledged, and know what was under way when the daemon died.

A hand has at most one request under way, with an idempotency key of its own. What it was told is its ledger; the
request that it never heard of again is `pending`, and is sent again with the same key to the next daemon.
"""

import threading
import time
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

from ramet.client.connection import Connection
from ramet.errors import DaemonUnreachable, StoreError

PROJECT = "/p"
TASK = "/p/task"
_PHASES = ("1: Prepare", "2: Build", "3: Test", "4: Finish")

Connect = Callable[[], Connection]


class Sent(NamedTuple):
    """A request, by what makes it unique."""

    method: str
    params: dict[str, Any]

    @property
    def key(self) -> str:
        return str(self.params["idempotency_key"])


class Acknowledged(NamedTuple):
    """A request that was answered."""

    sent: Sent
    reply: dict[str, Any]


class Hand:
    """One client: efforts on one task, each with a session, messages, phases and heartbeats, over and over."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.ledger: list[Acknowledged] = []
        self.pending: Sent | None = None
        self.surprises: list[Exception] = []
        self.typed_failures: list[str] = []
        self._steps = self._work()
        self._reply: dict[str, Any] | None = None
        self._count = 0

    def run(self, connect: Connect, stop: threading.Event, *, tries: int = 1) -> None:
        """Work until the daemon is gone or the test says stop. A typed failure of the database is tried again."""
        try:
            with connect() as connection:
                while not stop.is_set():
                    self._perform(connection, tries)
        except DaemonUnreachable:
            return
        except Exception as error:  # noqa: BLE001 - the test shows it
            self.surprises.append(error)

    def repeat_pending(self, connection: Connection) -> None:
        """Send what was under way again, with the same key."""
        if self.pending is not None:
            self._acknowledge(self.pending, connection.call(*self.pending))

    def step(self, connection: Connection, *, tries: int = 1) -> Acknowledged:
        """Do one thing and return what was said to it."""
        self._perform(connection, tries)
        return self.ledger[-1]

    def _perform(self, connection: Connection, tries: int) -> None:
        sent = self.pending or self._next()
        self.pending = sent
        for attempt in range(1, tries + 1):
            try:
                self._acknowledge(sent, connection.call(*sent))
                break
            except StoreError as error:
                self.typed_failures.append(error.code)
                if attempt == tries or not error.is_transient:
                    raise
                time.sleep(0.01)

    def _next(self) -> Sent:
        return next(self._steps) if self._reply is None else self._steps.send(self._reply)

    def _acknowledge(self, sent: Sent, reply: dict[str, Any]) -> None:
        self.ledger.append(Acknowledged(sent, reply))
        self.pending = None
        self._reply = reply

    def _sent(self, method: str, **params: Any) -> Sent:
        self._count += 1
        return Sent(method, {**params, "idempotency_key": f"hand {self.number} request {self._count}"})

    def _work(self) -> Generator[Sent, dict[str, Any], None]:
        while True:
            token = {"token": f"hand {self.number} effort {self._count}"}
            effort = yield self._sent("db.effort.start", task_id=TASK, skill="implement", metadata=token)
            session = yield self._sent(
                "db.session.start",
                task_id=TASK,
                effort_id=effort["id"],
                agent_id=f"agent {self.number}",
                driver="crash",
                native_id=f"{self.number}-{effort['id']}",
            )
            for phase in _PHASES:
                yield self._sent("db.effort.phase", effort_id=effort["id"], label=phase)
                for role in ("user", "assistant"):
                    yield self._message(session["id"], role)
                yield self._sent("db.session.heartbeat", session_id=session["id"])
            yield self._sent("db.session.finish", session_id=session["id"], dehydration_payload={"by": self.number})
            yield self._sent("db.effort.finish", effort_id=effort["id"], outcome="success")

    def _message(self, session_id: int, role: str) -> Sent:
        content = f"hand {self.number} says {self._count + 1}: " + "the same words again and again, " * 8
        return self._sent("db.messages.append", session_id=session_id, role=role, content=content)


class Crew:
    """Several hands at once."""

    def __init__(self, size: int) -> None:
        self.hands = [Hand(number) for number in range(size)]

    def prepare(self, connection: Connection) -> None:
        """The project and the task that they share."""
        connection.call("db.project.upsert", {"path": PROJECT})
        connection.call("db.task.upsert", {"dir_path": TASK})

    def work(self, connect: Connect, until: Callable[[], object], *, tries: int = 1) -> None:
        """Let all of them work, while `until` lasts; it usually ends with the daemon's death."""
        stop = threading.Event()
        threads = [
            threading.Thread(target=hand.run, args=(connect, stop), kwargs={"tries": tries}) for hand in self.hands
        ]
        for thread in threads:
            thread.start()
        try:
            until()
        finally:
            stop.set()
            for thread in threads:
                thread.join(60)
        assert not any(thread.is_alive() for thread in threads)
        assert [error for hand in self.hands for error in hand.surprises] == []

    def repeat_pending(self, connection: Connection) -> None:
        for hand in self.hands:
            hand.repeat_pending(connection)

    def pending(self) -> list[Sent]:
        return [hand.pending for hand in self.hands if hand.pending is not None]

    def acknowledged(self) -> int:
        return sum(len(hand.ledger) for hand in self.hands)
