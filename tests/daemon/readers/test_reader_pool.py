"""The pool of readers, with real processes: whose reads wait for whose, and which processes stay."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from msgspec import Raw
from tests.daemon.harness import PATIENCE_SECONDS
from tests.daemon.readers.conftest import ENDLESS

from ramet.clock import SystemClock
from ramet.config.places import find_places
from ramet.config.settings import DatabaseSettings, Settings
from ramet.daemon import composition
from ramet.daemon.executors.executor import OWN, Asker
from ramet.daemon.readers import reader_pool
from ramet.daemon.readers.fork_server import ForkServer
from ramet.daemon.readers.reader_pool import ReaderPool
from ramet.errors import DaemonStopping, ReadInterrupted
from ramet.faults import Faults
from ramet.model.principal import USER
from ramet.protocol.history.contexts import Compile
from ramet.protocol.operation import Request
from ramet.protocol.system.database import Query
from ramet.store import open_store


class Pool:
    """A pool on a database of its own."""

    def __init__(self, home: Path) -> None:
        settings = Settings(database=DatabaseSettings(path=str(home / "ramet.db")))
        places = find_places({"HOME": str(home), "RAMET_HOME": str(home)}, settings)
        self._store = open_store(settings.database, places, clock=SystemClock(), faults=Faults())
        start_line = composition.start_line(settings, places)
        self.pool = ReaderPool(ForkServer(start_line), settings.daemon, asyncio.get_running_loop())

    def start(self, request: Request[Any], asker: Asker) -> "asyncio.Future[Any]":
        answered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.pool.read(request, USER, answered.set_result, asker, freshens=False)
        return answered

    async def read(self, request: Request[Any], asker: Asker) -> Any:
        return await asyncio.wait_for(self.start(request, asker), PATIENCE_SECONDS)

    def pids(self) -> set[int]:
        return {each.pid for each in psutil.Process().children(recursive=True) if each.name() == "ramet reader"}

    def close(self) -> None:
        self.pool.close()
        self._store.close()


def run(home: Path, steps: Callable[[Pool], Awaitable[None]]) -> None:
    """Do the steps with a pool, and leave no process behind."""

    async def live() -> None:
        pool = Pool(home)
        try:
            await steps(pool)
        finally:
            pool.close()
        assert not pool.pids()

    asyncio.run(live())


async def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


@pytest.mark.requirement("R447")
def test_what_the_daemon_needs_itself_does_not_wait_for_clients(tmp_path: Path) -> None:
    async def steps(pool: Pool) -> None:
        long = [pool.start(Query(sql=ENDLESS), Asker(number, is_gone=lambda: False)) for number in range(8)]
        slow = pool.start(Query(sql=ENDLESS), OWN)
        for number in range(3):
            assert b"[[%d]]" % number in bytes(await pool.read(Query(sql=f"SELECT {number}"), OWN))
        assert not any(each.done() for each in (*long, slow))
        pool.pool.interrupt()
        assert {type(each.result()) for each in long} == {DaemonStopping}
        assert not slow.done()

    run(tmp_path, steps)


def test_a_client_that_is_gone_frees_the_place_of_its_read(tmp_path: Path) -> None:
    async def steps(pool: Pool) -> None:
        waiting = [pool.start(Query(sql=ENDLESS), Asker(client="gone")) for _ in range(3)]
        await until(lambda: len(pool.pids()) == 1)
        pool.pool.stop_reads("gone")
        assert {type(each.result()) for each in waiting} == {ReadInterrupted}
        await until(lambda: not pool.pids())
        assert pool.pool.pending == 0

    run(tmp_path, steps)


def test_a_second_read_about_the_same_branch_meets_the_same_reader(tmp_path: Path) -> None:
    one, other, client = Compile(branch="one"), Compile(branch="other"), Asker(client="client")

    async def steps(pool: Pool) -> None:
        both = [pool.start(one, Asker(client="a")), pool.start(other, Asker(client="b"))]
        await asyncio.wait_for(asyncio.gather(*both), PATIENCE_SECONDS)
        await until(lambda: len(pool.pool._idle) == 2)
        links = {place: link for link, places in pool.pool._places.items() for place in places}
        for request in (one, other, one, other, other):
            await pool.read(request, client)
            await until(lambda: len(pool.pool._idle) == 2)
            assert next(reversed(pool.pool._idle)) is links[request.branch]

    run(tmp_path, steps)


@pytest.mark.requirement("R343")
def test_readers_without_work_end_and_the_last_small_one_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_pool, "_IDLE_SECONDS", 0.05)

    async def steps(pool: Pool) -> None:
        both = [pool.start(Query(sql="SELECT 1"), Asker(client=number)) for number in range(2)]
        assert {type(each) for each in await asyncio.wait_for(asyncio.gather(*both), PATIENCE_SECONDS)} == {Raw}
        await until(lambda: len(pool.pids()) == 1)
        monkeypatch.setattr(reader_pool, "_KEPT_BYTES", -1)  # as if it had grown
        await pool.read(Query(sql="SELECT 1"), Asker(client=1))
        await until(lambda: not pool.pids())

    run(tmp_path, steps)
