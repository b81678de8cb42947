"""Requests and replies about a database that is damaged or was replaced."""

from typing import Literal

from msgspec import Struct

from ramet.protocol.fields import Text
from ramet.protocol.operation import Change, Operation

DamageState = Literal["damaged", "replaced"]
"""Whether the database itself is damaged, or its files were deleted or replaced under the daemon."""


class WriteBan(Struct, frozen=True, kw_only=True):
    """Why the daemon writes nothing to its database: it is damaged, or its files were replaced."""

    state: DamageState
    reason: str
    since: str
    rescue: str | None = None
    """The file with what the daemon still had of a database that was replaced."""


class DamageNoted(Struct, frozen=True, kw_only=True):
    """The damage is in the event log, and a notice tells of it."""

    notice_id: int | None
    """Null if the same damage was noted before."""


class NoteDamage(Change[DamageNoted], frozen=True, kw_only=True):
    """Write down that the database is damaged, and tell a person. The daemon does it once, before it stops writing."""

    op = Operation("db.note_damage", audience="internal")

    reason: Text
    since: Text
