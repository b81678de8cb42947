"""What is done to a database while no daemon runs on it: bring its schema up to date, or start over."""

from msgspec import Struct, field

from ramet.clock import Clock
from ramet.config.secrets import hide_password
from ramet.config.settings import Places, Settings
from ramet.daemon import composition
from ramet.daemon.wire.tokens import remove_key
from ramet.faults import Faults
from ramet.store import reset_store


class Migrated(Struct, frozen=True, kw_only=True):
    """What `migrate` did."""

    before: int = field(name="from")
    after: int = field(name="to")
    applied: list[str]
    backup: str | None


class Reset(Struct, frozen=True, kw_only=True):
    """What `reset` did."""

    backup: str | None
    removed: str


def migrate(settings: Settings, places: Places, clock: Clock, faults: Faults) -> Migrated:
    """Opening a database migrates it."""
    store = composition.take_store(settings, places, clock, faults)
    store.close()
    done = store.migrated
    return Migrated(before=done.before, after=done.after, applied=list(done.applied), backup=done.backup)


def reset(settings: Settings, places: Places, clock: Clock) -> Reset:
    """Empty the database, after a backup."""
    with composition.naming_the_holder(places):
        backup = reset_store(settings.database, places, clock=clock)
        remove_key(places.home)  # sessions of the same numbers will follow
    return Reset(backup=backup, removed=str(places.database or hide_password(settings.database.url or "")))
