"""What `ramet doctor` says about this machine's clock."""

import pytest

from ramet.cli.commands.system.health import clock_findings
from ramet.protocol.system.daemon import ClockSkew


@pytest.mark.requirement("R467")
@pytest.mark.parametrize(
    ("ahead", "error", "result", "told"),
    [
        (0.003, 0.001, "ok", "3 ms ahead of the server's"),
        (-4.9, 0.001, "ok", "4s behind the server's"),
        (-3602.0, 0.001, "warn", "1h 2s behind the server's"),
        (6.0, 2.0, "ok", "6s ahead of the server's"),
    ],
)
def test_a_clock_that_is_more_than_seconds_off_is_a_warning(ahead: float, error: float, result: str, told: str) -> None:
    found = clock_findings.find(ClockSkew(ahead_seconds=ahead, error_seconds=error))
    assert found.result == result
    assert told in found.text
    assert ("timedatectl" in (found.fix or "")) == (result == "warn")
