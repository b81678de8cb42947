"""Times as programs store them: numbers since 1970."""

from datetime import UTC, datetime
from typing import Any

_LATEST_MS = 253_402_300_799_000
"""The end of the year 9999: a later time is none."""


def from_milliseconds(value: Any) -> datetime | None:
    """A time in milliseconds since 1970; None if it is none."""
    is_time = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < _LATEST_MS
    return datetime.fromtimestamp(value / 1000, UTC) if is_time else None
