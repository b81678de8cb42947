"""The guard of the database: from the first sign of damage on, the daemon writes nothing more to the database.

A damaged file gets worse with each write, and what is written to a replaced one is lost. So the first sign ends all
changes, whoever saw it, until a person says that the database is well. A file beside the database, the mark, keeps the
ban over a restart; the database itself may not take another row. If the mark cannot be written, memory and the log have
it.
"""

import logging
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ramet.errors import DatabaseDamaged
from ramet.protocol.operations import Operation
from ramet.protocol.system.damage import DamageState, NoteDamage, WriteBan

log = logging.getLogger(__name__)

_MOST_BYTES = 64 * 1024
_LONGEST_REASON = 500
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
_FIXES = {
    "damaged": "list the damage with `ramet db check`; then return to a backup with `ramet db restore latest`, "
    "or write to this database all the same: `ramet db accept`",
    "replaced": "restore the rescue file or a backup with `ramet db restore`, or use the file that is there now: "
    "`ramet db accept`",
}


class DatabaseGuard:
    """Whether the database may be written to. Any thread may ask and may impose the ban."""

    def __init__(self, mark: Path | None = None, now: Callable[[], str] = str) -> None:
        """Without a mark, the ban ends with the process."""
        self._mark = mark
        self._now = now
        self._lock = threading.Lock()
        self.ban = None if mark is None else read_mark(mark)
        self.on_ban: Callable[[WriteBan], None] = lambda _: None
        if self.ban is not None:
            log.error("the database is read-only since %s: %s", self.ban.since, self.ban.reason)

    def impose(self, state: DamageState, reason: str) -> None:
        """Ban all changes, once; who comes first gives the reason."""
        with self._lock:
            if self.ban is not None:
                return
            self.ban = ban = WriteBan(state=state, reason=reason[:_LONGEST_REASON], since=self._now())
        log.error("the database is read-only from now on state=%s: %s", state, ban.reason)
        self._write()
        self.on_ban(ban)

    def note(self, error: DatabaseDamaged) -> None:
        """An operation has found damage."""
        self.impose("damaged", error.message)

    def rescued(self, path: Path) -> None:
        """What the daemon still had is in a file."""
        assert self.ban is not None  # noqa: S101
        self.ban = replace(self.ban, rescue=str(path))
        log.warning("the database was rescued path=%s", path)
        self._write()

    def refusal(self, operation: Operation | None = None) -> DatabaseDamaged | None:
        """Why a change is not made now. The note about the damage itself is."""
        ban = self.ban
        if ban is None or (operation is NoteDamage.op and ban.state == "damaged"):
            return None
        return DatabaseDamaged(f"{describe(ban)}; nothing was saved", fix=_FIXES[ban.state])

    def loss(self) -> DatabaseDamaged:
        """Why a request is not acknowledged that was committed to files that are gone."""
        assert self.ban is not None  # noqa: S101
        message = f"{describe(self.ban)}; what the daemon still has, perhaps with this request, is now being rescued"
        return DatabaseDamaged(message, fix="`ramet status` names the rescue file")

    def _write(self) -> None:
        if self._mark is None:
            return
        try:
            descriptor = os.open(self._mark, _CREATE, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.encode(self.ban) + b"\n")
                os.fsync(file.fileno())
        except OSError as error:
            log.error("the mark that the database is damaged cannot be written path=%s: %s", self._mark, error)  # noqa: TRY400


def describe(ban: WriteBan) -> str:
    """The state in a sentence, without its end."""
    if ban.state == "damaged":
        return f"the database is read-only, because it is damaged: {ban.reason}"
    rescue = f"; what the daemon still had is in {ban.rescue}" if ban.rescue else ""
    return f"the database is read-only, because {ban.reason}{rescue}"


def read_mark(mark: Path) -> WriteBan | None:
    """The ban that an earlier daemon imposed. A mark that cannot be read is one all the same."""
    try:
        with mark.open("rb") as file:
            return msgspec.json.decode(file.read(_MOST_BYTES), type=WriteBan)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        return WriteBan(state="damaged", reason=f"{mark} says so, and cannot be read: {error}", since="")


def remove_mark(mark: Path) -> WriteBan | None:
    """Let the next daemon write again; the ban that is lifted."""
    ban = read_mark(mark)
    with suppress(FileNotFoundError):
        mark.unlink()
    return ban
