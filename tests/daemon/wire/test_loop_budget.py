"""Requests that arrive all at once: a hook waits for a few of them, never for all."""

import time
from typing import Any

import pytest
from tests.daemon.conftest import Serve
from tests.daemon.harness import Database, RunningServer, line

from ramet.daemon.wire.answers import answers
from ramet.daemon.wire.calls import Call
from ramet.protocol.system.daemon import Ping, Pong

MANY = 60


class Slow(Database):
    """A database whose reads each take a millisecond of the event loop, and that notes what was started."""

    def __init__(self) -> None:
        super().__init__()
        self.order: list[Any] = []
        self.answer = self._take_a_while

    def _take_a_while(self, request: Any) -> Any:
        end = time.thread_time() + 0.001
        while time.thread_time() < end:
            pass
        self.order.append(request.task_id)
        return None


class Noting:
    """Answers what concerns the daemon itself, and notes when."""

    def __init__(self, order: list[Any]) -> None:
        self._order = order

    @answers(Ping)
    def ping(self, call: Call, request: Ping) -> Pong:
        self._order.append("ping")
        return Pong()


@pytest.fixture
def slow() -> Slow:
    return Slow()


@pytest.fixture
def server(serve: Serve, slow: Slow) -> RunningServer:
    server = serve(database=slow)
    server.use(Noting(slow.order))
    return server


def crowd() -> bytes:
    return b"".join(line("db.effort.list", number, task_id=f"/p/{number}") for number in range(MANY))


@pytest.mark.requirement("R447")
def test_what_concerns_the_daemon_is_answered_before_a_crowd_of_requests(server: RunningServer, slow: Slow) -> None:
    asking, hook = server.connect(), server.connect()
    server.wait_connections(2)

    def let_both_arrive() -> None:  # the loop stands still, so it finds both in one turn
        asking.send(crowd())
        hook.ask("daemon.ping")

    server.in_loop(let_both_arrive)
    assert hook.receive()["result"] == {"pong": True}
    assert [asking.receive()["id"] for _ in range(MANY)] == list(range(MANY))
    assert slow.order.index("ping") < MANY / 2


def test_a_crowd_of_requests_is_started_in_its_order(server: RunningServer, slow: Slow) -> None:
    asking = server.connect()
    asking.send(crowd())
    for _ in range(MANY):
        asking.receive()
    assert slow.order == [f"/p/{number}" for number in range(MANY)]


def test_requests_that_wait_for_their_turn_are_answered_when_the_daemon_stops(
    server: RunningServer, slow: Slow
) -> None:
    asking = server.connect()
    server.wait_connections(1)

    def arrive_and_stop() -> None:
        asking.send(crowd())

    server.in_loop(arrive_and_stop)
    asking.receive()
    server.stop()
    codes = [reply.get("error", {}).get("data", {}).get("code") for reply in iter(asking.receive, None)]
    assert len(codes) == MANY - 1
    assert set(codes) <= {None, "daemon_stopping"}
    assert slow.order == [f"/p/{number}" for number in range(len(slow.order))]
