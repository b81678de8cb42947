"""Unfinished requests, over all connections: their size and their age are limited, and memory goes back."""

import asyncio
import time

import pytest
from tests.daemon.conftest import Serve
from tests.daemon.harness import PATIENCE_SECONDS, Client, Database, RunningServer, line
from tests.daemon.process import Home, resident_bytes, wait_until

from ramet.config.settings import DaemonSettings
from ramet.daemon.wire.byte_limit import Intake
from ramet.errors import RametError

KIB = 1024
MIB = 1024 * 1024
SMALL = DaemonSettings(max_request_bytes=100 * KIB, max_unfinished_bytes=200 * KIB, drain_seconds=1)


def begin(server: RunningServer, size: int) -> Client:
    """A client that has sent so much of a request, which the server has got."""
    client = server.connect()
    before = server.in_loop(lambda: server.server.intake.unfinished_bytes)
    client.send(b"{" + b"a" * (size - 1))
    wait_until(lambda: server.in_loop(lambda: server.server.intake.unfinished_bytes) >= before + size)
    return client


def code_of(client: Client) -> str | None:
    reply = client.receive()
    return reply and str(reply["error"]["data"]["code"])


@pytest.mark.requirement("R343")
def test_over_the_limit_the_oldest_unfinished_request_is_refused_and_its_connection_closed(serve: Serve) -> None:
    server = serve(settings=SMALL)
    oldest = begin(server, 90 * KIB)
    others = [begin(server, 60 * KIB), server.connect()]
    others[1].send(b"{" + b"a" * (60 * KIB - 1))
    reply = oldest.receive()
    assert reply["error"]["data"]["code"] == "too_much_input"
    assert "daemon.max_unfinished_bytes" in reply["error"]["data"]["fix"]
    assert oldest.receive() is None
    assert code_of(others[0]) == "too_much_input"  # it makes no progress either, and more than half is in use
    assert server.in_loop(lambda: server.server.intake.unfinished_bytes) == 60 * KIB


@pytest.mark.requirement("R343")
def test_an_unfinished_request_that_is_too_old_is_refused_although_nobody_needs_its_room(serve: Serve) -> None:
    server = serve(settings=DaemonSettings(max_unfinished_seconds=1, drain_seconds=1))
    client = begin(server, 10)
    reply = client.receive()
    assert reply["error"]["data"]["code"] == "too_much_input"
    assert "longer than 1 seconds" in reply["error"]["message"]
    assert client.receive() is None


def test_a_request_that_stops_halfway_gives_way_to_one_that_goes_on(serve: Serve) -> None:
    server = serve(settings=SMALL)
    stopped = begin(server, 90 * KIB)
    going = begin(server, 50 * KIB)  # which is held back now: more than half is in use
    assert code_of(stopped) == "too_much_input"
    going.send(b"a" * (20 * KIB) + b"\n")
    assert code_of(going) == "parse_error"


def test_many_clients_that_send_large_requests_at_once_are_all_answered(serve: Serve) -> None:
    server = serve(settings=SMALL)
    request = line("history.commit", 1, branch="a", text="x" * (90 * KIB))
    clients = [server.connect() for _ in range(12)]
    rests = {client: memoryview(request) for client in clients}
    for client in clients:
        client.socket.setblocking(False)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while rests:
        assert time.monotonic() < deadline
        for client, rest in tuple(rests.items()):
            try:
                rests[client] = rest[client.socket.send(rest[: 16 * KIB]) :]
            except BlockingIOError:
                continue
            if not rests[client]:
                del rests[client]
    for client in clients:
        client.socket.settimeout(PATIENCE_SECONDS)
        reply = client.receive()
        assert "result" in reply, reply


