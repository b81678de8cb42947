"""Hand-offs: one context window ends and the next continues at the same phase.

The first leaves a boundary commit on its branch, and the same fields as its session's payload: so they are read as part
of the history and found without reading it.
"""

from typing import Any

from msgspec.structs import asdict

from ramet.engine.answers import answers
from ramet.engine.hooks import effort_starts, light_efforts, resume_contracts
from ramet.engine.record import (
    budgets,
    efforts,
    lookup,
    messages,
    ownership,
    sessions,
)
from ramet.engine.transaction import Transaction
from ramet.errors import InvalidParams, SessionNotFound
from ramet.model.history.content import SessionContent
from ramet.model.record.effort import Effort
from ramet.model.record.session import Session
from ramet.protocol.hooks.handoffs import ContinueSession, HandedOff, HandOff
from ramet.protocol.hooks.moments import SessionContext
from ramet.protocol.record.efforts import EffortDetail, GetEffort
from ramet.protocol.record.sessions import StartSession
from ramet.store.record import agents
from ramet.store.record import messages as message_rows
from ramet.store.record import sessions as session_rows


@answers(HandOff)
def hand_off(tx: Transaction, request: HandOff) -> HandedOff:
    """End a context window with what the next one needs. Once ended, it stays as it was."""
    session = lookup.session(tx, request.session_id)
    if session.ended_at is not None:
        commit = (session.dehydration_payload or {}).get("commit")
        return HandedOff(session=session, commit=commit if isinstance(commit, str) else None, already=True)
    content = SessionContent(
        session_type="handoff",
        summary=request.summary,
        decisions=request.decisions,
        failed_approaches=request.failed_approaches,
        next_steps=request.next_steps,
    )
    transcript = message_rows.find_transcript(tx.db, session.id)
    if transcript is None:
        raise lookup.no_session(session.id)
    (written,) = messages.write(tx, transcript, [messages.make_turn(tx.contents, content)])
    commit = written.commit.hash.hex()
    payload = _payload(tx, request, session, content) | {"commit": commit}
    ended = session_rows.finish(tx.db, session.id, payload, "success", tx.now)
    scope: dict[str, Any] = {"task_id": session.task_id, "effort_id": session.effort_id, "session_id": session.id}
    tx.record("session.handed_off", **scope, data={"commit": commit})
    tx.record("session.ended", **scope, data={"outcome": "success"})
    sessions.end_subagents(tx, session.id, session.effort_id, "success")
    return HandedOff(session=ended, commit=commit)


def _payload(tx: Transaction, request: HandOff, session: Session, content: SessionContent) -> dict[str, Any]:
    """The boundary's fields, and the state of the work."""
    effort = lookup.effort(tx, session.effort_id)
    return {
        **asdict(content),
        "phase": effort.current_phase,
        "required_files": request.required_files or session.loaded_files or [],
        "uncommitted": request.uncommitted,
    }


@answers(ContinueSession)
def go_on(tx: Transaction, request: ContinueSession) -> SessionContext:
    """The next context window of an effort: a session behind the one that ended, at the same phase."""
    prev = _last(tx, request)
    effort = lookup.effort(tx, prev.effort_id)
    if request.apart and prev.ended_at is None and light_efforts.is_adhoc(effort):
        session_id = _start_apart(tx, request, prev)
    else:
        if request.light or light_efforts.is_adhoc(effort):
            effort = light_efforts.go_on(tx, effort)
        session_id = _follow(tx, request, prev, effort) or _start(tx, request, prev, effort)
    return describe(tx, lookup.session(tx, session_id), contract=True, uncommitted=request.uncommitted)


