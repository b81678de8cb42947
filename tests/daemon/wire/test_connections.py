"""How many connections there may be, and which one makes room for another."""

import resource

import pytest
from tests.daemon.conftest import Serve
from tests.daemon.harness import KEY, Client, Database, RunningServer
from tests.daemon.process import Home

from ramet.config.settings import DaemonSettings
from ramet.daemon.wire.tokens import Tokens

SMALL = DaemonSettings(max_connections=10, drain_seconds=1)


def connect(server: RunningServer, count: int, *, is_agent: bool = False) -> list[Client]:
    """Connections that have been served, in this order."""
    clients = [server.connect(is_agent=is_agent) for _ in range(count)]
    for client in clients:
        assert client.call("daemon.ping") is not None
    return clients


@pytest.mark.requirement("R343")
def test_the_connection_that_was_idle_longest_makes_room_and_is_told(serve: Serve) -> None:
    server = serve(settings=SMALL)
    clients = connect(server, 10)
    assert clients[0].call("daemon.ping")["result"] == {"pong": True}  # so the second is idle longest
    assert server.connect().call("daemon.ping")["result"] == {"pong": True}
    reply = clients[1].receive()
    assert reply["error"]["data"]["code"] == "too_many_connections"
    assert "connect again" in reply["error"]["data"]["fix"]
    assert clients[1].receive() is None
    assert clients[0].call("daemon.ping")["result"] == {"pong": True}


@pytest.mark.requirement("R343")
def test_if_no_connection_is_idle_the_new_one_is_refused_with_the_key(serve: Serve) -> None:
    server = serve(settings=SMALL, database=Database(holds=True))
    clients = connect(server, 10)
    for client in clients[:8]:
        client.ask("db.agents.register", id="a")
    server.database.wait_started(8)
    clients[8].call("events.subscribe")
    clients[9].send(b'{"unfinished')
    assert server.connect().receive()["error"]["data"]["field"] == "daemon.max_connections"
    server.release(8)
    assert all(client.receive()["result"] == "done" for client in clients[:8])
    assert server.connect().call("daemon.ping")["result"] == {"pong": True}


def test_agents_take_at_most_half_of_the_connections(serve: Serve) -> None:
    server = serve(settings=SMALL)
    token = Tokens(KEY, str(server.path)).make(1)
    agents = [server.connect(is_agent=True) for _ in range(8)]
    assert [agent.call("daemon.hello", token=token) is not None for agent in agents[3:]] == [True] * 5
    server.wait_connections(5)
    people = connect(server, 5)
    assert people[0].call("daemon.ping")["result"] == {"pong": True}
    server.wait_connections(10)


@pytest.mark.requirement("R343")
def test_a_hook_is_answered_beside_five_hundred_connections_and_files_suffice_for_all(home: Home) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (400, hard))  # as the daemon inherits it
    try:
        home.serve(max_connections=600)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    clients = [home.connect() for _ in range(500)]
    hook = home.connect()
    assert "result" in hook.call("hooks.event", vendor="claude", payload="{}")
    assert clients[-1].call("daemon.status")["result"]["connections"] == 501
