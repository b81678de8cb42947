"""What is remembered of efforts and the phases they went through."""

from typing import Any

from ramet.model.record.effort import Effort, Outcome
from ramet.model.record.phase import PhaseRecord
from ramet.store.database.connection import Connection, to_json
from ramet.store.database.queries import QueryFile

_sql = QueryFile("record/efforts")


def start(
    db: Connection, *, task_id: str, skill: str, mode: str | None, metadata: dict[str, Any] | None, now: str
) -> Effort:
    """A new active effort with the task's next ordinal."""
    ordinal = next_ordinal(db, task_id)
    return db.must_struct(
        Effort,
        _sql.insert,
        task_id=task_id,
        skill=skill,
        mode=mode,
        ordinal=ordinal,
        metadata=to_json(metadata),
        now=now,
    )


def next_ordinal(db: Connection, task_id: str) -> int:
    """The number of a task's next effort."""
    return int(db.must(_sql.next_ordinal, task_id=task_id)[0])


def find(db: Connection, effort_id: int) -> Effort | None:
    """An effort by its id."""
    return db.struct(Effort, _sql.by_id, id=effort_id)


def must_find(db: Connection, effort_id: int) -> Effort:
    """An effort that is known to be there."""
    return db.must_struct(Effort, _sql.by_id, id=effort_id)


def list_of_task(db: Connection, task_id: str, *, after: int, limit: int) -> list[Effort]:
    """A task's efforts by their ordinal, behind one."""
    return db.structs(Effort, _sql.of_task, task_id=task_id, after=after, limit=limit)


def list_finished_before(db: Connection, effort: Effort, limit: int) -> list[Effort]:
    """Those of its task that came before an effort and are finished, the newest first."""
    given = {"task_id": effort.task_id, "ordinal": effort.ordinal, "limit": limit}
    return db.structs(Effort, _sql.finished_before, **given)


def finish(db: Connection, effort_id: int, outcome: Outcome, now: str) -> Effort:
    """Finish an effort."""
    return db.must_struct(Effort, _sql.finish, id=effort_id, outcome=outcome, now=now)


def reopen(db: Connection, effort_id: int) -> Effort:
    """Let a finished effort be active again."""
    return db.must_struct(Effort, _sql.reopen, id=effort_id)


def enter_phase(
    db: Connection, effort_id: int, label: str, proof: dict[str, Any] | None, reason: str | None, now: str
) -> tuple[Effort, PhaseRecord]:
    """Move an effort to a phase and write that into its history."""
    effort = db.must_struct(Effort, _sql.set_phase, id=effort_id, label=label)
    record = db.must_struct(
        PhaseRecord,
        _sql.record_phase,
        effort_id=effort_id,
        label=label,
        proof=to_json(proof),
        reason=reason,
        now=now,
    )
    return effort, record


def list_phases(db: Connection, effort_id: int) -> list[PhaseRecord]:
    """The phases that an effort went through, in order."""
    return db.structs(PhaseRecord, _sql.phases, effort_id=effort_id)


def project_of(db: Connection, effort_id: int) -> int:
    """The project of an effort's task."""
    return int(db.must(_sql.project_of, id=effort_id)[0])


def count_open_sessions(db: Connection, effort_id: int) -> int:
    """How many sessions still serve an effort."""
    return int(db.must(_sql.open_sessions, effort_id=effort_id)[0])
