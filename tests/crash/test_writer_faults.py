"""Group commit on a failing disk: who fails, who does not, what they are told, and that the writer goes on."""

import asyncio
import shutil
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.crash.faulty_disk import FAULTS, Fault, FaultyDisk, open_on
from tests.crash.incompressible_text import incompressible
from tests.world import FakeClock, World

from ramet.clock import SystemClock
from ramet.config.settings import QuerySettings
from ramet.daemon.executors.preparation_process import PreparationProcess
from ramet.daemon.executors.writer import Writer
from ramet.daemon.stalls import LoopMeter
from ramet.engine import Engine
from ramet.engine.answers import answers
from ramet.engine.transaction import Rules
from ramet.errors import BatchRolledBack, RametError, StorageFailed, StoreError
from ramet.faults import FaultPoint, Faults
from ramet.model.redaction import Redactor
from ramet.protocol.operation import Request
from ramet.protocol.record.sessions import Heartbeat
from ramet.protocol.wire.frames import decode_params, find_operation
from ramet.store.database.blobs import Codec

PATIENCE_SECONDS = 20


class Moments(Faults):
    """Does what the test wants done when the writer comes to a point; each thing once, in order."""

    def __init__(self) -> None:
        self.at: dict[FaultPoint, deque[Callable[[], object]]] = {
            "before_commit": deque(),
            "after_commit_before_reply": deque(),
        }

    def clear(self) -> None:
        for waiting in self.at.values():
            waiting.clear()

    def reach(self, point: FaultPoint) -> None:
        if self.at.get(point):
            self.at[point].popleft()()


class Desk:
    """A writer, and the loop's side of it."""

    def __init__(self, writer: Writer, moments: Moments, loop: asyncio.AbstractEventLoop) -> None:
        self.writer = writer
        self.database = writer._db.database
        self._moments = moments
        self._loop = loop

    def submit(self, method: str, **params: Any) -> "asyncio.Future[Any]":
        operation = find_operation(method)
        future: asyncio.Future[Any] = self._loop.create_future()
        self.writer.submit(operation, decode_params(operation, msgspec.json.encode(params)), "user", future.set_result)
        return future

    async def call(self, method: str, **params: Any) -> Any:
        return await asyncio.wait_for(self.submit(method, **params), PATIENCE_SECONDS)

    async def read(self, method: str, **params: Any) -> Any:
        operation = find_operation(method)
        future: asyncio.Future[Any] = self._loop.create_future()
        self.writer.read(operation, decode_params(operation, msgspec.json.encode(params)), "user", future.set_result)
        return await asyncio.wait_for(future, PATIENCE_SECONDS)

    async def batch(
        self,
        *requests: tuple[str, dict[str, Any]],
        before: Callable[[], object] = bool,
        at_commit: Callable[[], object] = bool,
    ) -> list[Any]:
        """The replies of requests that the writer takes together; what is called before them, and at their commit."""
        is_held, may_go = threading.Event(), threading.Event()

        def hold() -> None:
            is_held.set()
            assert may_go.wait(PATIENCE_SECONDS)

        self._moments.clear()
        self._moments.at["before_commit"].extend([hold, at_commit])
        self._moments.at["after_commit_before_reply"].append(before)
        first = self.submit("db.agents.register", id="the one before")
        assert await asyncio.to_thread(is_held.wait, PATIENCE_SECONDS)
        replies = [self.submit(method, **params) for method, params in requests]
        may_go.set()
        return (await asyncio.wait_for(asyncio.gather(first, *replies), PATIENCE_SECONDS))[1:]


