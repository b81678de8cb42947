"""Events are told in order, none lost and none twice, to any number of subscribers, from any id on."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from tests.daemon.conftest import Serve
from tests.daemon.harness import Client, Database, RunningServer

from ramet.daemon.executors.executor import OWN, Asker, Done
from ramet.errors import StorageFailed
from ramet.protocol.operation import Request
from ramet.protocol.operations import Operation
from ramet.protocol.system.events import ListEvents


def _subscribe(server: RunningServer, after: int | None = None) -> Client:
    client = server.connect()
    reply = client.call("events.subscribe", "s", **({} if after is None else {"after": after}))
    expected = server.in_loop(lambda: len(server.database.events)) if after is None else after
    assert reply == {"jsonrpc": "2.0", "id": "s", "result": {"after": expected}}
    return client


def _told(client: Client, count: int) -> list[int]:
    notifications = [client.receive() for _ in range(count)]
    assert {notification["method"] for notification in notifications} <= {"events.event"}
    return [notification["params"]["id"] for notification in notifications]


def test_a_subscription_without_an_id_begins_now(server: RunningServer) -> None:
    server.commit_events(5)
    client = _subscribe(server)
    server.commit_events(3)
    assert _told(client, 3) == [6, 7, 8]


@pytest.mark.parametrize("after", [0, 1, 199, 200, 201, 999, 1000])
def test_a_subscription_begins_after_any_id(server: RunningServer, after: int) -> None:
    server.commit_events(1000)
    client = _subscribe(server, after)
    server.commit_events(2)
    assert _told(client, 1002 - after) == list(range(after + 1, 1003))


def test_an_event_is_told_as_its_row(server: RunningServer) -> None:
    client = _subscribe(server)
    server.commit_events(1)
    told = client.receive()
    assert "id" not in told
    assert told["params"] | {"at": ""} == {
        "id": 1,
        "kind": "task.added",
        "at": "",
        "project_id": 1,
        "task_id": "/p/1",
        "effort_id": None,
        "session_id": None,
        "agent_id": None,
        "dedupe_key": None,
        "data": None,
    }


def test_every_subscriber_is_told_everything_while_events_pour_in(server: RunningServer) -> None:
    clients = [_subscribe(server, 0) for _ in range(8)]

    def pour() -> None:
        for _ in range(200):
            server.commit_events(7)

    pouring = threading.Thread(target=pour)
    pouring.start()
    late = _subscribe(server, 0)
    for client in [*clients, late]:
        assert _told(client, 1400) == list(range(1, 1401))
    pouring.join()


def test_a_subscriber_that_does_not_read_is_not_written_to(server: RunningServer) -> None:
    server.commit_events(50_000)
    slow = _subscribe(server, 0)
    quick = _subscribe(server, 49_999)
    for _ in range(300):
        server.commit_events(1)
    assert _told(quick, 301) == list(range(50_000, 50_301))
    cursor = server.in_loop(lambda: min(s.cursor for s in server.server._subscriptions._subscribers.values()))
    assert cursor < 10_000
    assert _told(slow, 50_300) == list(range(1, 50_301))


def test_a_subscriber_may_ask_other_things_on_the_same_connection(server: RunningServer) -> None:
    client = _subscribe(server)
    assert client.call("daemon.ping", 5)["id"] == 5
    server.commit_events(1)
    assert _told(client, 1) == [1]


def test_subscribing_again_goes_on_from_the_new_id(server: RunningServer) -> None:
    server.commit_events(10)
    client = _subscribe(server)
    assert client.call("events.subscribe", 2, after=7)["result"] == {"after": 7}
    assert _told(client, 3) == [8, 9, 10]
    server.commit_events(1)
    assert _told(client, 1) == [11]


def test_a_subscription_ends_with_its_connection(server: RunningServer) -> None:
    client = _subscribe(server)
    client.close()
    server.wait_connections(0)
    assert server.in_loop(lambda: len(server.server._subscriptions._subscribers)) == 0
    server.commit_events(1)
    assert server.connect().call("daemon.ping")["result"] == {"pong": True}


def test_an_event_that_another_daemon_committed_is_told_too(server: RunningServer) -> None:
    client = _subscribe(server)
    for number in (1, 2):
        server.in_loop(lambda: server.database.add_events(1))
        assert _told(client, 1) == [number]


class _FailingOnce(Database):
    """A database that cannot read its events the first time it is asked."""

    has_failed = False

    def read(self, operation: Operation, request: Request[Any], principal: str, done: Done, asker: Asker = OWN) -> None:
        if isinstance(request, ListEvents) and not self.has_failed:
            self.has_failed = True
            return done(StorageFailed())
        return super().read(operation, request, principal, done)


def test_events_that_could_not_be_read_are_told_later(serve: Serve) -> None:
    server = serve(database=_FailingOnce())
    server.commit_events(2)
    assert _told(_subscribe(server, 0), 2) == [1, 2]


class _Slow(Database):
    """A database that reads a page when it is asked, and hands it over when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.pages: list[Callable[[], None]] = []

    def read(self, operation: Operation, request: Request[Any], principal: str, done: Done, asker: Asker = OWN) -> None:
        assert isinstance(request, ListEvents)
        self.pages.append(partial(done, self._page(request)))

    def hand_over(self) -> None:
        for page in self.pages[:]:
            self.pages.remove(page)
            page()


def _hand_over_until_told(server: RunningServer, database: _Slow, client: Client, count: int) -> list[int]:
    told: list[int] = []
    thread = threading.Thread(target=lambda: told.extend(_told(client, count)))
    thread.start()
    while thread.is_alive():
        server.in_loop(database.hand_over)
    return told


def test_what_is_committed_while_a_page_is_read_is_told_next(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramet.daemon.wire.subscriptions._INTERVAL_SECONDS", 3600.0)
    database = _Slow()
    server = serve(database=database)
    client = _subscribe(server, 0)
    server.commit_events(1)
    server.commit_events(1)
    assert _hand_over_until_told(server, database, client, 2) == [1, 2]


def test_a_page_for_a_former_subscription_is_not_told(serve: Serve) -> None:
    database = _Slow()
    server = serve(database=database)
    server.commit_events(10)
    client = _subscribe(server, 0)
    assert client.call("events.subscribe", after=8)["result"] == {"after": 8}
    server.commit_events(1)
    assert _hand_over_until_told(server, database, client, 3) == [9, 10, 11]
