"""No daemon of a test may hold its event loop or its writer for long: whoever starts one checks that here at its end.

Elapsed time says nothing on a busy machine, so the processor time of the thread counts. A test that means to cause a
pause says so, with its reason: `@pytest.mark.pauses("a diff of 10,000 turns")`.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from ramet.daemon.stalls import Pauses

MOST_PROCESSOR_MS = 150 if any(name.startswith("COVERAGE") for name in os.environ) else 50
"""In the part of tests/daemon and tests/cli that was measured, the most was 25 ms. Coverage makes everything slower."""

_START = "RunningServer._live"
"""A server of a test starts, and imports what it needs, before anybody can wait for it."""
_FIGURE = re.compile(r"paused by=.* processor_ms=(\d+)|most processor time by=.* processor_ms=(\d+)")


def check_logs(request: pytest.FixtureRequest, folder: Path) -> None:
    """Read what the daemons in the folder wrote to their logs; they have stopped."""
    logs = [*folder.rglob("log/*.log*"), *folder.rglob("logs/*.log*")]
    _check(request, (line for log in logs for line in log.read_text(errors="replace").splitlines()))


def check_meters(request: pytest.FixtureRequest, meters: Iterable[Pauses]) -> None:
    """Look at the meters of servers in this process."""
    lines = (
        f"{pauses.what} paused by={row.name} ms={row.longest_ms} processor_ms={row.processor_ms:.0f}"
        for pauses in meters
        for row in pauses.show().worst
        if row.name != _START
    )
    _check(request, lines)


def _check(request: pytest.FixtureRequest, lines: Iterable[str]) -> None:
    figures = [(line, int(found[1] or found[2])) for line in lines if (found := _FIGURE.search(line))]
    found_long = [line for line, milliseconds in figures if milliseconds > MOST_PROCESSOR_MS]
    if found_long and request.node.get_closest_marker("pauses") is None:
        advice = "hooks had to wait: make it shorter, or mark the test with `pauses` and the reason"
        raise AssertionError("\n".join([advice, *found_long]))
