"""One connection's requests take effect in the order in which they came."""

from tests.daemon.conftest import Serve
from tests.daemon.harness import Database, RunningServer, line

CHANGE = "db.agents.register"
READ = "db.agents.get"


def _send(server: RunningServer, *methods: str) -> None:
    """Everything in one write, so that the server sees it at once."""
    client = server.connect()
    client.send(b"".join(line(method, number, id=str(number)) for number, method in enumerate(methods)))
    server.database.wait_started(1)


def _held(server: RunningServer) -> list[str]:
    return server.in_loop(lambda: [held.request.id for held in server.database.held])


def test_changes_follow_each_other_without_waiting(serve: Serve) -> None:
    server = serve(database=Database(holds=True))
    _send(server, CHANGE, CHANGE, CHANGE)
    assert _held(server) == ["0", "1", "2"]


def test_a_read_waits_for_the_changes_before_it(serve: Serve) -> None:
    server = serve(database=Database(holds=True))
    _send(server, CHANGE, CHANGE, READ, READ)
    assert _held(server) == ["0", "1"]
    server.release(1)
    assert _held(server) == ["1"]
    server.release(1)
    assert _held(server) == ["2", "3"]


def test_a_change_waits_for_the_reads_before_it(serve: Serve) -> None:
    server = serve(database=Database(holds=True))
    _send(server, READ, CHANGE, READ)
    assert _held(server) == ["0"]
    server.release(1)
    assert _held(server) == ["1"]
    server.release(1)
    assert _held(server) == ["2"]


def test_where_the_database_keeps_no_order_each_request_waits(serve: Serve) -> None:
    server = serve(database=Database(keeps_order=False, holds=True))
    _send(server, CHANGE, CHANGE, READ, READ)
    for number in range(4):
        assert _held(server) == [str(number)]
        server.release(1)


def test_connections_do_not_wait_for_each_other(serve: Serve) -> None:
    server = serve(database=Database(keeps_order=False, holds=True))
    _send(server, CHANGE, CHANGE)
    server.connect().ask(READ, id="other")
    server.database.wait_started(2)
    assert _held(server) == ["0", "other"]


def test_thousands_of_reads_answered_at_once_are_all_answered(server: RunningServer) -> None:
    client = server.connect()
    client.send(b"".join(line(READ, number, id="a") for number in range(5000)))
    assert [client.receive()["id"] for _ in range(5000)] == list(range(5000))


LONG = line("memory.addRows", "long", origin="a", exported_at="2026", rows=[])


def test_a_long_change_and_short_ones_wait_for_each_other(serve: Serve) -> None:
    server = serve(database=Database(holds=True))
    client = server.connect()
    client.send(line(CHANGE, 1, id="1") + LONG + line(CHANGE, 2, id="2"))
    for names in ([CHANGE], ["memory.addRows"], [CHANGE]):
        server.database.wait_started(1)
        assert server.in_loop(lambda: [held.name for held in server.database.held]) == names
        server.release(1)