def _last(tx: Transaction, request: ContinueSession) -> Session:
    if request.session_id is not None:
        return lookup.session(tx, request.session_id)
    if request.agent_id is None and request.task_id is None:
        raise InvalidParams(
            "name the session, the agent or the task to continue",
            field="session_id",
            fix="give one of: session_id, agent_id, task_id",
        )
    task_id = None if request.task_id is None else lookup.absolute(request.task_id, "task_id")
    last = session_rows.find_last_root(tx.db, task_id=task_id, agent_id=request.agent_id)
    if last is None:
        raise _nothing_to_go_on_with(request.agent_id, task_id)
    return last


def _nothing_to_go_on_with(agent_id: str | None, task_id: str | None) -> SessionNotFound:
    whose = [f"of agent {agent_id!r}"] if agent_id else []
    whose += [f"in task {task_id!r}"] if task_id else []
    field, value = ("agent_id", agent_id) if agent_id else ("task_id", task_id)
    return SessionNotFound(f"there is no session {' '.join(whose)}", field=field, value=value)


def _start(tx: Transaction, request: ContinueSession, prev: Session, effort: Effort) -> int:
    start = StartSession(
        task_id=prev.task_id,
        effort_id=effort.id,
        pid=request.pid,
        prev_session_id=prev.id,
        agent_id=request.agent_id or prev.agent_id,
        driver=request.driver,
        native_id=request.native_id,
    )
    return sessions.start(tx, start).id


def _start_apart(tx: Transaction, request: ContinueSession, prev: Session) -> int:
    """A session beside one that is still at work."""
    effort = light_efforts.begin_in(tx, prev.task_id)
    start = StartSession(task_id=prev.task_id, effort_id=effort.id, prev_session_id=prev.id, driver=request.driver)
    return sessions.start_window(tx, start, is_apart=True).id


def _follow(tx: Transaction, request: ContinueSession, prev: Session, effort: Effort) -> int | None:
    """The next context window is open already, and a hook has reported it: it turns to the effort. None if it is new,
    or the same as before.
    """
    if request.driver is None or request.native_id is None:
        return None
    known = session_rows.find_native(tx.db, request.driver, request.native_id)
    if known is None or known.id == prev.id or known.ended_at is not None:
        return None
    if known.prev_session_id == prev.id:
        return known.id
    if not _can_follow(known, prev):
        raise InvalidParams(
            f"session {known.id} cannot continue session {prev.id}",
            field="native_id",
            value=request.native_id,
            fix="start the agent program again; only a later session that a person started, and that continues no "
            "other session, can continue this one",
        )
    lookup.unfinished_effort(tx, effort.id)
    if prev.ended_at is None:
        sessions.finish_one(tx, prev.id)
    if agents.find_holder(tx.db, effort.id) == prev.agent_id:
        ownership.release(tx, effort.id)
    effort_starts.turn_to(tx, known, effort)
    budgets.follow(tx, known, prev)
    data = {"prev_session_id": prev.id, "root_session_id": prev.root_session_id}
    tx.record("session.continued", task_id=effort.task_id, effort_id=effort.id, session_id=known.id, data=data)
    return known.id


def _can_follow(known: Session, prev: Session) -> bool:
    """Both are roots, the later one of a tree of its own that no keeper holds."""
    is_root = known.root_session_id == known.id and prev.parent_session_id is None
    return is_root and known.instance is None and known.id > prev.id


def describe(
    tx: Transaction, session: Session, *, contract: bool, uncommitted: list[str], told: str | None = None
) -> SessionContext:
    """A session, what it serves, and what it needs to know."""
    effort = lookup.effort(tx, session.effort_id)
    return SessionContext(
        session=session,
        effort=_detail(tx, effort),
        skill_phases=resume_contracts.labels(resume_contracts.find_skill(tx, effort)),
        required_files=resume_contracts.required_files(tx, session, effort),
        dehydration_payload=resume_contracts.payload(tx, session),
        debriefs=resume_contracts.debriefs(tx, effort),
        context=resume_contracts.make(tx, session, uncommitted) if contract else told,
    )


def _detail(tx: Transaction, effort: Effort) -> EffortDetail:
    return efforts.get(tx, GetEffort(effort_id=effort.id))
