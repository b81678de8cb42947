"""Processes are found by descent and by marker, known by pid and start, and ended asked, told, killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from unittest import mock

import psutil
import pytest
from tests.keeper.scripted_daemon import wait_for

from ramet.protocol.work.keepers import MARKER
from ramet.runner.processes import process_identity, process_tree

Start = Callable[..., "subprocess.Popen[bytes]"]
INSTANCE = f"test{os.getpid()}"


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a shell with the marker that says when it is ready."""
    started: list[subprocess.Popen[bytes]] = []

    def run(script: str, instance: str = INSTANCE) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            ["sh", "-c", script],
            env={"PATH": os.environ["PATH"], MARKER: instance},
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        return process

    yield run
    for process in started:
        if process.poll() is None:
            for child in psutil.Process(process.pid).children(recursive=True):
                child.kill()
            process.kill()
    process_tree.end_marked(INSTANCE, 0)
    for process in started:
        process.communicate(timeout=10)


def test_a_process_is_known_by_its_pid_and_its_start(start: Start) -> None:
    process = start("echo ready; sleep 600")
    began = process_identity.started_at(process.pid)
    assert began is not None
    assert began == pytest.approx(psutil.Process(process.pid).create_time(), abs=0.05)
    assert abs(time.time() - began) < 60
    assert process_tree.is_alive(process.pid, began)
    assert not process_tree.is_alive(process.pid, began - 60)


def test_a_process_that_has_ended_is_not_alive_even_while_nobody_has_waited_for_it(start: Start) -> None:
    process = start("echo ready; exec sleep 600")
    began = process_identity.started_at(process.pid)
    assert began is not None
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not process_tree.is_alive(process.pid, began)
    assert process_tree.find(INSTANCE) == []


def test_marked_processes_are_found_whoever_their_parent_is(start: Start) -> None:
    above = start("(setsid sleep 600 &); echo ready; sleep 600")
    start("echo ready; sleep 600", instance="somebodyelse")
    found = wait_for(lambda: found if len(found := process_tree.find(INSTANCE)) == 3 else None)
    assert above.pid in {process.pid for process in found}
    assert len({os.getsid(process.pid) for process in found}) == 2


def test_descendants_are_found_without_a_marker(start: Start) -> None:
    process = start("env -i sleep 600 & env -i sleep 600 & echo ready; wait")
    below = process_tree.find("nobody", root=process.pid)
    assert sorted(found.ppid() for found in below) == [process.pid, process.pid]
    assert process_tree.find("nobody", root=process.pid, spared={below[0].pid}) == below[1:]


def test_what_belongs_to_another_is_not_found_nor_what_it_started(start: Start) -> None:
    process = start(f"{MARKER}=another sh -c 'env -i sleep 600 & echo ready; wait' & wait")
    everything = process_tree.find("nobody", root=process.pid)
    assert len(everything) == 2
    assert process_tree.find("nobody", root=process.pid, others={"another"}) == []


def test_we_and_our_ancestors_are_never_found() -> None:
    """As in an agent that runs these tests: its marker is on all of them."""
    ours = [os.getpid(), *(parent.pid for parent in psutil.Process().parents())]
    everybody = dict.fromkeys(ours, "mine")
    with mock.patch.object(psutil.Process, "environ", lambda self: {MARKER: everybody.get(self.pid, "")}):
        assert process_tree.find("mine") == []
        assert process_tree.find("mine", root=1) != []
        assert not {found.pid for found in process_tree.find("mine", root=1)} & {1, *ours}


def test_a_process_whose_environment_is_denied_is_found_by_descent(start: Start) -> None:
    process = start("sleep 600 & echo ready; wait")
    with mock.patch.object(psutil.Process, "environ", side_effect=psutil.AccessDenied()):
        assert process_tree.find(INSTANCE) == []
        assert [found.ppid() for found in process_tree.find(INSTANCE, root=process.pid)] == [process.pid]


def test_ending_asks_then_tells_then_kills(start: Start) -> None:
    polite = start("trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done")
    stubborn = start("trap '' INT TERM; echo ready; while :; do sleep 0.05; done")
    ended = {process.pid: process.signal for process in process_tree.end_marked(INSTANCE, 2)}
    assert ended[polite.pid] == "SIGTERM"
    assert ended[stubborn.pid] == "SIGKILL"
    assert (polite.wait(60), stubborn.wait(60)) == (0, -signal.SIGKILL)


def test_a_group_is_asked_first(start: Start) -> None:
    process = start("trap 'exit 7' INT; echo ready; while :; do sleep 0.05; done")
    ending = process_tree.Ending(lambda: process_tree.find(INSTANCE), 60, group=process.pid)
    began = time.monotonic()
    while (pause := ending.advance(time.monotonic())) is not None:
        time.sleep(pause)
    assert time.monotonic() - began < 60
    assert process.wait(60) == 7
    assert {entry.signal for entry in ending.ended} == {"SIGINT"}
    assert ending.left == []


def test_ending_what_is_not_there_does_nothing() -> None:
    assert process_tree.end_marked("nobodyhasthis", 5) == []


def test_computing_counts_also_for_children_that_are_gone(start: Start) -> None:
    computing = "import time\nwhile time.process_time() < 0.3: pass"
    process = start(f"{sys.executable} -c '{computing}'; echo ready; sleep 600")
    assert process_tree.cpu_seconds([psutil.Process(process.pid)]) > 0.2
