"""What an agent is given, what of its output arrives, and how its end is told."""

import signal
from pathlib import Path

import pytest
from tests.keeper.conftest import Keep
from tests.keeper.held import end_of, python
from tests.keeper.scripted_daemon import ScriptedDaemon

from ramet.model.work.stream import Remark, Started, Text
from ramet.protocol.work.keepers import MARKER


def text_of(daemon: ScriptedDaemon) -> str:
    return "".join(event.text for event in daemon.find(Text))


def remarks_of(daemon: ScriptedDaemon) -> str:
    return "\n".join(event.text for event in daemon.find(Remark))


def test_what_an_agent_says_reaches_the_daemon_between_its_start_and_its_end(
    daemon: ScriptedDaemon, keep: Keep
) -> None:
    held = keep("echo one; sleep 0.3; echo two; echo trouble >&2; exit 3")
    record = held.whole_record()
    assert held.wait() == 0
    (started,) = daemon.find(Started)
    assert daemon.events[0] == started
    assert (started.pid, started.started_at) == (record.agent_pid, record.agent_started_at)
    assert text_of(daemon) == "one\ntwo\n"
    assert remarks_of(daemon) == "trouble"
    end = end_of(daemon.events)
    assert (end.outcome, end.exit_status, end.exit_signal, end.ended) == ("error", 3, None, [])
    assert held.spooled() == daemon.events


@pytest.mark.requirement("R303")
def test_an_agent_that_dies_by_a_signal_ends_with_that_signal(daemon: ScriptedDaemon, keep: Keep) -> None:
    assert keep("kill -SEGV $$").wait() == 0
    end = end_of(daemon.events)
    assert (end.outcome, end.exit_status, end.exit_signal) == ("error", None, signal.SIGSEGV)


def test_pieces_that_are_printed_together_are_one_text(daemon: ScriptedDaemon, keep: Keep) -> None:
    assert keep("seq 1 1000").wait() == 0
    assert len(daemon.find(Text)) <= 3
    assert text_of(daemon) == "".join(f"{n}\n" for n in range(1, 1001))


def test_a_large_standard_input_arrives_whole_and_is_closed(daemon: ScriptedDaemon, keep: Keep) -> None:
    """The agent answers before it has read everything, so both pipes are full at once."""
    given = "0123456789abcdef" * 256 * 1024
    assert keep("cat | tee /dev/stderr | wc -c", stdin=given).wait() == 0
    assert text_of(daemon).strip() == str(len(given))


def test_an_agent_that_reads_nothing_is_not_waited_for(daemon: ScriptedDaemon, keep: Keep) -> None:
    assert keep("exec <&-; echo done", stdin="x" * 1_000_000).wait() == 0
    assert end_of(daemon.events).outcome == "success"


def test_the_agent_sees_the_environment_it_was_given_and_the_marker_alone(daemon: ScriptedDaemon, keep: Keep) -> None:
    held = keep(python("import os; print(sorted(os.environ.items()))"), environment={"ONLY": "this"})
    assert held.wait() == 0
    seen = {name: value for name, value in eval(text_of(daemon)) if name != "LC_CTYPE"}  # Python sets that one itself
    assert seen == {"ONLY": "this", MARKER: held.spec.instance}


def test_the_agent_works_in_its_directory_in_a_session_of_its_own(
    daemon: ScriptedDaemon, keep: Keep, tmp_path: Path
) -> None:
    held = keep(python("import os; print(os.getcwd(), os.getsid(0) == os.getpid())"), directory=str(tmp_path))
    assert held.wait() == 0
    assert text_of(daemon) == f"{tmp_path} True\n"


def test_the_agent_inherits_no_descriptor(daemon: ScriptedDaemon, keep: Keep) -> None:
    assert keep("ls /proc/self/fd | wc -l").wait() == 0
    assert text_of(daemon).strip() == "4"  # the three, and the one that lists


@pytest.mark.parametrize(
    ("arguments", "changes", "failure", "says"),
    [
        (["no-such-program-anywhere"], {}, "permanent", "there is no program no-such-program-anywhere"),
        (["true"], {"directory": "/nowhere/at/all"}, "infrastructure", "/nowhere/at/all cannot be entered"),
        (["/etc/hostname"], {}, "permanent", "/etc/hostname cannot be run"),
        (["true", "x" * 200_000], {}, "permanent", "longer than the system allows"),
        (["true", "nul\0"], {}, "permanent", "could not be started"),
    ],
)
def test_an_agent_that_cannot_be_started_ends_with_the_reason(
    daemon: ScriptedDaemon, keep: Keep, arguments: list[str], changes: dict[str, str], failure: str, says: str
) -> None:
    assert keep(arguments, **changes).wait() == 0
    assert daemon.kinds() == ["end"]
    end = end_of(daemon.events)
    assert (end.outcome, end.failure) == ("error", failure)
    assert says in (end.reason or "")


def test_bytes_that_are_no_text_are_replaced_and_nul_is_left_out(daemon: ScriptedDaemon, keep: Keep) -> None:
    assert keep(r"printf 'a\377b\000c\r\nlast'").wait() == 0
    assert text_of(daemon) == "a�bc\nlast\n"


def test_a_text_without_end_is_cut_and_says_so(daemon: ScriptedDaemon, keep: Keep) -> None:
    assert keep("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo after").wait() == 0
    long = max(text_of(daemon).splitlines(), key=len)
    assert long.startswith("x" * 1024 * 1024 + "… (cut: ")
    assert len(long) < 1024 * 1024 + 100
    assert text_of(daemon).endswith("after\n")


def test_output_beyond_the_bound_is_dropped_once_and_the_agent_goes_on(daemon: ScriptedDaemon, keep: Keep) -> None:
    held = keep("seq 1 400000; echo finished >&2", output_max_bytes=100_000)
    assert held.wait() == 0
    assert end_of(daemon.events).outcome == "success"
    assert 50_000 < len(text_of(daemon)) < 400_000
    assert remarks_of(daemon).count("work.output_max_bytes") == 1
    assert end_of(daemon.events).is_cut
    assert "finished" not in remarks_of(daemon)


def test_a_keeper_that_cannot_write_its_record_starts_nothing(daemon: ScriptedDaemon, keep: Keep, place: Path) -> None:
    missing = place / "keepers" / "gone"
    held = keep(f"touch {place}/ran", folder=str(missing))
    assert held.wait() == 0
    end = end_of(daemon.events)
    assert (end.failure, str(missing) in (end.reason or "")) == ("infrastructure", True)
    assert not (place / "ran").exists()
    assert [path.name for path in (place / "keepers" / held.spec.instance).iterdir()] == ["keeper.log"]
