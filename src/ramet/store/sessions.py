"""What is remembered of sessions."""

from typing import Any

from msgspec import Struct

from ramet.model.branch import session_branch
from ramet.model.effort import Outcome
from ramet.model.session import Session
from ramet.store import history
from ramet.store.connection import Connection, to_json
from ramet.store.queries import Query, QueryFile

_sql = QueryFile("sessions")


class NewSession(Struct, frozen=True, kw_only=True):
    """A session about to be started."""

    task_id: str
    effort_id: int
    prev_session_id: int | None
    parent_session_id: int | None
    root_session_id: int | None
    """None for one that is its own root."""
    spawn_depth: int
    agent_id: str | None
    driver: str | None
    native_id: str | None
    pid: int | None


def start(db: Connection, new: NewSession, *, now: str, now_ms: int) -> Session:
    """A new open session with an empty branch of its own."""
    session_id = int(db.must(_sql.next_id)[0])
    branch = session_branch(session_id)
    history.create_branch(db, branch, None, now_ms)
    return _row(
        db,
        _sql.insert,
        id=session_id,
        task_id=new.task_id,
        effort_id=new.effort_id,
        prev_session_id=new.prev_session_id,
        parent_session_id=new.parent_session_id,
        root_session_id=new.root_session_id or session_id,
        spawn_depth=new.spawn_depth,
        agent_id=new.agent_id,
        driver=new.driver,
        native_id=new.native_id,
        pid=new.pid,
        branch=branch,
        now=now,
    )


def find(db: Connection, session_id: int) -> Session | None:
    """A session by its id."""
    return db.struct(Session, _sql.by_id, id=session_id)


def find_native(db: Connection, driver: str, native_id: str) -> Session | None:
    """A session by the vendor's own id."""
    return db.struct(Session, _sql.by_native, driver=driver, native_id=native_id)


def find_last_of_agent(db: Connection, agent_id: str, effort_id: int) -> Session | None:
    """The newest session of an agent on an effort."""
    return db.struct(Session, _sql.last_of_agent, agent_id=agent_id, effort_id=effort_id)


def resume(db: Connection, session_id: int, effort_id: int, agent_id: str | None, pid: int | None) -> Session:
    """The same context window is open again."""
    return _row(db, _sql.resume, id=session_id, effort_id=effort_id, agent_id=agent_id, pid=pid)


def finish(db: Connection, session_id: int, payload: dict[str, Any] | None, outcome: Outcome, now: str) -> Session:
    """End a session."""
    return _row(db, _sql.finish, id=session_id, payload=to_json(payload), outcome=outcome, now=now)


def list_open_of_agent(db: Connection, agent_id: str, *, outside: int) -> list[int]:
    """The open sessions of an agent that are not in the tree with the root `outside`."""
    return [row[0] for row in db.all(_sql.open_of_agent, agent_id=agent_id, outside=outside)]


def bind(db: Connection, session_id: int, effort_id: int) -> Session:
    """Let a session serve another effort."""
    return _row(db, _sql.bind, id=session_id, effort_id=effort_id)


def beat(db: Connection, session_id: int, now: str) -> Session:
    """Count a sign of life."""
    return _row(db, _sql.beat, id=session_id, now=now)


def reset_heartbeats(db: Connection, effort_id: int, now: str) -> None:
    """Let the open sessions of an effort count their heartbeats anew."""
    db.run(_sql.reset_heartbeats, effort_id=effort_id, now=now)


def set_context_usage(db: Connection, session_id: int, usage: float) -> Session:
    """Note how full the context window is."""
    return _row(db, _sql.set_context_usage, id=session_id, usage=usage)


def set_loaded_files(db: Connection, session_id: int, files: list[str]) -> Session:
    """Note which files the session has read."""
    return _row(db, _sql.set_loaded_files, id=session_id, files=to_json(files))


def list_matching(
    db: Connection,
    *,
    task_id: str | None = None,
    effort_id: int | None = None,
    agent_id: str | None = None,
    is_open: bool | None = None,
    before: int,
    limit: int,
) -> list[Session]:
    """Sessions below an id, the newest first, found by the narrowest index that the criteria allow."""
    page = {"open": None if is_open is None else int(is_open), "before": before, "limit": limit}
    if effort_id is not None:
        scope = {"effort_id": effort_id, "agent_id": agent_id, "task_id": task_id}
        return db.structs(Session, _sql.of_effort, **scope, **page)
    if agent_id is not None:
        return db.structs(Session, _sql.of_agent, agent_id=agent_id, task_id=task_id, **page)
    if task_id is not None:
        return db.structs(Session, _sql.of_task, task_id=task_id, **page)
    return db.structs(Session, _sql.matching, **page)


def list_silent(db: Connection, before: str, limit: int) -> list[Session]:
    """Open sessions without a sign of life since an instant."""
    return db.structs(Session, _sql.silent, before=before, limit=limit)


def _row(db: Connection, query: Query, **params: Any) -> Session:
    return db.must_struct(Session, query, **params)
