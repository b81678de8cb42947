"""What is remembered of landings."""

from datetime import datetime
from typing import Any

from msgspec import Struct

from ramet.model.landing.landing import Landing, LandingKind, LandingState, Method
from ramet.store.database.connection import Connection, to_json
from ramet.store.database.queries import QueryFile

_sql = QueryFile("landing/landings")
_NEWEST = 2**63 - 1


class New(Struct, frozen=True, kw_only=True):
    """A landing that is about to be queued."""

    project_id: int
    host: str
    directory: str
    repository: str
    target: str
    kind: LandingKind
    method: Method
    efforts: list[int]
    needs: list[int]
    undoes: int | None
    branch: str
    head: str
    left_out: list[str]
    message: str
    checks: dict[str, str]


def add(db: Connection, new: New, now: str) -> Landing:
    """A new landing, at the end of its target's queue."""
    columns: dict[str, Any] = {
        name: to_json(value) if isinstance(value := getattr(new, name), list | dict) else value
        for name in New.__struct_fields__
    }
    return db.must_struct(Landing, _sql.add, now=now, landing_kind=columns.pop("kind"), **columns)


def find(db: Connection, landing_id: int) -> Landing | None:
    """A landing by its id."""
    return db.struct(Landing, _sql.find, id=landing_id)


def list_of_target(db: Connection, host: str, repository: str, target: str) -> list[Landing]:
    """Every landing of a target that can still land or has landed, in their order."""
    return db.structs(Landing, _sql.of_target, host=host, repository=repository, target=target)


def list_newest(
    db: Connection, limit: int, *, before: int | None, project_id: int | None, state: LandingState | None
) -> list[Landing]:
    """Landings, the newest first."""
    bounds = {"before": _NEWEST if before is None else before, "limit": limit}
    return db.structs(Landing, _sql.list_newest, project_id=project_id, state=state, **bounds)


def list_open(db: Connection, host: str) -> list[Landing]:
    """The landings that a host has to land, those first that a lander has."""
    return db.structs(Landing, _sql.open_of_host, host=host)


def list_not_landed(db: Connection, host: str) -> dict[int, LandingState]:
    """The states of the landings that are not landed."""
    return {int(row[0]): row[1] for row in db.all(_sql.states, host=host)}


def claim(db: Connection, landing: Landing, lander: str, expires_at: str) -> Landing | None:
    """Give a lander the lease; None if another one was faster."""
    lease = {"lander": lander, "expires_at": expires_at, "generation": landing.lease.generation}
    return db.struct(Landing, _sql.claim, id=landing.id, **lease)


def renew(db: Connection, landing_id: int, generation: int, expires_at: str) -> Landing | None:
    """Let a lease go on; None if it is over."""
    return db.struct(Landing, _sql.renew, id=landing_id, generation=generation, expires_at=expires_at)


def note_tested(
    db: Connection, landing_id: int, generation: int, *, tip: str, tested: str, log: str | None
) -> Landing | None:
    """The commit that passed the checks; None if the lease is over."""
    return db.struct(Landing, _sql.note_tested, id=landing_id, generation=generation, tip=tip, tested=tested, log=log)


class End(Struct, frozen=True, kw_only=True):
    """What became of a landing."""

    state: LandingState
    reason: str | None
    files: list[str]
    log: str | None
    finished_at: str | None


def finish(db: Connection, landing_id: int, generation: int, end: End) -> Landing | None:
    """Note what became of a landing; None if the lease is over."""
    columns = {"reason": end.reason, "files": to_json(end.files), "log": end.log, "finished_at": end.finished_at}
    return db.struct(Landing, _sql.finish, id=landing_id, generation=generation, state=end.state, **columns)


class Asked(Struct, frozen=True, kw_only=True):
    """What is asked for now of a landing that did not land."""

    method: Method
    left_out: list[str]
    checks: dict[str, str]
    message: str


def ask_again(db: Connection, landing: Landing, asked: Asked) -> Landing | None:
    """Queue a landing that did not land again; None if it has moved meanwhile."""
    columns = {"left_out": to_json(asked.left_out), "checks": to_json(asked.checks), "message": asked.message}
    return db.struct(Landing, _sql.ask_again, id=landing.id, from_state=landing.state, method=asked.method, **columns)


def move(db: Connection, landing: Landing, state: LandingState, reason: str | None, now: str | None) -> Landing | None:
    """A person's decision; None if the landing has moved meanwhile."""
    moved = {"state": state, "from_state": landing.state, "reason": reason, "finished_at": now}
    return db.struct(Landing, _sql.move, id=landing.id, **moved)


def has_expired(landing: Landing, now: datetime) -> bool:
    """Whether the lander of a landing has not renewed its lease in time."""
    return landing.lease.expires_at is not None and landing.lease.expires_at < now
