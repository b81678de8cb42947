"""The writer on SQLite: a hook is written before what waited longer, and everything is written."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.hook_calls import event
from tests.daemon.harness import PATIENCE_SECONDS
from tests.world import FakeClock, open_in

from ramet.config.settings import QuerySettings
from ramet.daemon.executors.preparation_process import PreparationProcess
from ramet.daemon.executors.writer import Writer
from ramet.daemon.stalls import LoopMeter
from ramet.engine import Engine
from ramet.engine.transaction import Rules
from ramet.faults import Faults
from ramet.model.hooks.hook import HookEvent
from ramet.model.redaction import Redactor
from ramet.protocol.hooks.hooks import HookFacts, RecordHook
from ramet.protocol.operation import Request
from ramet.protocol.record.projects import UpsertProject
from ramet.store.database.blobs import Codec
from ramet.store.database.sqlite.connection import SqliteConnection, open_writer
from ramet.store.database.sqlite.store import SqliteStore

MANY = 300


class Queue:
    """A writer, with a loop on a thread of its own, and the order of its answers."""

    def __init__(self, store: SqliteStore) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()
        self.answered: list[Any] = []
        self._changed = threading.Condition()
        self.writer = Writer(
            store,
            PreparationProcess(Engine(Rules(), codec=Codec(), redactor=Redactor())),
            QuerySettings(),
            clock=FakeClock(),
            faults=Faults(),
            on_commit=lambda _: None,
            meter=LoopMeter(self.loop),
        )

    def submit(self, name: Any, request: Request[Any]) -> None:
        def done(reply: Any) -> None:
            assert not isinstance(reply, Exception)
            with self._changed:
                self.answered.append(name)
                self._changed.notify_all()

        self.loop.call_soon_threadsafe(self.writer.submit, request.op, request, "runner", done)

    def wait(self, count: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.answered) >= count, PATIENCE_SECONDS)

    def close(self) -> None:
        self.writer.close()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    store = open_in(tmp_path, None)
    assert isinstance(store, SqliteStore)
    return store


@pytest.fixture
def queue(store: SqliteStore) -> Iterator[Queue]:
    queue = Queue(store)
    yield queue
    queue.close()


@pytest.fixture
def other(store: SqliteStore) -> Iterator[SqliteConnection]:
    """Somebody else who writes to the file, so that the writer has to wait."""
    connection = open_writer(store.path, "process")
    yield connection
    connection.close()


def record() -> RecordHook:
    said = event("session_start", native_id="w1", transcript_path="/w1.jsonl", source="startup")
    return RecordHook(event=HookEvent(**said), facts=HookFacts(project="/shop"))


@pytest.mark.requirement("R447")
def test_a_hook_is_written_before_what_has_waited_longer(queue: Queue, other: SqliteConnection) -> None:
    other.begin()
    for number in range(MANY):
        queue.submit(number, UpsertProject(path=f"/p/{number}"))
    queue.submit("hook", record())
    other.rollback()
    queue.wait(MANY + 1)
    assert queue.answered.index("hook") < MANY / 2
    assert [name for name in queue.answered if name != "hook"] == list(range(MANY))


def test_what_waits_is_written_when_the_writer_closes(store: SqliteStore, other: SqliteConnection) -> None:
    queue = Queue(store)
    other.begin()
    for number in range(MANY):
        queue.submit(number, UpsertProject(path=f"/p/{number}"))
    asyncio.run_coroutine_threadsafe(asyncio.sleep(0), queue.loop).result(PATIENCE_SECONDS)
    other.rollback()
    queue.close()
    assert queue.answered == list(range(MANY))
