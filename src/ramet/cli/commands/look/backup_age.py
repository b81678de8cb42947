"""How old the newest backup is that the daemon has made."""

from datetime import UTC, datetime

from ramet.cli.times import duration
from ramet.config.settings import Places
from ramet.protocol.system.backups import find_daily


def find_last(places: Places) -> datetime | None:
    """Until when the newest backup has everything; None if there is none."""
    newest = next(iter(find_daily(places.backups, places.name)), None)
    return None if newest is None else datetime.fromtimestamp(newest.path.stat().st_mtime, UTC)


def describe_last(last: datetime | None) -> str:
    """Its age in words."""
    return "none yet" if last is None else f"{duration((datetime.now(UTC) - last).total_seconds())} ago"
