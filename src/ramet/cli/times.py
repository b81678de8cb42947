"""When something was, in the fewest words."""

from datetime import UTC, datetime

_UNITS = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))


def ago(moment: datetime | None, now: datetime | None = None) -> str | None:
    """`3m` for an instant three minutes back; None where there is none."""
    if moment is None:
        return None
    elapsed = (now or datetime.now(UTC)) - moment
    return duration(elapsed.total_seconds())


def ago_text(moment: str) -> str | None:
    """The same for an instant as rows have it."""
    return ago(datetime.fromisoformat(moment))


def until(moment: datetime, now: datetime | None = None) -> str:
    """`3m` for an instant three minutes ahead; `0s` for one that is past."""
    return duration((moment - (now or datetime.now(UTC))).total_seconds())


def seconds_between(start: datetime, end: datetime) -> float:
    """How long it was from one instant to the other."""
    return (end - start).total_seconds()


def instant(moment: datetime) -> str:
    """The instant to the second, as it stands in a list."""
    return f"{moment.isoformat()[:19]}Z"


def duration(seconds: float) -> str:
    """The two largest units that are not zero: `2h 5m`."""
    left, parts = max(int(seconds), 0), []
    for size, unit in _UNITS:
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts[:2]) or "0s"
