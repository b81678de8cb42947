"""What is done to a database while no daemon runs on it: update its schema, check it, allow writing to it again, start
over, or remove old secrets.
"""

import getpass

from msgspec import Struct, field

from ramet.clock import Clock
from ramet.config.environment import Environment
from ramet.config.secrets import hide_password
from ramet.config.settings import Places, Settings
from ramet.daemon import composition
from ramet.daemon.damage.database_guard import remove_mark
from ramet.daemon.offline import secrets
from ramet.daemon.offline.secrets import Rescan
from ramet.daemon.wire.tokens import remove_key
from ramet.faults import Faults
from ramet.model.instant import to_iso
from ramet.model.redaction import Redactor
from ramet.protocol.system.damage import WriteBan
from ramet.protocol.system.database import CheckReport
from ramet.store import open_to_read, reset_store
from ramet.store.database.blobs import Codec
from ramet.store.database.check import check_database
from ramet.store.database.purge import Burial
from ramet.store.memory.index.search_index import SearchIndex


class Migrated(Struct, frozen=True, kw_only=True):
    """What `migrate` did."""

    before: int = field(name="from")
    after: int = field(name="to")
    applied: list[str]
    repaired: list[str]
    """What a superseded text of a migration had left, and was brought to the present one."""
    backup: str | None
    differences: list[str]
    """How the schema still differs from the one that the migrations make."""


class Reset(Struct, frozen=True, kw_only=True):
    """What `reset` did."""

    backup: str | None
    removed: str


class RedactOrder(Struct, frozen=True, kw_only=True):
    """What to do about secrets that are stored."""

    is_purging: bool = False
    reason: str = ""
    files: list[str] = []
    """Files elsewhere, such as a backup that was moved."""


def migrate(settings: Settings, places: Places, clock: Clock, faults: Faults) -> Migrated:
    """Opening a database migrates it."""
    store = composition.take_store(settings, places, clock, faults)
    store.close()
    done = store.migrated
    return Migrated(
        before=done.before,
        after=done.after,
        applied=done.applied,
        repaired=done.repaired,
        backup=done.backup,
        differences=done.differences,
    )


def reset(settings: Settings, places: Places, clock: Clock) -> Reset:
    """Empty the database, after a backup."""
    with composition.naming_the_holder(places):
        backup = reset_store(settings.database, places, clock=clock)
        remove_key(places.home)  # sessions of the same numbers will follow
        SearchIndex(places.index).discard()
        remove_mark(places.damage_mark)
    return Reset(backup=backup, removed=str(places.database or hide_password(settings.database.url or "")))


class Lifted(Struct, frozen=True, kw_only=True):
    """What `lift-ban` did."""

    ban: WriteBan | None
    """Why nothing was written; null if that was allowed."""


def check(settings: Settings, places: Places) -> CheckReport:
    """Check a database that no daemon can open. It is only read."""
    return check_database(open_to_read(settings.database, places), Codec())


def lift_ban(places: Places) -> Lifted:
    """Let the next daemon write to the database again."""
    return Lifted(ban=remove_mark(places.damage_mark))


def redact(
    settings: Settings, environment: Environment, places: Places, clock: Clock, faults: Faults, order: RedactOrder
) -> Rescan:
    """Search what is stored for secrets by today's rules, and remove them if that is asked for."""
    # Also if redaction is turned off: whoever asks for this wants it done.
    redactor = Redactor(settings.redaction.patterns, environment.denied)
    burial = Burial(getpass.getuser(), to_iso(clock.now_ms()), redactor.redact(order.reason).text)
    store = composition.take_store(settings, places, clock, faults)
    try:
        return secrets.rescan(store, places, redactor, burial if order.is_purging else None, order.files)
    finally:
        store.close()
