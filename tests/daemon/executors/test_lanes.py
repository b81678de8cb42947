"""Changes on PostgreSQL: those to different things do not wait for each other."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.hook_calls import event
from tests.daemon.harness import PATIENCE_SECONDS
from tests.world import FakeClock, open_in

from ramet.config.settings import Settings
from ramet.daemon.executors.pool import Pool, _subject
from ramet.daemon.executors.preparation_process import PreparationProcess
from ramet.daemon.stalls import LoopMeter
from ramet.engine import Engine
from ramet.engine.transaction import Rules
from ramet.faults import Faults
from ramet.model.hooks.hook import HookEvent
from ramet.model.redaction import Redactor
from ramet.protocol.hooks.hooks import HookFacts, RecordHook
from ramet.protocol.hooks.transcripts import AddEntries
from ramet.store.database.blobs import Codec
from ramet.store.database.postgres.connection import PostgresConnection
from ramet.store.database.postgres.store import PostgresStore


class Lanes:
    """A pool, with a loop on a thread of its own."""

    def __init__(self, store: PostgresStore) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()
        engine = Engine(Rules(), codec=Codec(), redactor=Redactor())
        self.pool = Pool(
            store,
            PreparationProcess(engine),
            Settings(),
            clock=FakeClock(),
            faults=Faults(),
            on_commit=lambda _: None,
            meter=LoopMeter(self.loop),
        )

    def record(self, native_id: str) -> "Future[Any]":
        answered: Future[Any] = Future()
        request = record(native_id)
        operation = RecordHook.op
        self.loop.call_soon_threadsafe(self.pool.submit, operation, request, "runner", answered.set_result)
        return answered

    def close(self) -> None:
        self.pool.close()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


def record(native_id: str) -> RecordHook:
    said = event("session_start", native_id=native_id, transcript_path=f"/{native_id}.jsonl", source="startup")
    return RecordHook(event=HookEvent(**said), facts=HookFacts(project="/shop"))


@pytest.fixture
def store(tmp_path: Path, postgres_url: str) -> PostgresStore:
    store = open_in(tmp_path, postgres_url)
    assert isinstance(store, PostgresStore)
    return store


@pytest.fixture
def lanes(store: PostgresStore) -> Iterator[Lanes]:
    lanes = Lanes(store)
    yield lanes
    lanes.close()


@pytest.fixture
def other(store: PostgresStore) -> Iterator[PostgresConnection]:
    """Somebody else's connection."""
    connection = store.connect()
    assert isinstance(connection, PostgresConnection)
    yield connection
    connection.close()


def test_a_session_whose_hook_waits_holds_up_only_its_own(lanes: Lanes, other: PostgresConnection) -> None:
    names = [f"w{number}" for number in range(12)]
    for name in names:
        assert lanes.record(name).result(PATIENCE_SECONDS).session_id
    other.begin()
    other.database.execute("SELECT id FROM sessions WHERE native_id = 'w0' FOR UPDATE")
    waiting = lanes.record("w0")
    others = [lanes.record(name) for name in names[1:]]
    done, _ = wait(others, PATIENCE_SECONDS / 2, FIRST_COMPLETED)
    was_waiting = not waiting.done()
    other.rollback()
    assert (len(done) > 0, was_waiting) == (True, True)  # eleven, and eight lanes
    assert not wait([waiting, *others], PATIENCE_SECONDS).not_done


def test_the_hooks_of_a_session_and_what_is_read_of_its_transcript_take_turns() -> None:
    read = AddEntries(session_id=1, path="/w1.jsonl", offset=0, entries=[])
    assert _subject(record("w1")) == _subject(read) != _subject(record("w2"))
