"""The daemon may be away, slow, forgetful or of another opinion: what the agent said arrives once, in order, or stays
in the spool.
"""

import resource
import time
from pathlib import Path

import pytest
from tests.keeper.conftest import Keep
from tests.keeper.held import Held, end_of
from tests.keeper.scripted_daemon import ScriptedDaemon, wait_for

from ramet.errors import BatchRolledBack, DaemonStopping, SessionNotFound
from ramet.model.work.stream import End, Remark, Text

COUNTING = "for n in $(seq 1 40); do echo $n; sleep 0.02; done"
COUNTED = "".join(f"{n}\n" for n in range(1, 41))


def said(events: list[object]) -> str:
    return "".join(event.text for event in events if isinstance(event, Text))


@pytest.mark.requirement("R292")
def test_an_agent_outlives_its_daemon_and_nothing_it_says_is_lost(daemon: ScriptedDaemon, keep: Keep) -> None:
    held = keep(COUNTING)
    wait_for(lambda: said(list(daemon.events)))
    daemon.go()
    before = said(list(daemon.events))
    wait_for(lambda: len(said(list(held.spooled()))) > len(before) + 10)
    daemon.come()
    assert held.wait() == 0
    assert said(list(daemon.events)) == COUNTED
    assert held.spooled() == daemon.events


def test_a_daemon_that_comes_late_hears_it_from_the_beginning(daemon: ScriptedDaemon, keep: Keep) -> None:
    daemon.go()
    held = keep("echo early")
    wait_for(lambda: any(isinstance(event, End) for event in held.spooled()))
    assert daemon.events == []
    daemon.come()
    assert held.wait() == 0
    assert daemon.kinds() == ["started", "text", "end"]


def test_reports_whose_answers_are_lost_are_made_again_and_count_once(daemon: ScriptedDaemon, keep: Keep) -> None:
    daemon.answers_to_lose = 4
    assert keep(COUNTING).wait() == 0
    assert said(list(daemon.events)) == COUNTED
    numbers = [report.seq for _, report in daemon.reports]
    assert numbers[0] == numbers[1] == 1
    assert len(numbers) > len(set(numbers))


@pytest.mark.parametrize("refusal", [DaemonStopping(), BatchRolledBack()])
def test_what_the_daemon_cannot_take_now_is_told_again_later(
    daemon: ScriptedDaemon, keep: Keep, refusal: Exception
) -> None:
    daemon.refusal = refusal  # type: ignore[assignment]
    held = keep("echo hello")
    wait_for(lambda: len(daemon.reports) >= 2)
    assert daemon.reports[1][0] - daemon.reports[0][0] > 0.2
    daemon.refusal = None
    assert held.wait() == 0
    assert said(list(daemon.events)) == "hello\n"


def test_what_the_daemon_will_never_take_stays_in_the_spool_and_the_agent_goes_on(
    daemon: ScriptedDaemon, keep: Keep
) -> None:
    daemon.refusal = SessionNotFound()
    held = keep(COUNTING)
    assert held.wait() == 1
    assert len(daemon.reports) == 1
    assert said(list(held.spooled())) == COUNTED
    assert end_of(held.spooled()).outcome == "success"
    assert "session_not_found" in held.log


def test_an_answer_that_never_comes_is_given_up_and_the_report_made_again(daemon: ScriptedDaemon, keep: Keep) -> None:
    daemon.is_deaf = True
    held = keep("echo hello; sleep 1", lease_seconds=3)
    time.sleep(0.5)  # the report is under way and nobody answers
    daemon.is_deaf = False
    assert held.wait() == 0
    assert said(list(daemon.events)) == "hello\n"


def test_without_a_daemon_the_keeper_leaves_and_the_spool_has_everything(daemon: ScriptedDaemon, keep: Keep) -> None:
    daemon.go()
    began = time.monotonic()
    held = keep(COUNTING)
    assert held.wait() == 1
    assert 10 < time.monotonic() - began < 60
    assert said(list(held.spooled())) == COUNTED
    assert end_of(held.spooled()).outcome == "success"


def test_much_that_piled_up_while_the_daemon_was_away_arrives_whole(daemon: ScriptedDaemon, keep: Keep) -> None:
    daemon.go()
    held = keep("seq 1 1500000")
    wait_for(lambda: spool_size(held) > 10_000_000)
    daemon.come()
    assert held.wait() == 0
    assert said(list(daemon.events)) == "".join(f"{n}\n" for n in range(1, 1_500_001))
    largest = max(len(report.events) for _, report in daemon.reports)
    assert largest < 100


def spool_size(held: Held) -> int:
    spool = held.folder / held.spec.instance / "spool.jsonl"
    return spool.stat().st_size if spool.exists() else 0


def test_a_socket_in_a_directory_that_others_can_write_to_is_not_spoken_to(
    daemon: ScriptedDaemon, keep: Keep, place: Path
) -> None:
    place.chmod(0o777)
    held = keep("echo secret")
    wait_for(lambda: any(isinstance(event, End) for event in held.spooled()))
    assert daemon.reports == []
    place.chmod(0o700)
    assert held.wait() == 0
    assert said(list(daemon.events)) == "secret\n"


def test_a_full_disk_does_not_end_the_agent_and_is_said_once(daemon: ScriptedDaemon, keep: Keep, place: Path) -> None:
    held = keep(f"echo before; until [ -e {place}/go ]; do sleep 0.01; done; seq 1 20000")
    wait_for(lambda: said(list(daemon.events)))
    room = spool_size(held) + 10
    resource.prlimit(held.pid, resource.RLIMIT_FSIZE, (room, room))
    (place / "go").touch()
    assert held.wait() == 0
    assert said(list(daemon.events)) == "before\n" + "".join(f"{n}\n" for n in range(1, 20001))
    remarks = [event.text for event in daemon.find(Remark)]
    assert len(remarks) == 1
    assert "continues without it" in remarks[0]
    assert held.spooled() == daemon.events[: len(held.spooled())]


def test_a_full_disk_while_the_daemon_is_away_loses_nothing(daemon: ScriptedDaemon, keep: Keep, place: Path) -> None:
    held = keep(f"until [ -e {place}/go ]; do sleep 0.01; done; seq 1 1500000")
    wait_for(lambda: daemon.events)
    daemon.go()
    resource.prlimit(held.pid, resource.RLIMIT_FSIZE, (5_000_000, 5_000_000))
    (place / "go").touch()
    wait_for(lambda: spool_size(held) > 4_900_000)
    daemon.come()
    assert held.wait() == 0
    assert said(list(daemon.events)) == "".join(f"{n}\n" for n in range(1, 1_500_001))
