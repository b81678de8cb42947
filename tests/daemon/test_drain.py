"""Stopping: what is under way is answered, idle connections do not delay it, and it takes bounded time."""

import time

import pytest
from tests.daemon.conftest import Serve
from tests.daemon.harness import PATIENCE_SECONDS, Database, RunningServer, line

from ramet.config.settings import DaemonSettings

CHANGE = "db.agents.register"


def test_stop_is_answered_and_then_the_daemon_goes(server: RunningServer) -> None:
    idle = server.connect()
    client = server.connect()
    assert client.call("daemon.stop")["result"] == {"stopping": True}
    assert client.receive() is None
    assert idle.receive() is None
    server.ended.result(PATIENCE_SECONDS)


def test_idle_connections_and_subscribers_do_not_delay_it(serve: Serve) -> None:
    server = serve(settings=DaemonSettings(drain_seconds=600))
    clients = [server.connect() for _ in range(20)]
    for client in clients:
        client.call("events.subscribe")
    clients[0].send(b'{"jsonrpc": "2.0", "half a requ')
    server.stop()
    server.ended.result(PATIENCE_SECONDS)


def test_a_request_under_way_is_answered(serve: Serve) -> None:
    server = serve(database=Database(holds=True), settings=DaemonSettings(drain_seconds=600))
    client = server.connect()
    client.ask(CHANGE, 1, id="a")
    server.database.wait_started(1)
    server.stop()
    client.ask(CHANGE, 2, id="b")
    assert client.receive()["error"]["data"]["code"] == "daemon_stopping"
    server.release()
    assert client.receive() == {"jsonrpc": "2.0", "id": 1, "result": "done"}
    assert client.receive() is None
    server.ended.result(PATIENCE_SECONDS)


def test_what_was_sent_behind_a_request_under_way_is_refused_and_not_done(serve: Serve) -> None:
    server = serve(database=Database(holds=True, keeps_order=False))
    client = server.connect()
    client.send(line(CHANGE, 1, id="a") + line(CHANGE, 2, id="b"))
    server.database.wait_started(1)
    server.stop()
    server.release()
    assert client.receive()["id"] == 1
    assert client.receive()["error"]["data"]["code"] == "daemon_stopping"
    assert server.database.started == 1


def _is_turned_away(server: RunningServer) -> bool:
    try:
        return server.connect().call("daemon.ping") is None
    except ConnectionError:
        return True


def test_nobody_is_let_in_any_more(serve: Serve) -> None:
    server = serve(database=Database(holds=True))
    client = server.connect()
    client.ask(CHANGE, 1, id="a")
    server.database.wait_started(1)
    server.stop()
    assert _is_turned_away(server)
    server.release()
    server.ended.result(PATIENCE_SECONDS)


def test_a_request_that_does_not_end_is_cut_off(serve: Serve) -> None:
    server = serve(database=Database(holds=True), settings=DaemonSettings(drain_seconds=1))
    client = server.connect()
    client.ask(CHANGE, 1, id="a")
    server.database.wait_started(1)
    begun = time.monotonic()
    server.stop()
    assert client.receive() is None
    server.ended.result(PATIENCE_SECONDS)
    assert 0.9 < time.monotonic() - begun < PATIENCE_SECONDS


def test_a_client_that_does_not_read_cannot_hold_it_up(serve: Serve) -> None:
    server = serve(settings=DaemonSettings(drain_seconds=1))
    server.database.answer = lambda request: "x" * 1_000_000
    client = server.connect()
    client.send(b"".join(line("db.agents.get", number, id="a") for number in range(10)))
    server.database.wait_started(1)
    server.stop()
    server.ended.result(PATIENCE_SECONDS)


def test_a_daemon_that_nobody_uses_goes_when_told_to(serve: Serve) -> None:
    server = serve(settings=DaemonSettings(idle_exit_seconds=1))
    client = server.connect()
    client.call("daemon.ping")
    assert not server.ended.done()
    client.close()
    server.ended.result(PATIENCE_SECONDS)


def test_a_connection_keeps_it_up(serve: Serve) -> None:
    server = serve(settings=DaemonSettings(idle_exit_seconds=1))
    client = server.connect()
    with pytest.raises(TimeoutError):
        server.ended.result(1.5)
    assert client.call("daemon.ping")["result"] == {"pong": True}
