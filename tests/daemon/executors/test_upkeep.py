"""Upkeep while requests never pause: old replies go, and the write-ahead log returns to its limit."""

import asyncio
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.daemon.harness import PATIENCE_SECONDS
from tests.world import DATABASE_NAME, FakeClock, open_in

from ramet.config.settings import LimitSettings, QuerySettings, Settings
from ramet.daemon.executors import upkeep
from ramet.daemon.executors.executor import Executor
from ramet.daemon.executors.pool import Pool
from ramet.daemon.executors.preparation_process import PreparationProcess
from ramet.daemon.executors.writer import Writer
from ramet.daemon.stalls import LoopMeter
from ramet.engine import Engine
from ramet.engine.transaction import Rules
from ramet.faults import Faults
from ramet.model.redaction import Redactor
from ramet.protocol.wire.frames import decode_params, find_operation
from ramet.store import Store
from ramet.store.database.blobs import Codec
from ramet.store.database.postgres.store import PostgresStore
from ramet.store.database.sqlite import connection as sqlite_connection
from ramet.store.database.sqlite import wal
from ramet.store.database.sqlite.store import SqliteStore

DAYS_KEPT = LimitSettings().idempotency_days
LIMIT_BYTES = 400_000


class Busy:
    """An executor with a loop on a thread of its own, and a stream of writes that never pauses."""

    def __init__(self, store: Store, clock: FakeClock) -> None:
        self.store = store
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()
        preparation = PreparationProcess(Engine(Rules(), codec=Codec(), redactor=Redactor()))
        common: dict[str, Any] = {
            "clock": clock,
            "faults": Faults(),
            "on_commit": lambda _: None,
            "meter": LoopMeter(self.loop),
        }
        self.executor: Executor
        if isinstance(store, SqliteStore):
            self.executor = Writer(store, preparation, QuerySettings(), **common)
        else:
            assert isinstance(store, PostgresStore)
            self.executor = Pool(store, preparation, Settings(), **common)
        self.written = 0
        self._is_streaming = True

    def call(self, method: str, **params: Any) -> Any:
        return self._submit(method, **params).result(PATIENCE_SECONDS)

    def _submit(self, method: str, **params: Any) -> "Future[Any]":
        answered: Future[Any] = Future()
        operation = find_operation(method)
        request = decode_params(operation, msgspec.json.encode(params))
        self.loop.call_soon_threadsafe(self.executor.submit, operation, request, "user", answered.set_result)
        return answered

    def stream(self, lanes: int = 4) -> None:
        """Writes, each of which follows the one before it at once; several at a time, so that some always wait."""
        for lane in range(lanes):
            self._next(lane)

    def _next(self, lane: int) -> None:
        if self._is_streaming:
            self.written += 1
            written = self._submit("db.agents.register", id=f"agent {self.written}")
            written.add_done_callback(lambda _: self._next(lane))

    def pause(self, is_paused: bool) -> None:
        """End the stream, or let it continue."""
        self._is_streaming = not is_paused

    def close(self) -> None:
        self._is_streaming = False
        self.executor.close()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def count_replies(store: Store) -> int:
    reader = store.connect_reader()
    try:
        ((found,),) = reader.database.execute("SELECT count(*) FROM idempotency").fetchall()  # type: ignore[attr-defined]
        return int(found)
    finally:
        reader.close()


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str | None:
    return None if request.param == "sqlite" else request.getfixturevalue("postgres_url")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def busy(tmp_path: Path, url: str | None, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Busy]:
    monkeypatch.setattr(upkeep, "_REPLIES_SECONDS", 0.2)
    monkeypatch.setattr(upkeep, "_STEP_ROWS", 5)
    busy = Busy(open_in(tmp_path, url, clock=clock), clock)
    yield busy
    busy.close()


@pytest.mark.requirement("R459")
def test_old_replies_are_removed_while_writes_never_pause(busy: Busy, clock: FakeClock) -> None:
    for number in range(23):
        busy.call("db.agents.register", id="a", idempotency_key=f"old {number}")
    busy.stream()
    wait_until(lambda: busy.written > 20)
    clock.advance(DAYS_KEPT * 86_400 + 1)
    busy.call("db.agents.register", id="a", idempotency_key="new")
    wait_until(lambda: count_replies(busy.store) == 1)


@pytest.mark.requirement("R459")
def test_old_replies_are_removed_while_nobody_writes(busy: Busy, clock: FakeClock) -> None:
    busy.call("db.agents.register", id="a", idempotency_key="old")
    clock.advance(DAYS_KEPT * 86_400 + 1)
    wait_until(lambda: count_replies(busy.store) == 0)


@pytest.mark.requirement("R447")
def test_upkeep_removes_few_replies_at_a_time(busy: Busy, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []
    forget = Engine.forget_old_replies

    def count(*arguments: Any) -> int:
        steps.append(forget(*arguments))
        return steps[-1]

    monkeypatch.setattr(Engine, "forget_old_replies", count)
    for number in range(23):
        busy.call("db.agents.register", id="a", idempotency_key=f"old {number}")
    clock.advance(DAYS_KEPT * 86_400 + 1)
    wait_until(lambda: count_replies(busy.store) == 0)
    assert [each for each in steps if each] == [5, 5, 5, 5, 3]


READER = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("BEGIN")
database.execute("SELECT count(*) FROM agents").fetchall()
print("reading", flush=True)
sys.stdin.read()
"""


@pytest.mark.requirement("R459")
@pytest.mark.parametrize("writes_after", [True, False])
def test_the_log_returns_to_its_limit_when_a_long_reader_is_gone(
    tmp_path: Path,
    clock: FakeClock,
    writes_after: bool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(wal, "LIMIT_BYTES", LIMIT_BYTES)
    monkeypatch.setattr(sqlite_connection, "CHECKPOINT_PAGES", 20)
    monkeypatch.setattr(upkeep, "_LOG_SECONDS", 0.05)
    busy = Busy(open_in(tmp_path, None, clock=clock), clock)
    log = tmp_path / f"{DATABASE_NAME}-wal"
    reader = subprocess.Popen(
        [sys.executable, "-c", READER, str(tmp_path / DATABASE_NAME)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        with reader, caplog.at_level(logging.WARNING):
            assert reader.stdin is not None
            assert reader.stdout is not None
            assert reader.stdout.readline() == b"reading\n"
            busy.stream()
            wait_until(lambda: log.stat().st_size > 2 * LIMIT_BYTES and f"(pid {reader.pid})" in caplog.text)
            busy.pause(not writes_after)
            assert log.stat().st_size > LIMIT_BYTES
            reader.stdin.close()
        wait_until(lambda: log.stat().st_size <= LIMIT_BYTES)
    finally:
        busy.close()
