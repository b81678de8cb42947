"""A client that does not read its replies costs a bounded amount, and gets all of them when it reads."""

import asyncio

import pytest
from tests.daemon.conftest import Serve
from tests.daemon.harness import PATIENCE_SECONDS, Database, RunningServer, line

from ramet.daemon.wire import output

READ = "db.agents.get"
REPLY_BYTES = 50_000


def _flood(server: RunningServer, count: int) -> int:
    """Send requests without reading until the socket takes no more; how many went out."""
    client = server.connect()
    client.socket.settimeout(0.5)
    request = line(READ, 1, id="a" * 200)
    sent = 0
    try:
        for _ in range(count):
            client.send(request)
            sent += 1
    except TimeoutError:
        pass
    return sent


def test_requests_of_a_client_that_does_not_read_are_not_started(server: RunningServer) -> None:
    server.database.answer = lambda request: "x" * REPLY_BYTES
    assert _flood(server, 20_000) < 20_000
    assert server.in_loop(lambda: server.database.started) < 100


def test_requests_that_arrive_at_once_are_not_all_started_for_a_client_that_does_not_read(
    server: RunningServer,
) -> None:
    server.database.answer = lambda request: "x" * REPLY_BYTES
    server.connect().send(line(READ, 1, id="a") * 1000)
    assert server.connect().call("daemon.ping")["result"] == {"pong": True}
    assert server.in_loop(lambda: server.database.started) < 100


def test_other_clients_are_served_meanwhile(server: RunningServer) -> None:
    server.database.answer = lambda request: "x" * REPLY_BYTES
    _flood(server, 20_000)
    assert server.connect().call("daemon.ping")["result"] == {"pong": True}


def test_a_client_that_reads_again_gets_every_reply(server: RunningServer) -> None:
    server.database.answer = lambda request: "x" * REPLY_BYTES
    client = server.connect()
    client.send(b"".join(line(READ, number, id="a") for number in range(200)))
    assert [client.receive()["id"] for _ in range(200)] == list(range(200))


def test_so_many_changes_of_one_connection_are_under_way_and_no_more(serve: Serve) -> None:
    server = serve(database=Database(holds=True))
    client = server.connect()
    client.send(b"".join(line("db.agents.register", number, id="a") for number in range(1000)))
    server.database.wait_started(128)
    assert server.in_loop(server.database.pending) == 128
    for _ in range(1000):
        server.database.wait_started(1)
        server.release(1)
    assert [client.receive()["id"] for _ in range(1000)] == list(range(1000))


def test_a_client_that_vanishes_leaves_nothing_behind(server: RunningServer) -> None:
    server.database.answer = lambda request: "x" * REPLY_BYTES
    client = server.connect()
    client.send(b"".join(line(READ, number, id="a") for number in range(200)))
    assert client.receive()["id"] == 0
    client.close()
    server.wait_connections(0)


@pytest.mark.parametrize("keeps_order", [True, False])
def test_an_answer_for_a_client_that_is_gone_is_dropped(serve: Serve, keeps_order: bool) -> None:
    server = serve(database=Database(holds=True, keeps_order=keeps_order))
    client = server.connect()
    client.ask("db.agents.register", id="a")
    server.database.wait_started(1)
    client.close()
    server.connect().call("daemon.ping")
    assert server.release() == ["db.agents.register"]
    assert server.connect().call("daemon.ping")["result"] == {"pong": True}


def test_a_slow_request_is_logged_by_name_alone(server: RunningServer, caplog: pytest.LogCaptureFixture) -> None:
    server.database.holds = True
    client = server.connect()
    client.ask("db.agents.register", id="secret")
    server.database.wait_started(1)
    call = server.database.held[0].done.__self__  # type: ignore[attr-defined]
    call.started -= 2
    server.release()
    assert client.receive()["result"] == "done"
    assert "slow request method=db.agents.register ms=2" in caplog.text
    assert "secret" not in caplog.text


def test_trouble_with_one_connection_keeps_nobody_else_from_an_answer(
    server: RunningServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.database.holds = True
    troubled, other = server.connect(), server.connect()
    troubled.ask("db.agents.register", id="a")
    server.database.wait_started(1)
    other.ask("db.agents.register", id="b")
    server.database.wait_started(2)
    call = server.database.held[0].done.__self__  # type: ignore[attr-defined]
    call.batch = "not a batch"
    server.release(2)
    assert other.receive()["result"] == "done"
    assert troubled.receive() is None
    assert "internal error" in caplog.text


@pytest.mark.requirement("R343")
def test_a_client_that_reads_nothing_for_a_while_is_disconnected(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "_UNREAD_SECONDS", 0.1)
    server.database.answer = lambda request: "x" * REPLY_BYTES
    server.connect().send(line(READ, 1, id="a") * 100)
    server.wait_connections(0)


class _SlowTransport(asyncio.Transport):
    """A client that reads a little at a time, and then nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes = [100, 90, 80, 80]
        self.is_aborted = asyncio.Event()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return self.sizes.pop(0)

    def abort(self) -> None:
        self.is_aborted.set()


@pytest.mark.requirement("R343")
def test_a_client_that_reads_slowly_is_not_disconnected_until_it_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "_UNREAD_SECONDS", 0.01)

    async def read_slowly() -> None:
        transport = _SlowTransport()
        output.Output(transport, lambda: None, lambda: None).pause()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await transport.is_aborted.wait()
        assert transport.sizes == []

    asyncio.run(read_slowly())