@asynccontextmanager
async def desk_on(disk: FaultyDisk, path: Path) -> AsyncIterator[Desk]:
    loop = asyncio.get_running_loop()
    moments = Moments()
    engine = Engine(Rules(), codec=Codec(), redactor=Redactor())
    writer = Writer(
        open_on(disk, path),
        PreparationProcess(engine),
        QuerySettings(),
        clock=SystemClock(),
        faults=moments,
        on_commit=lambda _topic: None,
        meter=LoopMeter(loop),
    )
    desk = Desk(writer, moments, loop)
    try:
        await desk.call("db.project.upsert", path="/p")
        await desk.call("db.task.upsert", dir_path="/p/t")
        yield desk
    finally:
        disk.mend()
        await asyncio.to_thread(writer.close)


def efforts(count: int) -> list[tuple[str, dict[str, Any]]]:
    return [("db.effort.start", {"task_id": "/p/t", "skill": "plan"})] * count


def check_file(path: Path, ordinals: int) -> None:
    """The file on a sound disk is whole and has so many efforts."""
    world = World(open_on(None, path), FakeClock())
    try:
        assert world.call("db.check").findings == []
        assert [row[0] for row in world.sql("SELECT ordinal FROM efforts ORDER BY id")] == list(range(1, ordinals + 1))
    finally:
        world.store.close()


def codes(replies: list[Any]) -> list[str]:
    return [reply.code if isinstance(reply, RametError) else "kept" for reply in replies]


@pytest.mark.requirement("R255")
def test_an_operation_that_fails_in_a_batch_fails_alone(place: Path) -> None:
    async def run() -> None:
        async with desk_on(FaultyDisk(), place / "ramet.db") as desk:
            transactions = desk.writer.transactions
            wrong = ("db.effort.start", {"task_id": "/p/t", "skill": "none such"})
            replies = await desk.batch(*efforts(3), wrong, *efforts(3))
            assert codes(replies) == ["kept"] * 3 + ["unknown_skill"] + ["kept"] * 3
            assert [reply.ordinal for reply in replies if not isinstance(reply, RametError)] == [1, 2, 3, 4, 5, 6]
            assert desk.writer.transactions == transactions + 2

    asyncio.run(run())
    check_file(place / "ramet.db", 6)


