"""When something was, in the fewest words."""

import re
from datetime import UTC, datetime, timedelta

import click

_ahead = timedelta()
"""How far this machine's clock is ahead of the database's, by which all instants are written."""


def follow_database(ahead_seconds: float) -> None:
    """Tell the time by the database's clock from here on."""
    global _ahead  # noqa: PLW0603 - one process is one command, with one database
    _ahead = timedelta(seconds=ahead_seconds)


def database_time() -> datetime:
    """Now, by the database's clock."""
    return datetime.now(UTC) - _ahead


_UNITS = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))


def ago(moment: datetime | None, now: datetime | None = None) -> str | None:
    """`3m` for an instant three minutes back; None where there is none."""
    if moment is None:
        return None
    elapsed = (now or database_time()) - moment
    return duration(elapsed.total_seconds())


def ago_text(moment: str) -> str | None:
    """The same for an instant as rows have it."""
    return ago(datetime.fromisoformat(moment))


def until(moment: datetime) -> str:
    """`3m` for an instant three minutes ahead; `0s` for one that is past."""
    return duration((moment - database_time()).total_seconds())


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


_SPANS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_SPAN = re.compile(r"(\d{1,6})([hdw])")


def parse_since(text: str, now: datetime) -> datetime:
    """The start of a period as people write it: `today`, `7d`, `2026-03-01` or an instant. Days are the local ones."""
    midnight = now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    if text in ("today", "yesterday"):
        return _local(midnight - timedelta(days=text == "yesterday"))
    try:
        if match := _SPAN.fullmatch(text):
            moment = now - int(match[1]) * _SPANS[match[2]]
        else:
            moment = _local(datetime.fromisoformat(text))
    except (ValueError, OverflowError) as error:
        raise click.BadParameter(
            f"{text!r} is not a time; write today, 12h, 7d, 4w, 2026-03-01 or 2026-03-01T12:00."
        ) from error
    if moment > now:
        raise click.BadParameter(f"{text!r} is in the future.")
    if moment.year < _FIRST_YEAR:
        raise click.BadParameter(f"{text!r} is before {_FIRST_YEAR}.")
    return moment


_FIRST_YEAR = 1971


def _local(moment: datetime) -> datetime:
    """The instant; one without a zone is in that of the machine."""
    return moment.replace(tzinfo=None).astimezone() if moment.tzinfo is None else moment


def find_offsets(since: datetime, until: datetime) -> list[tuple[datetime, int]]:
    """How far the machine's time zone is ahead of UTC, in minutes: at the start, and from each change on."""
    moment, offset = since, _offset(since)
    found = [(since, offset)]
    while moment < until:
        later = min(moment + timedelta(days=1), until)
        if _offset(later) != offset:
            early, late = moment, later
            while late - early > timedelta(minutes=1):
                middle = early + (late - early) / 2
                early, late = (middle, late) if _offset(middle) == offset else (early, middle)
            change = late.replace(second=0, microsecond=0)
            offset = _offset(later)
            found.append((change, offset))
        moment = later
    return found


def _offset(moment: datetime) -> int:
    shift = moment.astimezone(UTC).astimezone().utcoffset()
    return 0 if shift is None else round(shift.total_seconds() / 60)
