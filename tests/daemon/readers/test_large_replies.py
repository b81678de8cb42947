"""Large replies: they pass through the daemon in pieces, whole and in order, and have a limit."""

import json
import socket
from pathlib import Path

import psutil
import pytest
from tests.daemon.harness import line
from tests.daemon.process import Home
from tests.daemon.readers.conftest import ReadingDaemon, wait_for

LARGE = "SELECT hex(zeroblob({}))"


def peak_bytes(pid: int) -> int:
    """The most memory that a process has had."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


@pytest.mark.requirement("R343")
def test_a_large_reply_arrives_whole_and_never_is_in_the_daemon(sqlite_daemon: ReadingDaemon) -> None:
    client = sqlite_daemon.connect()
    client.call("db.query", sql="SELECT 1")
    before = peak_bytes(sqlite_daemon.process.pid)
    reply = client.call("db.query", "an id", sql=LARGE.format(15_000_000))
    assert reply["id"] == "an id"
    assert reply["result"]["rows"] == [["0" * 30_000_000]]
    assert peak_bytes(sqlite_daemon.process.pid) - before < 10_000_000
    assert client.call("db.query", sql="SELECT 2")["result"]["rows"] == [[2]]


@pytest.mark.requirement("R343")
def test_replies_that_nobody_reads_stay_out_of_the_daemon(sqlite_daemon: ReadingDaemon) -> None:
    before = peak_bytes(sqlite_daemon.process.pid)
    idle = [sqlite_daemon.connect() for _ in range(2)]
    for client in idle:
        client.send(line("db.query", 1, sql=LARGE.format(5_000_000)) * 20)
    assert sqlite_daemon.query() == [[1]]
    assert peak_bytes(sqlite_daemon.process.pid) - before < 20_000_000
    for client in idle:
        assert [len(client.receive()["result"]["rows"][0][0]) for _ in range(2)] == [10_000_000] * 2


@pytest.mark.requirement("R343")
def test_many_clients_that_do_not_read_are_disconnected_before_others_wait_for_long(
    sqlite_daemon: ReadingDaemon,
) -> None:
    idle = [sqlite_daemon.connect() for _ in range(8)]
    for client in idle:
        client.ask("db.query", sql=LARGE.format(5_000_000))
    wait_for(lambda: len(sqlite_daemon.readers()) >= 3)
    assert sqlite_daemon.query() == [[1]]
    assert len(sqlite_daemon.readers()) <= 8
    complete = [is_complete(client.socket) for client in idle]
    assert complete.count(True) < 8


def is_complete(sock: socket.socket) -> bool:
    """Whether a client gets its reply to its end."""
    last = b""
    while not last.endswith(b"\n"):
        try:
            piece = sock.recv(1 << 20)
        except ConnectionError:
            return False
        if not piece:
            return False
        last = piece
    return True


def test_lines_and_large_replies_of_one_connection_do_not_mix(sqlite_daemon: ReadingDaemon) -> None:
    client = sqlite_daemon.connect()
    sizes = {1: 3_000_000, 2: 10, 3: 200_000, 4: 0, 5: 3_000_000, 6: 40_000}
    client.send(b"".join(line("db.query", number, sql=LARGE.format(size)) for number, size in sizes.items()))
    client.send(line("daemon.ping", 7))
    replies = {reply["id"]: reply["result"] for reply in (client.receive() for _ in range(7))}
    assert {number: len(replies[number]["rows"][0][0]) for number in sizes} == {
        number: 2 * size for number, size in sizes.items()
    }


@pytest.mark.requirement("R343")
@pytest.mark.parametrize("size", [40_000, 2_000_000, 100_000_000, 900_000_000])
def test_a_reply_above_the_limit_is_refused_with_what_to_do(home: Home, size: int) -> None:
    home.settings["query"] = {"max_bytes": 2**30}
    home.serve(max_reply_bytes=65_536)
    client = home.connect()
    error = client.call("db.query", sql=LARGE.format(size))["error"]
    assert (error["data"]["code"], error["data"]["field"]) == ("reply_too_large", "limit")
    assert "`limit`" in error["data"]["fix"]
    assert "`cursor`" in error["data"]["fix"]
    assert client.call("db.query", sql="SELECT 1")["result"]["rows"] == [[1]]


@pytest.mark.requirement("R343")
def test_a_short_read_has_the_same_limit(home: Home) -> None:
    home.serve(max_reply_bytes=65_536)
    client = home.connect()
    client.call("history.branch", name="main")
    written = client.call("history.commit", branch="main", content_type="dialogue", text="word " * 20_000)
    assert client.call("history.show", hash=written["result"]["hash"])["error"]["data"]["code"] == "reply_too_large"


@pytest.mark.requirement("R343")
def test_the_replies_of_a_batch_have_a_limit_together(sqlite_daemon: ReadingDaemon) -> None:
    client = sqlite_daemon.connect()
    queries = [json.loads(line("db.query", number, sql=LARGE.format(1_500_000))) for number in range(4)]
    client.send(json.dumps(queries).encode() + b"\n")
    replies = client.receive()
    codes = [reply["error"]["data"]["code"] for reply in replies if "error" in reply]
    assert len(replies) == 4
    assert codes == ["reply_too_large"] * 2


def test_a_reader_that_dies_in_the_middle_of_its_reply_ends_the_connection(sqlite_daemon: ReadingDaemon) -> None:
    client = sqlite_daemon.connect()
    client.ask("db.query", sql=LARGE.format(15_000_000))
    assert client.socket.recv(1000)
    (reader,) = sqlite_daemon.readers()
    psutil.Process(reader.pid).kill()
    while client.socket.recv(1 << 20):
        pass
    assert sqlite_daemon.query() == [[1]]
