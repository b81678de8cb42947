"""An instant is an integer of milliseconds since 1970 UTC; this is where it becomes text and back.

Text is ISO-8601 with a zone, always of one width (`2026-11-15T08:14:02.123Z`), so that it sorts as time does.
"""

from datetime import UTC, datetime, timedelta

from ramet.errors import InvalidParams

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_iso(instant_ms: int) -> str:
    """The instant as text."""
    return to_datetime(instant_ms).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def to_datetime(instant_ms: int) -> datetime:
    """The instant as an aware datetime."""
    return _EPOCH + timedelta(milliseconds=instant_ms)


def from_datetime(moment: datetime) -> int:
    """The instant of an aware datetime; a naive one is refused, because it names no instant."""
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} has no time zone")
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def given_instant(moment: datetime, field: str) -> int:
    """The instant that a request gives in one of its fields."""
    if moment.tzinfo is None:
        raise InvalidParams(
            f"{field} has no time zone",
            field=field,
            value=moment.isoformat(),
            fix="give a time with its zone, such as 2026-01-31T12:00:00Z",
        )
    return from_datetime(moment)


def from_iso(text: str) -> datetime:
    """The aware datetime that a stored text stands for."""
    return datetime.fromisoformat(text)