def test_a_fault_of_ours_in_a_batch_fails_alone_and_is_not_told(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(*_: Any) -> None:
        raise ZeroDivisionError("a secret")

    async def run() -> None:
        async with desk_on(FaultyDisk(), place / "ramet.db") as desk:
            answered: dict[type[Request[Any]], Callable[..., Any]] = {**answers.all(), Heartbeat: stumble}
            monkeypatch.setattr(answers, "_functions", answered)
            replies = await desk.batch(*efforts(2), ("db.session.heartbeat", {"session_id": 1}), *efforts(2))
            assert codes(replies) == ["kept", "kept", "failed", "kept", "kept"]
            assert "secret" not in str(replies[2].to_wire())

    asyncio.run(run())
    check_file(place / "ramet.db", 4)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_commit_that_the_disk_refuses_fails_the_whole_batch(place: Path, fault: Fault) -> None:
    async def run() -> None:
        disk = FaultyDisk()
        async with desk_on(disk, place / "ramet.db") as desk:
            replies = await desk.batch(*efforts(5), at_commit=lambda: disk.arm(fault, 1, lasting=True))
            assert codes(replies) == ["storage_failed"] * 5
            assert codes([await desk.call("db.effort.start", task_id="/p/t", skill="plan")]) == ["storage_failed"]
            assert (await desk.read("db.effort.list", task_id="/p/t")).items == []
            disk.mend()
            replies = await desk.batch(*efforts(5))
            assert [reply.ordinal for reply in replies] == [1, 2, 3, 4, 5]

    asyncio.run(run())
    check_file(place / "ramet.db", 5)


@pytest.mark.parametrize("fault", ["short write", "io error", "disk full"])
def test_a_transaction_that_sqlite_gives_up_fails_as_a_whole_and_says_so(place: Path, fault: Fault) -> None:
    async def run() -> None:
        disk = FaultyDisk()
        async with desk_on(disk, place / "ramet.db") as desk:
            effort = await desk.call("db.effort.start", task_id="/p/t", skill="plan")
            session = await desk.call("db.session.start", task_id="/p/t", effort_id=effort.id)
            desk.database.pragma("cache_size", 5)  # so that pages are written before the commit
            large = [
                ("db.messages.append", {"session_id": session.id, "role": "user", "content": incompressible(number)})
                for number in range(8)
            ]
            replies = await desk.batch(*large, before=lambda: disk.arm(fault, 5))
            assert codes(replies) == ["batch_rolled_back"] * 8
            assert isinstance(replies[0], BatchRolledBack)
            assert "rolled" in replies[0].message
            assert codes(await desk.batch(*large)) == ["kept"] * 8
            listed = await desk.read("db.messages.list", session_id=session.id)
            assert len(listed.items) == 8

    asyncio.run(run())
    check_file(place / "ramet.db", 1)


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("fault", [*FAULTS, "read error"])
def test_the_writer_survives_a_disk_that_fails_anywhere(place: Path, fault: Fault, *, lasting: bool) -> None:
    """What is kept is told to be kept, and what is told to have failed is not there."""

    async def run(countdown: int) -> int:
        disk = FaultyDisk()
        async with desk_on(disk, place / f"{countdown}" / "ramet.db") as desk:
            desk.database.pragma("cache_size", 5)
            kept = 0
            disk.arm(fault, countdown, lasting=lasting)
            for _ in range(3):
                replies = await asyncio.gather(*(desk.submit(method, **params) for method, params in efforts(6)))
                assert all(isinstance(reply, StoreError) for reply in replies if isinstance(reply, Exception)), replies
                kept += codes(replies).count("kept")
            disk.mend()
            reply = await desk.call("db.effort.start", task_id="/p/t", skill="plan")
            assert reply.ordinal == kept + 1
            return kept + 1

    for countdown in range(1, 40, 3):
        kept = asyncio.run(run(countdown))
        check_file(place / f"{countdown}" / "ramet.db", kept)


def test_a_rollback_that_fails_does_not_stop_the_writer(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        disk = FaultyDisk()
        async with desk_on(disk, place / "ramet.db") as desk:
            rollback = desk.writer._db.rollback
            outcomes = iter([rollback, fail, rollback])
            with monkeypatch.context() as patch:
                patch.setattr(desk.writer._db, "rollback", lambda: next(outcomes, rollback)())  # noqa: PLW0108 - another each time
                patch.setattr(desk.writer._db, "commit", fail)
                assert codes([await desk.call("db.effort.start", task_id="/p/t", skill="plan")]) == ["storage_failed"]
            reply = await desk.call("db.effort.start", task_id="/p/t", skill="plan")
            assert reply.ordinal == 1

    asyncio.run(run())
    check_file(place / "ramet.db", 1)


def fail() -> None:
    raise StorageFailed


def test_a_flush_that_failed_may_come_back_after_a_kill_and_the_error_says_so(place: Path) -> None:
    """The frames are in the WAL, and nobody knows whether the disk has them: the next start may find them."""

    async def run() -> RametError:
        disk = FaultyDisk()
        async with desk_on(disk, place / "ramet.db") as desk:
            disk.arm("sync error", 1, lasting=True)
            reply = await desk.call("db.effort.start", task_id="/p/t", skill="plan", idempotency_key="once")
            shutil.copytree(place, place / "killed", ignore=shutil.ignore_patterns("lock", "*-shm"))
            assert isinstance(reply, StorageFailed)
            return reply

    error = asyncio.run(run())
    world = World(open_on(None, place / "killed" / "ramet.db"), FakeClock())
    kept = len(world.call("db.effort.list", task_id="/p/t").items)
    again = world.call("db.effort.start", task_id="/p/t", skill="plan", idempotency_key="once")
    assert again.ordinal == 1
    assert len(world.call("db.effort.list", task_id="/p/t").items) == 1
    world.store.close()
    assert kept == 0 or "idempotency_key" in error.fix
