"""The lease, and who may end an agent: the daemon by its answers, somebody by a signal, a bound by the clock."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest
from tests.keeper.conftest import Keep
from tests.keeper.held import EVENTS, end_of, printing
from tests.keeper.scripted_daemon import ScriptedDaemon, wait_for

from ramet.clock import steady_seconds
from ramet.model.record.effort import StopRequest
from ramet.model.work.stream import Remark, Stuck, Text
from ramet.protocol.work.keepers import STOP_FILE
from ramet.runner.processes import process_identity

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the timer is one of Linux")

FOR_EVER = "echo ready; sleep 600"


def test_an_agent_that_says_nothing_keeps_its_lease(daemon: ScriptedDaemon, keep: Keep) -> None:
    held = keep(FOR_EVER, lease_seconds=3)
    wait_for(lambda: len(daemon.reports) >= 4)
    renewals = [at for at, report in daemon.reports if not report.events]
    assert len(renewals) >= 2
    assert 0.9 < renewals[1] - renewals[0] < 2
    assert held.is_alive


def test_a_keeper_whose_lease_is_lost_ends_its_agent(daemon: ScriptedDaemon, keep: Keep) -> None:
    daemon.is_current = False
    held = keep(FOR_EVER)
    assert held.wait() == 0
    end = end_of(daemon.events)
    assert (end.outcome, end.failure, "lease" in (end.reason or "")) == ("cancelled", None, True)
    assert held.marked() == []


def test_a_request_to_stop_in_an_answer_ends_the_agent_with_its_outcome(daemon: ScriptedDaemon, keep: Keep) -> None:
    held = keep(FOR_EVER, lease_seconds=3)
    wait_for(lambda: daemon.find(Text))
    daemon.stop = StopRequest(outcome="budget", reason="it cost too much")
    assert held.wait() == 0
    end = end_of(daemon.events)
    assert (end.outcome, end.failure, end.reason) == ("budget", None, "it cost too much")
    assert end.exit_signal == signal.SIGINT


def test_a_keeper_is_asked_to_stop_by_a_file_and_a_signal(daemon: ScriptedDaemon, keep: Keep) -> None:
    held = keep(FOR_EVER)
    wait_for(lambda: daemon.find(Text))
    held.stop(StopRequest(outcome="dropped", reason="no longer wanted"))
    assert held.wait() == 0
    end = end_of(daemon.events)
    assert (end.outcome, end.reason) == ("dropped", "no longer wanted")
    assert [(process.name, process.signal) for process in end.ended] == [("sh", "SIGINT"), ("sleep", "SIGINT")]


@pytest.mark.parametrize("said", [None, "{torn"])
def test_a_signal_alone_cancels(daemon: ScriptedDaemon, keep: Keep, said: str | None) -> None:
    held = keep(FOR_EVER)
    wait_for(lambda: daemon.find(Text))
    if said is not None:
        (Path(held.spec.folder) / STOP_FILE).write_text(said)
    os.kill(held.pid, signal.SIGINT)
    assert held.wait() == 0
    assert end_of(daemon.events).outcome == "cancelled"


def test_a_fenced_keeper_that_cannot_renew_ends_its_agent_before_the_lease_does(
    daemon: ScriptedDaemon, keep: Keep
) -> None:
    held = keep("trap '' INT TERM; echo ready; sleep 600 & wait; wait", lease_seconds=15, is_fenced=True)
    wait_for(lambda: daemon.find(Text))
    daemon.go()
    renewed = daemon.reports[-1][0]
    wait_for(lambda: not held.marked())
    assert time.monotonic() - renewed < 15
    assert wait_for(lambda: [event for event in held.spooled() if event.__class__.__name__ == "End"])
    end = end_of(held.spooled())
    assert (end.outcome, end.failure) == ("error", "infrastructure")
    daemon.come()
    assert held.wait() == 0
    assert end_of(daemon.events) == end


@ON_LINUX
@pytest.mark.requirement("R468")
def test_a_keeper_that_is_stopped_dies_with_its_agent_before_its_lease_ends(daemon: ScriptedDaemon, keep: Keep) -> None:
    held = keep("trap '' INT TERM; echo ready; sleep 600", lease_seconds=6, is_fenced=True)
    wait_for(lambda: daemon.find(Text) and held.marked())
    os.kill(held.pid, signal.SIGSTOP)
    renewed = daemon.reports[-1][0]
    assert held.wait() == -signal.SIGKILL
    assert time.monotonic() - renewed < 6
    agent = held.whole_record()
    pid, started_at = agent.agent_pid or 0, agent.agent_started_at or 0.0
    wait_for(lambda: not process_identity.is_alive(pid, started_at))


@ON_LINUX
@pytest.mark.requirement("R468")
def test_a_keeper_whose_agent_is_gone_outlives_its_lease_to_say_so(daemon: ScriptedDaemon, keep: Keep) -> None:
    held = keep("echo ready; sleep 1", lease_seconds=3, is_fenced=True)
    wait_for(lambda: daemon.find(Text))
    daemon.go()
    lease_ends = daemon.reports[-1][0] + 3
    wait_for(lambda: time.monotonic() > lease_ends)
    daemon.come()
    assert held.wait() == 0
    assert end_of(daemon.events).outcome == "success"


def test_a_lease_counts_from_when_it_was_asked_for_however_late_the_keeper_begins(
    daemon: ScriptedDaemon, keep: Keep
) -> None:
    daemon.go()
    held = keep("trap '' INT TERM; sleep 600", lease_seconds=60, is_fenced=True, leased_at=steady_seconds() - 60)
    assert wait_for(lambda: [event for event in held.spooled() if event.__class__.__name__ == "End"])
    assert held.marked() == []
    end = end_of(held.spooled())
    assert (end.failure, end.exit_signal) == ("infrastructure", signal.SIGKILL)


def test_without_a_fence_the_agent_goes_on_however_long_the_daemon_is_away(daemon: ScriptedDaemon, keep: Keep) -> None:
    held = keep("echo ready; sleep 4; echo done", lease_seconds=3)
    wait_for(lambda: daemon.find(Text))
    daemon.go()
    wait_for(lambda: any(isinstance(event, Text) and event.text == "done\n" for event in held.spooled()))
    daemon.come()
    assert held.wait() == 0
    assert end_of(daemon.events).outcome == "success"


def test_an_agent_that_takes_too_long_is_ended_and_that_goes_before_what_it_says(
    daemon: ScriptedDaemon, keep: Keep
) -> None:
    held = keep("trap 'echo bye; exit 0' INT; echo ready; while :; do sleep 0.1; done", timeout_seconds=1)
    assert held.wait() == 0
    end = end_of(daemon.events)
    assert (end.outcome, end.failure, end.exit_status) == ("timeout", "timeout", 0)
    assert "1 seconds" in (end.reason or "")
    assert "bye\n" in "".join(event.text for event in daemon.find(Text))


def test_the_same_tool_with_the_same_result_again_and_again_is_a_loop(daemon: ScriptedDaemon, keep: Keep) -> None:
    step = [
        '{"kind":"tool_call","call_id":"1","name":"Bash","input":{"command":"ls"}}',
        '{"kind":"tool_result","call_id":"1","output":"nothing"}',
    ]
    held = keep(f"{printing(*step * 6)}; sleep 600", profile=EVENTS, repeat_limit=6)
    assert held.wait() == 0
    end = end_of(daemon.events)
    assert end.outcome == "stuck"
    assert "Bash 6 times" in (end.reason or "")
    assert daemon.kinds().count("tool_result") == 6
    assert [(stuck.tool, stuck.turns) for stuck in daemon.find(Stuck)] == [("Bash", 3), ("Bash", 6)]
    assert daemon.kinds()[-2:] == ["stuck", "end"]


def call(name: str, number: int) -> str:
    use = f'{{"type":"tool_use","id":"{number}","name":"{name}","input":{{}}}}'
    return f'{{"type":"assistant","message":{{"id":"m{number}","role":"assistant","content":[{use}]}}}}'


def test_an_agent_that_is_silent_and_idle_is_ended(daemon: ScriptedDaemon, keep: Keep) -> None:
    held = keep("sleep 600", driver="claude", silent_seconds=1, stuck_seconds=3)
    assert held.wait() == 0
    end = end_of(daemon.events)
    assert end.outcome == "stuck"
    assert "said nothing for 3 seconds" in (end.reason or "")


RESULT = '{"type":"result","subtype":"success","is_error":false,"result":"It is served."}'


def tasks(*kinds: str) -> str:
    listed = ",".join(f'{{"task_id":"t{number}","task_type":"{kind}"}}' for number, kind in enumerate(kinds))
    return f'{{"type":"system","subtype":"background_tasks_changed","tasks":[{listed}]}}'


@pytest.mark.requirement("R360")
@pytest.mark.parametrize("limits", [{"timeout_seconds": 1}, {"silent_seconds": 1, "stuck_seconds": 1}, {}])
def test_a_program_that_stays_after_its_turn_is_ended_with_the_outcome_of_the_turn(
    daemon: ScriptedDaemon, keep: Keep, limits: dict[str, int]
) -> None:
    script = f"setsid sleep 600 & {printing(tasks('local_bash'))}; {printing(RESULT)}; sleep 600"
    held = keep(script, driver="claude", lingering_seconds=2, **limits)
    assert held.wait() == 0
    end = end_of(daemon.events)
    assert (end.outcome, end.failure, end.answer) == ("success", None, "It is served.")
    assert [process.name for process in end.ended].count("sleep") == 2
    assert held.marked() == []
    assert "still ran 2 seconds later" in daemon.find(Remark)[-1].text


@pytest.mark.requirement("R360")
def test_a_program_that_waits_for_its_own_agents_after_a_result_is_left_alone(
    daemon: ScriptedDaemon, keep: Keep
) -> None:
    later = RESULT.replace("It is served.", "They agree.")
    script = f"{printing(tasks('local_agent'))}; {printing(RESULT)}; sleep 3; {printing(tasks())}; {printing(later)}"
    held = keep(script, driver="claude", lingering_seconds=1)
    assert held.wait() == 0
    assert end_of(daemon.events).answer == "They agree."


@pytest.mark.requirement("R360")
def test_a_turn_that_goes_on_after_a_result_is_left_alone(daemon: ScriptedDaemon, keep: Keep) -> None:
    held = keep(f"{printing(RESULT)}; {printing(call('Bash', 1))}; sleep 3", driver="claude", lingering_seconds=1)
    assert held.wait() == 0
    assert end_of(daemon.events).exit_status == 0
    assert not daemon.find(Remark)


@pytest.mark.requirement("R360")
def test_a_failed_turn_stays_failed_when_its_program_stays(daemon: ScriptedDaemon, keep: Keep) -> None:
    failed = RESULT.replace("false", "true")
    assert keep(f"{printing(failed)}; sleep 600", driver="claude", lingering_seconds=1).wait() == 0
    assert end_of(daemon.events).outcome == "error"


@pytest.mark.requirement("R360")
def test_a_stop_that_somebody_asked_for_counts_before_the_outcome_of_the_turn(
    daemon: ScriptedDaemon, keep: Keep
) -> None:
    held = keep(f"{printing(RESULT)}; sleep 600", driver="claude", lingering_seconds=600)
    held.whole_record()
    held.stop(StopRequest(outcome="cancelled", reason="enough"))
    assert held.wait() == 0
    assert (end_of(daemon.events).outcome, end_of(daemon.events).reason) == ("cancelled", "enough")


def test_an_agent_whose_tool_is_at_work_is_not_stuck(daemon: ScriptedDaemon, keep: Keep) -> None:
    held = keep(f"{printing(call('Bash', 1))}; sleep 4", driver="claude", silent_seconds=1, stuck_seconds=2)
    assert held.wait() == 0
    assert end_of(daemon.events).outcome != "stuck"


@pytest.mark.requirement("R138")
def test_an_agent_that_waits_for_a_session_below_it_is_not_stuck(daemon: ScriptedDaemon, keep: Keep) -> None:
    daemon.is_child_alive = True
    held = keep("sleep 600", driver="claude", silent_seconds=1, stuck_seconds=3, lease_seconds=3)
    wait_for(lambda: daemon.reports and daemon.reports[-1][0] - daemon.reports[0][0] > 5)
    assert held.is_alive
    daemon.is_child_alive = False
    assert held.wait() == 0
    assert end_of(daemon.events).outcome == "stuck"


def test_an_agent_whose_child_computes_is_not_stuck(daemon: ScriptedDaemon, keep: Keep) -> None:
    busy = "(setsid timeout 4 sh -c 'while :; do :; done'); echo"
    held = keep(busy, driver="claude", silent_seconds=1, stuck_seconds=2)
    assert held.wait() == 0
    assert end_of(daemon.events).outcome != "stuck"


def test_the_silence_of_a_program_that_only_prints_means_nothing(daemon: ScriptedDaemon, keep: Keep) -> None:
    assert keep("sleep 3", silent_seconds=1, stuck_seconds=1).wait() == 0
    assert end_of(daemon.events).outcome == "success"
