"""What is remembered of sessions."""

from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from ramet.model.history.branch import Head, session_branch
from ramet.model.record.effort import Outcome, StopRequest
from ramet.model.record.session import Session, TreePlace
from ramet.protocol.record.sessions import ListedSession
from ramet.store.database.connection import Connection, to_json
from ramet.store.database.queries import Query, QueryFile
from ramet.store.history import segments

_sql = QueryFile("record/sessions")

_IS_BEHIND = 13
"""The column of a reporter that says that its branch has just been moved by somebody who was waited for."""


class NativeWindow(Struct, frozen=True, kw_only=True):
    """A context window as its program knows it; nothing of one that no program has opened yet."""

    driver: str | None = None
    native_id: str | None = None
    pid: int | None = None


class KeeperLease(Struct, frozen=True, kw_only=True):
    """Which keeper holds a session's agent, under which lease, until when; nothing of a session that has none."""

    instance: str | None = None
    generation: int = 0
    deadline: str | None = None


class NewSession(Struct, frozen=True, kw_only=True):
    """A session about to be started."""

    task_id: str
    effort_id: int
    place: TreePlace
    agent_id: str | None = None
    window: NativeWindow = NativeWindow()
    keeper: KeeperLease = KeeperLease()
    begins_at: int | None = None
    """The commit at which its branch begins; None for an empty one."""


class Reporter(Struct, frozen=True, kw_only=True):
    """A session as its keeper's report sees it: how far it got, whether its lease holds, where its branch stands."""

    session_id: int
    agent_id: str | None
    instance: str | None
    generation: int
    reported_seq: int
    tools_in_flight: list[str] | None
    has_ended: bool
    effort_id: int
    task_id: str
    is_leased: bool
    lease_generation: int
    stop_request: StopRequest | None
    has_children: bool
    """Whether any session below it is open, or any that it waits for."""
    head: Head


class SessionReport(Struct, frozen=True, kw_only=True):
    """What a report says about its session; None where it says nothing."""

    reported_seq: int
    tools_in_flight: list[str]
    pid: int | None = None
    process_started: float | None = None
    exit_status: int | None = None
    exit_signal: int | None = None
    notes: str | None = None
    outcome: Outcome | None = None
    ended_at: str | None = None


