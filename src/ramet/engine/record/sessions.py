"""Sessions: context windows. They start, show signs of life, serve one effort at a time, and end with a handoff.

A vendor's own id names one context window for good: starting it again resumes the same session. Starting another one
for the same agent ends the session before it, but never a session that the new one was spawned from.
"""

from typing import Any

from msgspec.structs import asdict

from ramet.engine import scopes
from ramet.engine.answers import answers
from ramet.engine.record import lookup, ownership
from ramet.engine.transaction import Transaction
from ramet.errors import InvalidParams, WrongTask
from ramet.model.record.effort import Effort, Outcome
from ramet.model.record.session import Session, SessionRef, TreePlace
from ramet.protocol.record.sessions import (
    BindEffort,
    FindSessions,
    FinishSession,
    GetSession,
    Heartbeat,
    ListedSession,
    SessionReply,
    StartSession,
    UpdateContextUsage,
    UpdateLoadedFiles,
)
from ramet.protocol.replies import Page
from ramet.store.hooks import hooks
from ramet.store.record import sessions
from ramet.store.record.sessions import Listing, NativeWindow, NewSession

_NEWEST = 2**63 - 1


@answers(StartSession)
def start(tx: Transaction, request: StartSession) -> SessionReply:
    """Record a context window that works on an effort."""
    return start_window(tx, request)


def start_window(tx: Transaction, request: StartSession, *, is_apart: bool = False) -> SessionReply:
    """The same. One that stands apart leaves the session that it continues at work, with its agent."""
    task_id, _ = lookup.task(tx, request.task_id)
    effort = lookup.unfinished_effort(tx, request.effort_id)
    require_same_task(task_id, effort.task_id, "effort_id", effort.id)
    known = _find_native(tx, request)
    if known is not None:
        return _resume(tx, known, effort, request)
    parent = _parent(tx, request)
    prev = _prev(tx, request, effort)
    agent_id = None if is_apart else request.agent_id or (prev.agent_id if prev else None)
    if prev is not None and prev.ended_at is None and parent is None and not is_apart:
        finish_one(tx, prev.id)
    if agent_id is not None:
        take_over(tx, agent_id, effort, parent)
    session = sessions.start(tx.db, _new(request, task_id, prev, parent, agent_id), now=tx.now, now_ms=tx.now_ms)
    tx.record("session.started", task_id=task_id, effort_id=effort.id, session_id=session.id, agent_id=agent_id)
    return reply(session)


@answers(FinishSession)
def finish(tx: Transaction, request: FinishSession) -> SessionReply:
    """End a session with what it hands to the next. A second time changes nothing."""
    session = lookup.session(tx, request.session_id)
    if session.ended_at is not None:
        return reply(session, already=True)
    session = sessions.finish(tx.db, session.id, request.dehydration_payload, request.outcome, tx.now)
    tx.record("session.ended", effort_id=session.effort_id, session_id=session.id, data={"outcome": request.outcome})
    end_subagents(tx, session.id, session.effort_id, request.outcome)
    return reply(session)


@answers(BindEffort)
def bind_effort(tx: Transaction, request: BindEffort) -> SessionReply:
    """Let a session continue with another effort of its task."""
    session = lookup.open_session(tx, request.session_id)
    effort = lookup.unfinished_effort(tx, request.effort_id)
    if session.effort_id == effort.id:
        return reply(session, already=True)
    return reply(bind(tx, session, effort))


@answers(Heartbeat)
def heartbeat(tx: Transaction, request: Heartbeat) -> SessionReply:
    """Count a sign of life."""
    session = sessions.beat(tx.db, lookup.open_session(tx, request.session_id).id, tx.now)
    tx.record("session.heartbeat", session_id=session.id)
    return reply(session)


@answers(UpdateContextUsage)
def update_context_usage(tx: Transaction, request: UpdateContextUsage) -> SessionReply:
    """Note how full the context window is."""
    session = sessions.set_context_usage(tx.db, lookup.open_session(tx, request.session_id).id, request.usage)
    tx.record("session.usage", session_id=session.id, data={"usage": request.usage})
    return reply(session)