def test_large_requests_that_are_being_worked_on_are_limited_too(serve: Serve) -> None:
    server = serve(settings=SMALL, database=Database(holds=True))
    request = line("history.commit", 1, branch="a", text="x" * (90 * KIB))
    clients = [server.connect() for _ in range(3)]
    for client in clients:
        client.send(request)
    server.database.wait_started(1)
    assert server.connect().call("daemon.ping")["result"] == {"pong": True}
    assert server.in_loop(server.database.pending) == 1
    for started in (1, 2, 3):
        server.database.wait_started(started)
        server.release(1)
    assert all(client.receive()["result"] == "done" for client in clients)
    assert server.in_loop(lambda: server.server.intake.open_bytes) == 0


def test_a_connection_that_goes_leaves_nothing_counted(serve: Serve) -> None:
    server = serve(settings=SMALL, database=Database(holds=True))
    client = begin(server, 50 * KIB)
    client.close()
    wait_until(lambda: server.in_loop(lambda: server.server.intake.unfinished_bytes) == 0)
    client = server.connect()
    client.send(line("history.commit", 1, branch="a", text="x" * (90 * KIB)))
    server.database.wait_started(1)
    client.close()
    server.release(1)
    server.wait_connections(0)
    assert server.in_loop(lambda: server.server.intake.open_bytes) == 0


@pytest.mark.requirement("R343")
def test_sixty_unfinished_requests_of_nearly_the_largest_size_leave_the_daemon_small(home: Home) -> None:
    home.serve()
    asker = home.connect()
    pid = asker.call("daemon.status")["result"]["pid"]
    before = resident_bytes(pid)
    clients = [home.connect() for _ in range(60)]
    rests = {client: memoryview(b"{" + b"a" * 7_900_000) for client in clients}
    largest, sent = 0, -1
    for client in clients:
        client.socket.setblocking(False)
    for _ in range(300):
        for client, rest in tuple(rests.items()):
            try:
                rests[client] = rest[client.socket.send(rest) :]
            except BlockingIOError:
                continue
            except OSError:
                del rests[client]
        assert asker.call("daemon.ping")["result"] == {"pong": True}
        largest = max(largest, resident_bytes(pid))
        sent = sum(7_900_001 - len(rest) for rest in rests.values())
    assert sent > 10 * MIB
    assert largest < before + 100 * MIB
    for client in clients:
        client.close()
    wait_until(lambda: resident_bytes(pid) < before + 40 * MIB)


class Waiting:
    """A connection whose large request waits for room."""

    is_read = True

    def __init__(self, order: list[str], name: str) -> None:
        self._order = order
        self._name = name

    def hold_back(self, by: Intake, *, is_held_back: bool) -> None:
        """It is never unfinished here."""

    def refuse(self, error: RametError) -> None:
        """Nor refused."""

    def go_on(self) -> None:
        self._order.append(self._name)


def test_large_requests_start_in_the_order_in_which_they_came() -> None:
    order: list[str] = []
    loop = asyncio.new_event_loop()
    intake = Intake(100, 30, "daemon.max_unfinished_bytes", loop)
    largest, small = Waiting(order, "largest"), Waiting(order, "small")
    assert intake.start(Waiting(order, "first"), 40)
    assert not intake.start(largest, 90)
    assert not intake.start(small, 1), "it would overtake the one that waits"
    intake.finish(40)
    assert (order, intake.open_bytes) == (["largest", "small"], 0)
    loop.close()


def test_a_client_that_leaves_during_its_reply_gives_back_the_room_of_its_request(home: Home) -> None:
    home.settings["query"] = {"max_bytes": 2**30}
    home.serve(max_request_bytes=100 * KIB, max_unfinished_bytes=200 * KIB)
    leaving = home.connect()
    leaving.ask("db.query", sql="SELECT hex(zeroblob(10000000)) --" + " " * 90_000)
    assert leaving.socket.recv(1000)
    leaving.close()
    client = home.connect()
    assert "result" in client.call("history.branch", name="main")
    text = "to be or not to be " * 4000
    assert "result" in client.call("history.commit", branch="main", content_type="dialogue", text=text)
