"""The stall meter: pauses of the event loop and of the writer are found, named, counted, shown and logged."""

import asyncio
import logging
import time
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.conftest import Serve
from tests.daemon.harness import PATIENCE_SECONDS, Database, RunningServer
from tests.daemon.process import Home
from tests.pauses import check_logs, check_meters

from ramet.daemon.stalls import OTHER, LoopMeter, Pauses, Stopwatch
from ramet.protocol.system.daemon import PauseReport

HELD_SECONDS = 0.06
_SUMMARY = "longest by=commit ms=900, most processor time by=history.diff processor_ms=890"

on_purpose = pytest.mark.pauses("the test holds the loop itself")


def compute(seconds: float = HELD_SECONDS) -> None:
    """Be busy for so much processor time."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def named(report: PauseReport) -> dict[str, Any]:
    return {row.name: row for row in report.worst}


def run(loop_meter_test: Any) -> LoopMeter:
    """Run a coroutine function with a metered loop."""

    async def main() -> LoopMeter:
        meter = LoopMeter.install(asyncio.get_running_loop())
        await asyncio.create_task(loop_meter_test(meter))
        meter.stop_beating()
        return meter

    return asyncio.run(main())


def test_a_lap_is_named_and_has_its_processor_time() -> None:
    pauses = Pauses("writer")
    watch = Stopwatch(pauses)
    watch.begin()
    watch.lap("quick")
    compute()
    watch.lap("slow")
    watch.end("commit")
    row = named(pauses.show())["slow"]
    assert row.count == 1
    assert HELD_SECONDS * 1000 - 1 <= row.processor_ms <= row.longest_ms


def test_waiting_is_a_pause_without_processor_time() -> None:
    pauses = Pauses("writer")
    watch = Stopwatch(pauses)
    watch.begin()
    time.sleep(HELD_SECONDS)
    watch.end("commit")
    row = named(pauses.show())["commit"]
    assert row.longest_ms >= HELD_SECONDS * 1000 - 1
    assert row.processor_ms < HELD_SECONDS * 500


def test_the_time_between_an_end_and_the_next_beginning_is_no_pause() -> None:
    pauses = Pauses("writer")
    watch = Stopwatch(pauses)
    watch.begin()
    watch.end("one")
    time.sleep(HELD_SECONDS)
    watch.lap("outside")
    watch.end("outside")
    assert "outside" not in named(pauses.show())


def test_a_report_has_the_ten_worst_and_the_longest_of_the_last_hour() -> None:
    pauses = Pauses("event loop")
    for number in range(30):
        pauses.add(f"op{number}", 0.01 + number / 1000, 0.005)
    report = pauses.show()
    assert [row.name for row in report.worst] == [f"op{number}" for number in range(29, 19, -1)]
    assert report.longest_ms == report.recent_ms == 39.0
    assert report.count == 19


def test_made_up_names_fill_nothing() -> None:
    pauses = Pauses("event loop")
    for number in range(2000):
        pauses.add(f"op{number}", 0.01, 0.0)
    assert len(pauses._rows) <= 501


def test_steps_of_tasks_are_timed_by_the_name_of_their_function() -> None:
    async def busy(meter: LoopMeter) -> None:
        await asyncio.sleep(0)
        compute()

    assert list(named(run(busy).pauses.show())) == [busy.__qualname__]


def test_results_errors_and_cancellations_of_tasks_are_those_of_their_functions() -> None:
    async def scenario(meter: LoopMeter) -> None:
        assert await asyncio.create_task(_answer()) == "answer"
        with pytest.raises(KeyError, match="lost"):
            await asyncio.create_task(_fail())
        for is_started in (False, True):
            task = asyncio.create_task(asyncio.sleep(3600))
            if is_started:
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.001):
                await asyncio.sleep(3600)
        async with asyncio.TaskGroup() as group:
            answers = [group.create_task(_answer()) for _ in range(2)]
        assert [each.result() for each in answers] == ["answer", "answer"]

    run(scenario)


async def _answer() -> str:
    await asyncio.sleep(0)
    return "answer"


async def _fail() -> None:
    await asyncio.sleep(0)
    raise KeyError("lost")


def test_a_pause_of_unknown_origin_is_found_by_the_heartbeat() -> None:
    async def scenario(meter: LoopMeter) -> None:
        meter.start_beating()
        loop = asyncio.get_running_loop()
        for _ in range(40):  # until a beat was due in the middle of it
            loop.call_soon(compute)
            await asyncio.sleep(0.01)
            if OTHER in named(meter.pauses.show()):
                break

    assert named(run(scenario).pauses.show())[OTHER].longest_ms > 20


def test_a_beat_that_a_timed_pause_delayed_is_not_counted_again() -> None:
    async def hold(meter: LoopMeter) -> None:
        meter.start_beating()
        compute(0.4)
        await asyncio.sleep(0.01)

    # A busy machine may delay a beat once more, after the pause; hardly five times in a row.
    assert any(OTHER not in named(run(hold).pauses.show()) for _ in range(5))


def test_a_long_pause_is_logged_once_and_then_only_if_it_is_much_longer(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="ramet.daemon.stalls")
    pauses = Pauses("event loop")
    for seconds in (0.03, 0.06, 0.07, 0.08, 0.2):
        pauses.add("history.diff", seconds, seconds)
    assert caplog.messages == [
        "event loop paused by=history.diff ms=60 processor_ms=60 unlogged=0",
        "event loop paused by=history.diff ms=200 processor_ms=200 unlogged=2",
    ]


def test_a_summary_names_the_longest_and_the_one_with_the_most_processor_time(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="ramet.daemon.stalls")
    pauses = Pauses("writer")
    pauses.log_summary()
    assert caplog.messages == []
    pauses.add("commit", 0.045, 0.001)
    pauses.add("history.gc", 0.03, 0.029)
    pauses.log_summary()
    line = "writer longest by=commit ms=45, most processor time by=history.gc processor_ms=29"
    assert caplog.messages == [line]


@on_purpose
@pytest.mark.requirement("R447")
@pytest.mark.parametrize("method", ["db.task.list", "db.project.upsert"])
def test_the_operation_that_holds_the_loop_is_named_in_the_status(serve: Serve, method: str) -> None:
    database = Database()
    server = serve(database=database)

    def slow(request: Any) -> Any:
        compute()
        return {"echo": request}

    database.answer = slow
    client = server.connect()
    client.call(method, **({"path": "/p"} if "upsert" in method else {}))
    worst = client.call("daemon.status")["result"]["loop_pauses"]["worst"]
    (row,) = [each for each in worst if each["name"] == method]
    assert row["count"] >= 1
    assert row["processor_ms"] >= HELD_SECONDS * 1000 - 6


@on_purpose
def test_a_slow_reply_is_named_after_its_operation(serve: Serve) -> None:
    server = serve(database=Database(holds=True))
    client = server.connect()
    client.ask("db.project.upsert", path="/p")
    server.database.wait_started(1)

    def deliver() -> None:
        server.meter.begin()
        compute()
        server._release_one("done")
        server.meter.end("deliver")

    server.in_loop(deliver)
    assert "result" in client.receive()
    assert "db.project.upsert" in named(server.meter.pauses.show())


def test_the_heart_beats_only_while_somebody_is_connected(server: RunningServer) -> None:
    client = server.connect()
    client.call("daemon.ping")
    assert server.in_loop(lambda: server.meter._timer is not None)
    client.close()
    server.wait_connections(0)
    assert server.in_loop(lambda: server.meter._timer is None)


@on_purpose
def test_a_server_that_stops_logs_its_longest_pause(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="ramet.daemon.stalls")
    database = Database()
    database.answer = lambda _: compute()
    server = serve(database=database)
    server.connect().call("db.task.list")
    server.stop()
    server.ended.result(PATIENCE_SECONDS)
    assert "most processor time by=db.task.list processor_ms=" in caplog.messages[-1]


def test_the_status_of_a_daemon_says_what_held_its_loop_and_its_writer(home: Home) -> None:
    home.serve()
    client = home.connect()
    client.call("db.project.upsert", path="/p")
    status = client.call("daemon.status")["result"]
    for report in (status["loop_pauses"], status["writer_pauses"]):
        assert set(report) == {"longest_ms", "recent_ms", "count", "worst"}
        assert report["longest_ms"] == max((row["longest_ms"] for row in report["worst"]), default=0)


def test_a_pause_in_a_meter_or_in_a_log_fails_its_test(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    pauses = Pauses("writer")
    pauses.add("commit", 9.0, 0.001)
    check_meters(request, [pauses])
    pauses.add("history.gc", 9.0, 9.0)
    with pytest.raises(AssertionError, match=r"by=history\.gc"):
        check_meters(request, [pauses])
    log = tmp_path / "logs" / "ramet.log"
    log.parent.mkdir()
    log.write_text("Z WARNING event loop paused by=work.add ms=900 processor_ms=2 unlogged=0\n")
    check_logs(request, tmp_path)
    for line in ("paused by=history.diff ms=900 processor_ms=890 unlogged=0", _SUMMARY):
        log.write_text(f"Z INFO event loop {line}\n")
        with pytest.raises(AssertionError, match=r"by=history\.diff"):
            check_logs(request, tmp_path)
