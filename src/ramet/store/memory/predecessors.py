"""What is written of earlier systems' rows: with their own times, finished and ended."""

from typing import Any

import msgspec

from ramet.model.memory.predecessor import (
    NewAgent,
    NewEffort,
    NewEmbedding,
    NewPhase,
    NewSession,
    NewSkill,
    NewTask,
)
from ramet.model.record.session import Session
from ramet.store.database.connection import Connection, to_json
from ramet.store.database.queries import QueryFile

_sql = QueryFile("memory/predecessors")

_FLOAT_BYTES = 4


def find_imported(db: Connection, dedupe_key: str) -> dict[str, Any] | None:
    """What an import wrote down of a row of a source; None if it was not imported."""
    row = db.one(_sql.imported, dedupe_key=dedupe_key)
    return None if row is None else msgspec.json.decode(row[0], type=dict[str, Any])


def add_project(db: Connection, path: str, name: str | None, created_at: str) -> tuple[int, bool]:
    """The project at a path, and whether it is new."""
    known = db.one(_sql.project_at, path=path)
    if known is not None:
        return int(known[0]), False
    return int(db.must(_sql.add_project, path=path, name=name, created_at=created_at)[0]), True


def add_skill(db: Connection, project_id: int, new: NewSkill, updated_at: str) -> bool:
    """A skill; whether it is new."""
    row = db.one(
        _sql.add_skill,
        project_id=project_id,
        name=new.name,
        phases=to_json(new.phases),
        modes=to_json(new.modes),
        templates=to_json(new.templates),
        cmd_dependencies=to_json(new.cmd_dependencies),
        next_skills=to_json(new.next_skills),
        directives=to_json(new.directives),
        updated_at=updated_at,
    )
    return row is not None


def add_task(db: Connection, project_id: int, new: NewTask, created_at: str) -> bool:
    """A task; whether it is new."""
    row = db.one(
        _sql.add_task,
        path=new.path,
        project_id=project_id,
        workspace=new.workspace,
        title=new.title,
        description=new.description,
        keywords=new.keywords,
        created_at=created_at,
    )
    return row is not None


def has_ordinal(db: Connection, task_id: str, ordinal: int) -> bool:
    """Whether a task has an effort with this number."""
    return db.one(_sql.has_ordinal, task_id=task_id, ordinal=ordinal) is not None


def add_effort(db: Connection, new: NewEffort, **links: Any) -> int:
    """A finished effort; its id. `links` are the rows that it names, its number and its times."""
    row = db.must(
        _sql.add_effort,
        skill=new.skill,
        mode=new.mode,
        phase=new.phase,
        directives=to_json(new.directives),
        directories=to_json(new.directories),
        metadata=to_json(new.metadata),
        outcome=new.outcome,
        reason=new.reason,
        prompt=new.prompt,
        report_file=new.report_file,
        output_content=new.output_content,
        git_branch=new.git.branch,
        git_base=new.git.base,
        git_head=new.git.head,
        attempts=new.attempts,
        run_line=None if new.line is None else new.line.key,
        run_order=None if new.line is None else new.line.order,
        **links,
    )
    return int(row[0])


def add_dependency(db: Connection, effort_id: int, needs_id: int) -> None:
    """What an effort waited for."""
    db.run(_sql.add_dependency, effort_id=effort_id, needs_id=needs_id)


def complete_session(
    db: Connection, session_id: int, new: NewSession, *, ended_at: str, last_heartbeat: str | None
) -> None:
    """Write what is known of a session that has ended."""
    db.run(
        _sql.complete_session,
        id=session_id,
        ended_at=ended_at,
        outcome=new.outcome,
        notes=new.notes,
        title=new.title,
        heartbeat_counter=new.heartbeat_counter,
        last_heartbeat=last_heartbeat,
        context_usage=new.context_usage,
        loaded_files=to_json(new.loaded_files),
        handoff=to_json(new.handoff),
    )


def set_parent(db: Connection, session_id: int, parent: Session) -> None:
    """Put a root session, with all below it, into the tree of its parent."""
    place = {"root": parent.root_session_id, "depth": parent.spawn_depth + 1}
    db.run(_sql.set_parent, id=session_id, parent=parent.id, **place)


def add_phase(db: Connection, effort_id: int, new: NewPhase, created_at: str) -> int:
    """A phase that an effort entered; its id."""
    row = db.must(
        _sql.add_phase,
        effort_id=effort_id,
        label=new.label,
        proof=to_json(new.proof),
        reason=new.reason,
        created_at=created_at,
    )
    return int(row[0])


def add_agent(db: Connection, new: NewAgent) -> bool:
    """An agent; whether it is new."""
    return db.one(_sql.add_agent, id=new.id, label=new.label, claims=to_json(new.claims)) is not None


def add_embedding(db: Connection, new: NewEmbedding, content_hash: bytes, updated_at: str) -> int | None:
    """The vector of a text; its id, or None if it is there already."""
    row = db.one(
        _sql.add_embedding,
        source_type=new.source_type,
        source_path=new.source_path,
        chunk_text=new.text,
        content_hash=content_hash,
        model=new.model,
        dimension=len(new.vector) // _FLOAT_BYTES,
        embedding=new.vector,
        updated_at=updated_at,
    )
    return None if row is None else int(row[0])


def close_run(db: Connection, run_id: int, finished_at: str, reason: str | None) -> None:
    """A run that has finished."""
    db.run(_sql.close_run, id=run_id, finished_at=finished_at, reason=reason)
