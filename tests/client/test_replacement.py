"""A daemon of an older build that cannot be replaced, or comes back: the client gives up in time, and says why."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.client.peer import Peer

from ramet.client.autostart import connect
from ramet.client.connection import Connection
from ramet.client.replacement import replace_older
from ramet.errors import DaemonOlder, Forbidden, RametError

pytestmark = pytest.mark.requirement("R465")


class OldDaemon:
    """Answers as daemons did before builds had names, on as many connections as come."""

    def __init__(self, directory: Path, pid: int, refusal: RametError | None = None) -> None:
        self.path = str(directory / "s")
        self.asked: list[tuple[str, Any]] = []
        self._pid = pid
        self._refusal = refusal
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.path)
        self._listener.listen()
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def connect(self) -> Connection:
        return connect(self.path, 30)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(30)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                peer = Peer(self._listener.accept()[0])
            except OSError:
                return
            self._threads.append(threading.Thread(target=self._answer, args=(peer,)))
            self._threads[-1].start()

    def _answer(self, peer: Peer) -> None:
        replies = {
            "daemon.hello": {"version": "0.1.0", "protocol": 1, "principal": "user"},
            "daemon.status": {"pid": self._pid},
            "daemon.stop": {"stopping": True},
        }
        try:
            while True:
                request = peer.read()
                self.asked.append((request["method"], request["params"]))
                if request["method"] == "daemon.stop" and self._refusal is not None:
                    peer.send(peer.line(id=request["id"], error=self._refusal.to_wire()))
                else:
                    peer.reply(request, replies[request["method"]])
        except ValueError:  # the client has gone
            peer.close()


@pytest.fixture
def ended_pid() -> int:
    """The process of a daemon that has ended."""
    process = subprocess.Popen([sys.executable, "-S", "-c", ""])
    process.wait()
    return process.pid


@pytest.fixture
def daemons(directory: Path) -> Iterator[list[OldDaemon]]:
    started: list[OldDaemon] = []
    yield started
    for daemon in started:
        daemon.close()


def test_a_daemon_that_does_not_end_is_given_up_with_its_process(directory: Path, daemons: list[OldDaemon]) -> None:
    daemons.append(daemon := OldDaemon(directory, os.getpid()))
    with pytest.raises(
        DaemonOlder, match=r"the daemon \(0\.1\.0\) is older than this ramet \(.+\), and could not"
    ) as caught:
        replace_older(daemon.connect(), daemon.connect, 0.2)
    assert f"process {os.getpid()}) is still running after 0.2 seconds" in caught.value.message
    assert f"kill -9 {os.getpid()}" in caught.value.fix
    assert daemon.asked[-1] == ("daemon.stop", {})  # it would refuse a parameter that it does not know


def test_a_daemon_that_refuses_is_left_alone(directory: Path, daemons: list[OldDaemon]) -> None:
    daemons.append(daemon := OldDaemon(directory, os.getpid(), Forbidden("not for you")))
    with pytest.raises(DaemonOlder, match="could not be replaced: not for you"):
        replace_older(daemon.connect(), daemon.connect, 30)


def test_an_older_daemon_that_somebody_starts_again_is_replaced_twice_and_no_more(
    directory: Path, daemons: list[OldDaemon], ended_pid: int
) -> None:
    daemons.append(daemon := OldDaemon(directory, ended_pid))
    with pytest.raises(DaemonOlder, match=r"but another older one .* was started") as caught:
        replace_older(daemon.connect(), daemon.connect, 30)
    assert [method for method, _ in daemon.asked].count("daemon.stop") == 2
    assert "another environment" in caught.value.fix
