"""The client's end of the wire, against a peer that says what the test wants."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.client.peer import Listen, Peer

from ramet.client.connection import Connection
from ramet.errors import BatchRolledBack, DaemonError, DaemonUnreachable, EffortHeld, RequestTooLarge, SocketUnsafe


def test_a_call_sends_one_line_and_returns_the_result(listen: Listen) -> None:
    seen = []

    def script(peer: Peer) -> None:
        seen.append(peer.read())
        peer.reply(seen[0], {"id": 7})

    with Connection(listen(script)) as connection:
        assert connection.call("db.task.list", {"project": 1}) == {"id": 7}
    assert seen[0] == {"jsonrpc": "2.0", "id": 1, "method": "db.task.list", "params": {"project": 1}}


def test_a_refusal_is_raised_as_its_own_error_and_the_connection_lives_on(listen: Listen) -> None:
    held = EffortHeld("blue holds it", field="effort_id", value=3)

    def script(peer: Peer) -> None:
        peer.send(peer.line(id=peer.read()["id"], error=held.to_wire()))
        peer.reply(peer.read(), "still here")

    with Connection(listen(script)) as connection:
        with pytest.raises(EffortHeld, match="blue holds it") as caught:
            connection.call("db.agents.assign", {"id": "red", "effort_id": 3})
        assert (caught.value.field, caught.value.value, caught.value.fix) == ("effort_id", 3, held.fix)
        assert connection.call("daemon.ping") == "still here"


@pytest.mark.requirement("R256")
def test_replies_in_pieces_and_replies_run_together_are_put_in_order(listen: Listen) -> None:
    def script(peer: Peer) -> None:
        first, second, third = (peer.read() for _ in range(3))
        replies = b"".join(peer.line(id=r["id"], result=r["params"]["n"]) for r in (third, first, second))
        for byte in replies[:60]:
            peer.send(bytes([byte]))
        peer.send(replies[60:])

    with Connection(listen(script)) as connection:
        assert connection.call_many([("echo", {"n": n}) for n in "abc"]) == ["a", "b", "c"]


def test_of_many_calls_all_are_answered_before_a_refusal_is_raised(listen: Listen) -> None:
    def script(peer: Peer) -> None:
        first, second = peer.read(), peer.read()
        peer.send(peer.line(id=first["id"], error=BatchRolledBack().to_wire()))
        peer.reply(second, 2)
        peer.reply(peer.read(), 3)

    with Connection(listen(script)) as connection:
        with pytest.raises(BatchRolledBack):
            connection.call_many([("a", None), ("b", None)])
        assert connection.call("c") == 3


def test_a_peer_that_answers_before_it_reads_on_is_not_waited_for(listen: Listen) -> None:
    count, size = 40, 300_000

    def script(peer: Peer) -> None:
        for _ in range(count):
            peer.reply(peer.read(), "x" * size)

    with Connection(listen(script), timeout_seconds=30) as connection:
        replies = connection.call_many([("echo", {"text": "y" * size})] * count)
    assert {len(reply) for reply in replies} == {size}


def test_an_answer_without_an_id_belongs_to_the_request_that_could_not_be_read(listen: Listen) -> None:
    def script(peer: Peer) -> None:
        peer.read()
        peer.send(peer.line(id=None, error={"message": "too large", "data": {"code": "request_too_large"}}))

    with Connection(listen(script)) as connection, pytest.raises(RequestTooLarge, match="too large"):
        connection.call("db.messages.append", {})


def test_events_are_told_in_order_even_between_replies(listen: Listen) -> None:
    def script(peer: Peer) -> None:
        peer.reply(peer.read(), {"after": 4})
        peer.send(peer.line(method="events.event", params={"id": 5}))
        peer.reply(peer.read(), {"pong": True})
        peer.send(peer.line(method="events.event", params={"id": 6}))

    with Connection(listen(script), timeout_seconds=10) as connection:
        events = connection.subscribe(after=4)
        assert connection.call("daemon.ping") == {"pong": True}
        assert [next(events)["id"], next(events)["id"]] == [5, 6]
        with pytest.raises(DaemonUnreachable, match="the daemon closed the connection"):
            next(events)


def test_a_raw_call_gives_the_line_as_it_came(listen: Listen) -> None:
    def script(peer: Peer) -> None:
        peer.read()
        peer.send(b'{"jsonrpc":"2.0","id":1,"result":[1, 2]}\n')

    with Connection(listen(script)) as connection:
        assert connection.call_raw("x", b"{}") == b'{"jsonrpc":"2.0","id":1,"result":[1, 2]}'


@pytest.mark.parametrize("half", [b"", b'{"jsonrpc": "2.0", "id": 1, "resu'])
def test_a_connection_lost_before_the_answer_says_that_nobody_knows(listen: Listen, half: bytes) -> None:
    def script(peer: Peer) -> None:
        peer.read()
        peer.send(half)

    with Connection(listen(script)) as connection, pytest.raises(DaemonUnreachable, match="not known") as caught:
        connection.call("db.effort.start", {})
    assert "idempotency_key" in caught.value.fix


def test_a_silent_daemon_is_given_up_after_the_timeout(listen: Listen) -> None:
    def script(peer: Peer) -> None:
        peer.read()
        peer._file.readline()

    with Connection(listen(script), timeout_seconds=0.05) as connection:
        with pytest.raises(DaemonUnreachable, match=r"within 0\.05 seconds"):
            connection.call("daemon.ping")
        with pytest.raises(DaemonUnreachable):
            connection.call("daemon.ping")


def test_a_line_that_is_no_reply_is_an_error(listen: Listen) -> None:
    def script(peer: Peer) -> None:
        peer.read()
        peer.send(b"hello\n")

    with Connection(listen(script)) as connection, pytest.raises(DaemonError, match="not JSON"):
        connection.call("daemon.ping")


def test_no_socket_is_said_with_its_path(directory: Path) -> None:
    with pytest.raises(DaemonUnreachable, match=f"{directory}/none"):
        Connection(directory / "none")


def test_a_socket_in_a_directory_that_others_can_write_to_is_not_trusted(listen: Listen, directory: Path) -> None:
    path = listen(lambda peer: None)
    directory.chmod(0o777)
    with pytest.raises(SocketUnsafe, match="other users can write"):
        Connection(path)
    directory.chmod(0o700)
    Connection(path).close()


@pytest.mark.requirement("R309")
def test_a_system_without_unix_sockets_is_refused_clearly() -> None:
    program = "import socket; del socket.AF_UNIX; from ramet.client.connection import Connection; Connection('/s')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "DaemonUnreachable: this platform has no Unix sockets" in done.stderr


def test_the_client_imports_little() -> None:
    program = "import sys, ramet.client.autostart; print(*sys.modules)"
    names = subprocess.run(
        [sys.executable, "-S", "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ).stdout.split()
    assert not {"asyncio", "subprocess", "msgspec", "click", "pathlib"} & set(names)
