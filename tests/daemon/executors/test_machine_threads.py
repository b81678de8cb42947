"""Operations of the machine, through the daemon: on threads, so that nobody waits for somebody else's git."""

import threading
from typing import Any

from tests.daemon.harness import PATIENCE_SECONDS, RunningServer
from tests.daemon.process import Home

from ramet.daemon.executors.requester import Requester
from ramet.errors import ReportMissing
from ramet.protocol.operation import Request
from ramet.protocol.work.queue import GetWork


class Disk:
    """Answers when the test lets it."""

    def __init__(self, server: RunningServer) -> None:
        self.requester = Requester(server.database, server.loop, server.meter)
        self.gate = threading.Event()
        self.begun = threading.Semaphore(0)
        self.reply: Any = "done"
        server.disk = self.answer

    def answer(self, request: Request[Any]) -> Any:
        self.begun.release()
        assert self.gate.wait(PATIENCE_SECONDS)
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply if self.reply is not None else self.requester.ask_from_thread(GetWork(effort_id=7))


def test_while_a_disk_is_looked_at_others_are_answered(server: RunningServer) -> None:
    disk = Disk(server)
    slow, quick = server.connect(), server.connect()
    slow.ask("worktree.list")
    assert disk.begun.acquire(timeout=PATIENCE_SECONDS)
    assert quick.call("daemon.ping")["result"] == {"pong": True}
    disk.gate.set()
    assert slow.receive()["result"] == "done"


def test_what_it_asks_of_the_database_is_answered_to_its_thread(server: RunningServer) -> None:
    disk = Disk(server)
    disk.reply = None
    disk.gate.set()
    assert server.connect().call("worktree.list")["result"] == {"echo": {"effort_id": 7}}


def test_what_it_refuses_is_answered_as_any_refusal(server: RunningServer) -> None:
    disk = Disk(server)
    disk.gate.set()
    disk.reply = ReportMissing("e7 has none")
    assert server.connect().call("report.sync", effort_id=7)["error"]["data"]["code"] == "report_missing"
    disk.reply = ZeroDivisionError("a mistake of ours")
    error = server.connect().call("report.sync", effort_id=7)["error"]
    assert (error["data"]["code"], "mistake" in error["message"]) == ("failed", False)


def test_more_than_there_are_threads_wait_for_their_turn(server: RunningServer) -> None:
    disk = Disk(server)
    client = server.connect()
    for number in range(10):
        client.ask("worktree.list", number)
    for _ in range(4):
        assert disk.begun.acquire(timeout=PATIENCE_SECONDS)
    assert not disk.begun.acquire(timeout=0.05), "no more than four at once"
    disk.gate.set()
    assert sorted(client.receive()["id"] for _ in range(10)) == list(range(10))


def test_a_stopping_daemon_waits_for_what_is_under_way(server: RunningServer) -> None:
    disk = Disk(server)
    client = server.connect()
    client.ask("worktree.list")
    assert disk.begun.acquire(timeout=PATIENCE_SECONDS)
    server.stop()
    disk.gate.set()
    assert client.receive()["result"] == "done"
    server.ended.result(PATIENCE_SECONDS)


def test_a_thread_that_asks_when_all_is_over_is_told_so(server: RunningServer) -> None:
    disk = Disk(server)
    disk.reply = None
    client = server.connect()
    client.ask("worktree.list")
    assert disk.begun.acquire(timeout=PATIENCE_SECONDS)
    server.in_loop(disk.requester.close)
    disk.gate.set()
    assert client.receive()["error"]["data"]["code"] == "daemon_stopping"


def test_a_real_daemon_answers_from_its_disk(home: Home) -> None:
    home.serve()
    client = home.connect()
    assert client.call("worktree.list")["result"] == {"items": [], "next": None}
    assert "shell" in [row["name"] for row in client.call("drivers.list", versions=False)["result"]["items"]]
    assert client.call("work.prompt", effort_id=4711)["error"]["data"]["code"] == "effort_not_found"