@answers(UpdateLoadedFiles)
def update_loaded_files(tx: Transaction, request: UpdateLoadedFiles) -> SessionReply:
    """Note which files the session has in its context, each once, in the order given."""
    files = list(dict.fromkeys(request.files))
    session = sessions.set_loaded_files(tx.db, lookup.open_session(tx, request.session_id).id, files)
    tx.record("session.files", session_id=session.id, data={"count": len(files)})
    return reply(session)


@answers(GetSession)
def get(tx: Transaction, request: GetSession) -> Session:
    """A session by its id, or by its driver and native id."""
    return lookup.session(tx, request.session_id)


@answers(FindSessions)
def find_matching(tx: Transaction, request: FindSessions) -> Page[ListedSession]:
    """Sessions by task, effort, agent or project, the newest first; `next` is the cursor of those behind them."""
    limit = min(request.limit or tx.limits.page_max, tx.limits.page_max)
    listing = Listing(
        task_id=None if request.task_id is None else lookup.absolute(request.task_id, "task_id"),
        effort_id=request.effort_id,
        agent_id=request.agent_id,
        is_open=request.open,
        project_id=lookup.project_id(tx, request.project),
        archived=request.archived,
    )
    found = sessions.list_matching(tx.db, listing, before=request.cursor or _NEWEST, limit=limit + 1)
    reachable = [session for session in found[:limit] if scopes.has_session(tx, session)]
    return Page(items=reachable, next=found[limit - 1].id if len(found) > limit else None)


def bind(tx: Transaction, session: Session, effort: Effort) -> Session:
    """Let a session and its agent continue with an effort of the same task."""
    require_same_task(session.task_id, effort.task_id, "effort_id", effort.id)
    return move(tx, session, effort)


def move(tx: Transaction, session: Session, effort: Effort) -> Session:
    """Let a session continue with an effort, together with its agent and its program's sub-agents."""
    if session.agent_id is not None:
        ownership.acquire(tx, ownership.enlist(tx, session.agent_id), effort.id)
    for session_id in hooks.list_open_within(tx.db, session.id, session.effort_id):
        _move(tx, session_id, effort, None)
    return _move(tx, session.id, effort, session.agent_id)


def _move(tx: Transaction, session_id: int, effort: Effort, agent_id: str | None) -> Session:
    scope: dict[str, Any] = {"task_id": effort.task_id, "effort_id": effort.id, "session_id": session_id}
    tx.record("session.bound", **scope, agent_id=agent_id)
    return sessions.move(tx.db, session_id, effort.task_id, effort.id)


def end_all(tx: Transaction, effort_id: int, outcome: Outcome, notes: str | None) -> None:
    """End what is still open of an effort, and let its agent go."""
    for session_id in sessions.end_of_effort(tx.db, effort_id, outcome, notes, tx.now):
        tx.record("session.ended", effort_id=effort_id, session_id=session_id, data={"outcome": outcome})
    ownership.release(tx, effort_id)


def end_subagents(tx: Transaction, session_id: int, effort_id: int, outcome: Outcome) -> None:
    """With a context window, its program's sub-agents end; a child that was started separately does not."""
    for each in sessions.list_open_subagents(tx.db, session_id, effort_id):
        close(tx, each, effort_id, outcome, None)


def close(tx: Transaction, session_id: int, effort_id: int, outcome: Outcome, notes: str | None) -> None:
    """End one session that a program opened by itself, and nothing with it."""
    sessions.close(tx.db, session_id, outcome, notes, tx.now)
    data = {"outcome": outcome, **({"notes": notes} if notes else {})}
    tx.record("session.ended", effort_id=effort_id, session_id=session_id, data=data)


def note_origin(tx: Transaction, session_id: int, origin: int) -> None:
    """A session turns out to be a copy of another one, which is older."""
    if origin < session_id and sessions.set_origin(tx.db, session_id, origin):
        tx.record("session.forked", session_id=session_id, data={"forked_from_session_id": origin})


def note_title(tx: Transaction, session_id: int, title: str, *, is_given: bool) -> None:
    """What a session is called in its program, by a person or by the program itself."""
    if title and sessions.set_title(tx.db, session_id, title, is_given=is_given):
        tx.record("session.titled", session_id=session_id, data={"title": title})


def reply(session: Session, *, already: bool = False) -> SessionReply:
    """The row, and whether there was nothing left to do."""
    return SessionReply(**asdict(session), already=already)