def start(db: Connection, new: NewSession, *, now: str, now_ms: int) -> Session:
    """A new open session with a branch of its own."""
    session_id = int(db.must(_sql.next_id)[0])
    branch = session_branch(session_id)
    segments.create_branch(db, branch, new.begins_at, now_ms)
    place = replace(new.place, root_session_id=new.place.root_session_id or session_id)
    return _row(
        db,
        _sql.insert,
        id=session_id,
        task_id=new.task_id,
        effort_id=new.effort_id,
        **asdict(place),
        agent_id=new.agent_id,
        **asdict(new.window),
        **asdict(new.keeper),
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


def find_last_root(db: Connection, *, task_id: str | None, agent_id: str | None) -> Session | None:
    """The newest session of a task, or of an agent, that is nobody's child."""
    if agent_id is not None:
        return db.struct(Session, _sql.last_root_of_agent, agent_id=agent_id, task_id=task_id)
    return db.struct(Session, _sql.last_root_of_task, task_id=task_id)


def resume(db: Connection, session_id: int, effort_id: int, agent_id: str | None, pid: int | None) -> Session:
    """The same context window is open again."""
    return _row(db, _sql.resume, id=session_id, effort_id=effort_id, agent_id=agent_id, pid=pid)


def attach(db: Connection, session_id: int, *, effort_id: int, agent_id: str, keeper: KeeperLease) -> Session:
    """Another keeper goes on with a context window."""
    return _row(db, _sql.attach, id=session_id, effort_id=effort_id, agent_id=agent_id, **asdict(keeper))


def find_waiting(db: Connection, effort_id: int) -> Session | None:
    """The session of a spawned effort that waits for its first keeper."""
    return db.struct(Session, _sql.waiting, effort_id=effort_id)


def name_driver(db: Connection, session_id: int, driver: str, native_id: str | None) -> None:
    """Which program is at work in a session that was there before it."""
    db.run(_sql.name_driver, id=session_id, driver=driver, native_id=native_id)


def find_first_of_effort(db: Connection, effort_id: int) -> Session | None:
    """The session with which an effort began."""
    return db.struct(Session, _sql.first_of_effort, effort_id=effort_id)


def set_report(db: Connection, session_id: int, report: Struct) -> Session:
    """Note what a session reports at its end."""
    return _row(db, _sql.set_report, id=session_id, report=to_json(report))


def find_last_of_effort(db: Connection, effort_id: int) -> Session | None:
    """The newest session that serves an effort."""
    return db.struct(Session, _sql.last_of_effort, effort_id=effort_id)


def find_last_native(db: Connection, effort_id: int) -> int | None:
    """The newest session of an effort that a vendor knows by an id."""
    row = db.one(_sql.last_native, effort_id=effort_id)
    return None if row is None else int(row[0])


def find_kept(db: Connection, effort_id: int, generation: int) -> int | None:
    """The session of an effort whose agent a keeper holds under a lease; or held, and nobody has settled it yet."""
    row = db.one(_sql.kept, effort_id=effort_id, generation=generation)
    return None if row is None else int(row[0])


def end_of_effort(db: Connection, effort_id: int, outcome: Outcome, notes: str | None, now: str) -> list[int]:
    """End what is still open of an effort; which they were."""
    rows = db.all(_sql.end_of_effort, effort_id=effort_id, outcome=outcome, notes=notes, now=now)
    return [row[0] for row in rows]


def find_reporter(db: Connection, session_id: int) -> Reporter | None:
    """The session that a keeper reports on."""
    row = db.one(_sql.reporter, session_id=session_id)
    if row is not None and row[_IS_BEHIND]:
        row = db.one(_sql.reporter, session_id=session_id)
    if row is None:
        return None
    session_id, agent_id, instance, generation, seq, tools, has_ended, *effort_and_head = row
    effort_id, task_id, is_leased, lease_generation, stop, has_children, _, *head = effort_and_head
    return Reporter(
        session_id=session_id,
        agent_id=agent_id,
        instance=instance,
        generation=generation,
        reported_seq=seq,
        tools_in_flight=None if tools is None else msgspec.json.decode(tools),
        has_ended=bool(has_ended),
        effort_id=effort_id,
        task_id=task_id,
        is_leased=bool(is_leased),
        lease_generation=lease_generation,
        stop_request=None if stop is None else msgspec.json.decode(stop, type=StopRequest),
        has_children=bool(has_children),
        head=Head(*head),
    )


def report(db: Connection, session_id: int, said: SessionReport, now: str) -> None:
    """Note what a report says about its session."""
    values = asdict(said)
    values["tools_in_flight"] = to_json(said.tools_in_flight or None)
    db.run(_sql.report, id=session_id, now=now, **values)


def set_native_id(db: Connection, session_id: int, native_id: str) -> None:
    """Note the vendor's own id, unless another session goes by it."""
    db.run(_sql.set_native_id, id=session_id, native_id=native_id)


def finish(db: Connection, session_id: int, payload: dict[str, Any] | None, outcome: Outcome, now: str) -> Session:
    """End a session."""
    return _row(db, _sql.finish, id=session_id, payload=to_json(payload), outcome=outcome, now=now)


def close(db: Connection, session_id: int, outcome: Outcome, notes: str | None, now: str) -> None:
    """A context window that a program opened by itself is closed."""
    db.run(_sql.close, id=session_id, outcome=outcome, notes=notes, now=now)


def list_left_by_agent(db: Connection, agent_id: str, going_on: Session | None) -> list[int]:
    """The open sessions of an agent that have no part in the one that goes on: those above and below it have."""
    tree = 0 if going_on is None else going_on.root_session_id
    root = going_on.id if going_on and going_on.parent_session_id is None else None
    return [row[0] for row in db.all(_sql.open_of_agent, agent_id=agent_id, tree=tree, root=root)]


def list_open_subagents(db: Connection, session_id: int, effort_id: int) -> list[int]:
    """The open sessions of a session's own sub-agents, and of theirs."""
    return [row[0] for row in db.all(_sql.open_subagents, session_id=session_id, effort_id=effort_id)]


def move(db: Connection, session_id: int, task_id: str, effort_id: int) -> Session:
    """Let a session serve another effort."""
    return _row(db, _sql.move, id=session_id, task_id=task_id, effort_id=effort_id)


def follow(db: Connection, session_id: int, prev: Session) -> None:
    """Let a root session, with all below it, continue another one."""
    db.run(_sql.follow, id=session_id, prev=prev.id, root=prev.root_session_id)


def beat(db: Connection, session_id: int, now: str) -> Session:
    """Count a sign of life."""
    return _row(db, _sql.beat, id=session_id, now=now)


def reset_heartbeats(db: Connection, effort_id: int, now: str) -> None:
    """Let the open sessions of an effort count their heartbeats anew."""
    db.run(_sql.reset_heartbeats, effort_id=effort_id, now=now)


def set_context_usage(db: Connection, session_id: int, usage: float) -> Session:
    """Note how full the context window is."""
    return _row(db, _sql.set_context_usage, id=session_id, usage=usage)


def observe(db: Connection, session_id: int, model: str | None, usage: float | None) -> None:
    """The model of a session's newest call, and how full its context was, as far as they are known."""
    db.run(_sql.observe, id=session_id, model=model, usage=usage)


def set_title(db: Connection, session_id: int, title: str, *, is_given: bool) -> bool:
    """What a session is called, by a person or by its program; whether that has changed."""
    return db.one(_sql.set_title, id=session_id, title=title, is_given=int(is_given)) is not None


def set_origin(db: Connection, session_id: int, origin: int) -> bool:
    """The session of which another one is a copy; whether that is new."""
    return db.one(_sql.set_origin, id=session_id, origin=origin) is not None


def set_loaded_files(db: Connection, session_id: int, files: list[str]) -> Session:
    """Note which files the session has read."""
    return _row(db, _sql.set_loaded_files, id=session_id, files=to_json(files))


class Listing(Struct, frozen=True, kw_only=True):
    """Which sessions are listed; None means any."""

    task_id: str | None = None
    effort_id: int | None = None
    agent_id: str | None = None
    is_open: bool | None = None
    project_id: int | None = None
    archived: bool = True
    """Whether archived ones are listed too."""


def list_matching(db: Connection, listing: Listing, *, before: int, limit: int) -> list[ListedSession]:
    """Sessions below an id, the newest first, found by the narrowest index that the criteria allow."""
    page = {
        "open": None if listing.is_open is None else int(listing.is_open),
        "project_id": listing.project_id,
        "archived": int(listing.archived),
        "before": before,
        "limit": limit,
    }
    scope = {"agent_id": listing.agent_id, "task_id": listing.task_id}
    if listing.effort_id is not None:
        return db.structs(ListedSession, _sql.of_effort, effort_id=listing.effort_id, **scope, **page)
    if listing.agent_id is not None:
        return db.structs(ListedSession, _sql.of_agent, **scope, **page)
    if listing.task_id is not None:
        return db.structs(ListedSession, _sql.of_task, task_id=listing.task_id, **page)
    return db.structs(ListedSession, _sql.matching, **page)


def list_silent(db: Connection, before: str, limit: int) -> list[Session]:
    """Open sessions without a sign of life since an instant."""
    return db.structs(Session, _sql.silent, before=before, limit=limit)


def _row(db: Connection, query: Query, **params: Any) -> Session:
    return db.must_struct(Session, query, **params)
