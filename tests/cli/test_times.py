"""Times in the fewest words."""

from datetime import UTC, datetime

import pytest

from ramet.cli.times import ago, duration


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.4, "0s"), (59, "59s"), (65, "1m 5s"), (7200, "2h"), (90061, "1d 1h"), (-5, "0s")]
)
def test_a_duration_has_its_two_largest_units(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


def test_how_long_ago_something_was() -> None:
    now = datetime(2026, 11, 15, 9, 0, tzinfo=UTC)
    assert ago(datetime(2026, 11, 15, 8, 57, tzinfo=UTC), now) == "3m"
    assert ago(None, now) is None