def _find_native(tx: Transaction, request: StartSession) -> Session | None:
    if request.native_id is None:
        return None
    if request.driver is None:
        raise InvalidParams("native_id needs a driver", field="driver", fix="give the driver that the id belongs to")
    return sessions.find_native(tx.db, request.driver, request.native_id)


def _resume(tx: Transaction, known: Session, effort: Effort, request: StartSession) -> SessionReply:
    """The same context window again: open it if it had ended, and let it serve the requested effort."""
    require_same_task(known.task_id, effort.task_id, "effort_id", effort.id)
    agent_id = request.agent_id or known.agent_id
    if agent_id is not None:
        take_over(tx, agent_id, effort, _parent_of(tx, known), going_on=known)
    session = sessions.resume(tx.db, known.id, effort.id, agent_id, request.pid)
    if session != known:
        tx.record("session.resumed", effort_id=effort.id, session_id=session.id, agent_id=agent_id)
    if session.effort_id != known.effort_id:
        tx.record("session.bound", effort_id=effort.id, session_id=session.id, agent_id=agent_id)
    return reply(session, already=known.ended_at is None and session.effort_id == known.effort_id)


def _parent_of(tx: Transaction, session: Session) -> Session | None:
    return None if session.parent_session_id is None else lookup.session(tx, session.parent_session_id)


def _parent(tx: Transaction, request: StartSession) -> Session | None:
    if request.parent_session_id is None:
        return None
    return lookup.open_session(tx, request.parent_session_id, "parent_session_id")


def _prev(tx: Transaction, request: StartSession, effort: Effort) -> Session | None:
    """The session that the new one continues: the one named, else, for a root, the agent's last on this effort."""
    if request.prev_session_id is not None:
        prev = lookup.session(tx, request.prev_session_id, "prev_session_id")
        require_same_task(prev.task_id, effort.task_id, "prev_session_id", request.prev_session_id)
        return prev
    if request.agent_id is None or request.parent_session_id is not None:
        return None
    return sessions.find_last_of_agent(tx.db, request.agent_id, effort.id)


def take_over(
    tx: Transaction, agent_id: str, effort: Effort, parent: Session | None, going_on: Session | None = None
) -> None:
    """The agent holds the effort, and its earlier sessions end, except the one that continues and those above and below
    it; the start of a child ends nothing.
    """
    agent = ownership.enlist(tx, agent_id)
    if parent is not None and parent.effort_id == effort.id:
        return
    ownership.acquire(tx, agent, effort.id)
    if parent is None:
        for session_id in sessions.list_left_by_agent(tx.db, agent_id, going_on):
            finish_one(tx, session_id)


def finish_one(tx: Transaction, session_id: int) -> None:
    """End a session that hands nothing on."""
    ended = sessions.finish(tx.db, session_id, None, "success", tx.now)
    tx.record("session.ended", effort_id=ended.effort_id, session_id=session_id, data={"outcome": "success"})
    end_subagents(tx, session_id, ended.effort_id, "success")


def _new(
    request: StartSession, task_id: str, prev: Session | None, parent: Session | None, agent_id: str | None
) -> NewSession:
    return NewSession(
        task_id=task_id,
        effort_id=request.effort_id,
        place=place_in_tree(prev, parent),
        agent_id=agent_id,
        window=NativeWindow(driver=request.driver, native_id=request.native_id, pid=request.pid),
    )


def place_in_tree(prev: Session | None, parent: Session | None) -> TreePlace:
    """The place of a new session: below its parent, else that of the session that it continues. So continuing a session
    never changes its depth.
    """
    if parent is not None:
        return TreePlace(
            prev_session_id=prev.id if prev else None,
            parent_session_id=parent.id,
            root_session_id=parent.root_session_id,
            spawn_depth=parent.spawn_depth + 1,
        )
    if prev is not None:
        return TreePlace(
            prev_session_id=prev.id,
            parent_session_id=prev.parent_session_id,
            root_session_id=prev.root_session_id,
            spawn_depth=prev.spawn_depth,
        )
    return TreePlace()


def require_same_task(expected: str, actual: str, field: str, value: SessionRef) -> None:
    """Refuse a row of another task."""
    if expected != actual:
        raise WrongTask(f"{field} {value} belongs to task {actual}, not {expected}", field=field, value=value)
