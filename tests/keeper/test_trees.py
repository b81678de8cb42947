"""Whatever an agent starts ends with it, however it hides; and nobody else's process does."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from tests.keeper.conftest import Keep
from tests.keeper.held import Held, end_of, make_spec, python
from tests.keeper.scripted_daemon import ScriptedDaemon, wait_for

from ramet.model.record.effort import StopRequest
from ramet.model.work.stream import Text
from ramet.protocol.work.keepers import MARKER
from ramet.runner.processes import process_identity, process_tree

STUBBORN = "trap '' INT TERM; while :; do sleep 0.2; done"

HIDING = f"""
setsid sh -c "{STUBBORN}" &
(setsid sh -c '(setsid sleep 600 &)' &)
sh -c 'exec nohup sleep 600 >/dev/null 2>&1' &
{STUBBORN}
"""
"""Shells in sessions of their own that ignore what they are asked, and a grandchild whose parents are gone."""


def hidden(held: Held) -> list[psutil.Process]:
    """The processes of `HIDING`, once all of them are there."""
    return wait_for(lambda: found if len(found := held.marked()) >= 5 else None)  # type: ignore[no-any-return]


def test_stubborn_and_hidden_processes_end_with_their_agent(daemon: ScriptedDaemon, keep: Keep) -> None:
    held = keep(HIDING)
    hidden(held)
    held.stop(StopRequest())
    assert held.wait() == 0
    assert held.marked() == []
    ended = {(process.name, process.signal) for process in end_of(daemon.events).ended}
    assert {("sh", "SIGKILL"), ("sleep", "SIGTERM")} <= ended
    assert end_of(daemon.events).exit_signal == signal.SIGKILL


def test_what_an_agent_leaves_running_is_ended_and_told(daemon: ScriptedDaemon, keep: Keep) -> None:
    held = keep("(setsid sleep 600 &); echo done")
    assert held.wait(10) == 0
    end = end_of(daemon.events)
    assert (end.outcome, end.exit_status) == ("success", 0)
    assert [(process.name, process.signal) for process in end.ended] == [("sleep", "SIGTERM")]
    assert held.marked() == []


def test_a_killed_keeper_takes_its_agent_along_and_the_marker_finds_the_rest(
    daemon: ScriptedDaemon, keep: Keep
) -> None:
    held = keep(HIDING)
    hidden(held)
    record = held.whole_record()
    held.kill()
    assert record.agent_pid is not None
    assert record.agent_started_at is not None
    agent, start = record.agent_pid, record.agent_started_at
    wait_for(lambda: not process_identity.is_alive(agent, start), 5)
    assert held.marked() != []
    ended = process_tree.end_marked(held.spec.instance, 0.2)
    assert held.marked() == []
    assert {process.signal for process in ended} == {"SIGTERM", "SIGKILL"}


def test_an_agent_that_keeps_starting_processes_is_ended_all_the_same(daemon: ScriptedDaemon, keep: Keep) -> None:
    """Twenty lines of processes, each of which is replaced by a child of its own all the time; but not for ever."""
    respawning = """
import os, signal, time
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
for _ in range(20):
    if os.fork() == 0:
        os.setsid()
        until = time.time() + 60
        while time.time() < until:
            time.sleep(0.02)
            if os.fork():
                os._exit(0)
        os._exit(0)
print("ready", flush=True)
time.sleep(600)
"""
    held = keep(python(respawning))
    wait_for(lambda: daemon.find(Text))
    held.stop(StopRequest())
    assert held.wait(60) == 0
    assert held.marked() == []


def test_the_daemon_and_other_keepers_are_spared_even_below_the_agent(
    daemon: ScriptedDaemon, keep: Keep, place: Path
) -> None:
    """An agent whose command starts the daemon becomes its ancestor, and that of every keeper it starts."""
    (place / "keepers" / "another").mkdir()
    starts_others = f"""
import os, subprocess
daemon = subprocess.Popen(["sleep", "600"], start_new_session=True)
other = subprocess.Popen(["sleep", "600"], start_new_session=True, env={{**os.environ, "{MARKER}": "another"}})
own = subprocess.Popen(["sleep", "600"], start_new_session=True)
open("{place}/s.pid", "w").write(str(daemon.pid))
print(daemon.pid, other.pid, own.pid, flush=True)
"""
    held = keep(python(starts_others))
    try:
        assert held.wait() == 0
        spared = [int(pid) for pid in daemon.find(Text)[0].text.split()]
        assert [process.pid for process in end_of(daemon.events).ended] == [spared[2]]
        assert [psutil.pid_exists(pid) for pid in spared] == [True, True, False]
    finally:
        for pid in spared[:2]:
            os.kill(pid, signal.SIGKILL)


def test_a_keeper_that_was_killed_before_it_wrote_anything_is_found_by_its_marker(keep: Keep, place: Path) -> None:
    spec = make_spec(place, place / "s", "true")
    waiting = subprocess.Popen(
        [sys.executable, "-m", "ramet.keeper", spec.instance],
        stdin=subprocess.PIPE,
        env={**os.environ, MARKER: spec.instance},
    )
    assert waiting.stdin is not None
    try:
        wait_for(lambda: process_tree.find(spec.instance))
        assert len(process_tree.end_marked(spec.instance, 1)) == 1
        assert waiting.wait(5) == -signal.SIGTERM
    finally:
        waiting.stdin.close()


@pytest.mark.parametrize("line", [b"", b"{}\n", b"not json\n"])
def test_a_keeper_that_is_told_nonsense_says_so_and_starts_nothing(line: bytes) -> None:
    done = subprocess.run([sys.executable, "-m", "ramet.keeper"], input=line, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"not valid" in done.stderr
