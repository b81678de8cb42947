"""A keeper is small, and stays so: however much its agent prints, and while nothing happens."""

import sys
from pathlib import Path

import psutil
import pytest
from tests.keeper.conftest import Keep
from tests.keeper.held import Held
from tests.keeper.scripted_daemon import ScriptedDaemon, wait_for

from ramet.model.work.stream import Remark, Text

MIB = 1024 * 1024
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")


def peak_bytes(held: Held) -> int:
    """The most memory that the keeper has had so far."""
    status = Path(f"/proc/{held.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


@ON_LINUX
@pytest.mark.parametrize("is_away", [False, True])
def test_much_output_does_not_make_the_keeper_large(
    daemon: ScriptedDaemon, keep: Keep, place: Path, *, is_away: bool
) -> None:
    if is_away:
        daemon.go()
    line = "0123456789abcde" + "0123456789abcdef" * 7
    held = keep(f"yes {line} | head -c {64 * MIB} >&2; touch {place}/done; sleep 600", output_max_bytes=100 * MIB)
    wait_for((place / "done").exists, 60)
    if is_away:
        daemon.come()
    wait_for(lambda: sum(len(event.text) + 1 for event in daemon.find(Remark)) >= 64 * MIB, 60)
    assert peak_bytes(held) < 60 * MIB


def test_a_keeper_with_nothing_to_do_does_nothing(daemon: ScriptedDaemon, keep: Keep) -> None:
    held = keep("echo ready; sleep 600")
    wait_for(lambda: daemon.find(Text))
    wait_for(lambda: psutil.Process(held.pid).status() == psutil.STATUS_SLEEPING)
    keeper = psutil.Process(held.pid)
    woken = keeper.num_ctx_switches().voluntary
    with pytest.raises(psutil.TimeoutExpired):
        keeper.wait(5)
    assert keeper.num_ctx_switches().voluntary - woken <= 2
