"""Hand-offs: one context window ends and the next goes on at the same phase.

What the first leaves is a boundary commit on its branch, and the same fields as its session's payload: so it is read
as part of the history and found without reading it.
"""

from typing import Any

from msgspec.structs import asdict

from ramet.engine import adhoc, commands, contracts, efforts, messages, named, ownership, scopes, sessions
from ramet.engine.transaction import Transaction
from ramet.errors import InvalidParams
from ramet.model.content import SessionContent
from ramet.model.effort import Effort
from ramet.model.session import Session
from ramet.protocol.hooks import ContinueSession, HandedOff, HandOff, SessionContext
from ramet.protocol.replies import EffortDetail
from ramet.protocol.requests import GetEffort, StartSession
from ramet.store import agents
from ramet.store import messages as message_rows
from ramet.store import sessions as session_rows

_NEWEST = 2**63 - 1


def hand_off(tx: Transaction, request: HandOff) -> HandedOff:
    """End a context window with what the next one needs. Once ended, it stays as it was."""
    session = named.session(tx, request.session_id)
    scopes.require(tx, session)
    if session.ended_at is not None:
        commit = (session.dehydration_payload or {}).get("commit")
        return HandedOff(session=session, commit=commit if isinstance(commit, str) else "", already=True)
    content = SessionContent(
        session_type="handoff",
        summary=request.summary,
        decisions=request.decisions,
        failed_approaches=request.failed_approaches,
        next_steps=request.next_steps,
    )
    transcript = message_rows.find_transcript(tx.db, session.id)
    if transcript is None:
        raise named.no_session(session.id)
    (written,) = messages.write(tx, transcript, [messages.make_turn(tx.contents, content)])
    commit = written.commit.hash.hex()
    payload = _payload(tx, request, session, content) | {"commit": commit}
    ended = session_rows.finish(tx.db, session.id, payload, "success", tx.now)
    scope: dict[str, Any] = {"task_id": session.task_id, "effort_id": session.effort_id, "session_id": session.id}
    tx.record("session.handed_off", **scope, data={"commit": commit})
    tx.record("session.ended", **scope, data={"outcome": "success"})
    return HandedOff(session=ended, commit=commit)


def _payload(tx: Transaction, request: HandOff, session: Session, content: SessionContent) -> dict[str, Any]:
    """The boundary's fields, and where the work stands."""
    effort = named.effort(tx, session.effort_id)
    return {
        **asdict(content),
        "phase": effort.current_phase,
        "required_files": request.required_files or session.loaded_files or [],
        "uncommitted": request.uncommitted,
    }


def go_on(tx: Transaction, request: ContinueSession) -> SessionContext:
    """The next context window of an effort: a session behind the one that ended, at the same phase."""
    prev = _last(tx, request)
    effort = named.effort(tx, prev.effort_id)
    if request.light or adhoc.is_adhoc(effort):
        effort = adhoc.go_on(tx, effort)
    session_id = _follow(tx, request, prev, effort) or _start(tx, request, prev, effort)
    return describe(tx, named.session(tx, session_id), contract=True, uncommitted=request.uncommitted)


def _last(tx: Transaction, request: ContinueSession) -> Session:
    if request.session_id is not None:
        return named.session(tx, request.session_id)
    if request.agent_id is None and request.task_id is None:
        raise InvalidParams("say which session, agent or task goes on", field="session_id")
    task_id = None if request.task_id is None else named.absolute(request.task_id, "task_id")
    found = session_rows.list_matching(tx.db, task_id=task_id, agent_id=request.agent_id, before=_NEWEST, limit=20)
    own = [each for each in found if each.parent_session_id is None]
    if not own:
        raise named.no_session(request.agent_id or task_id or 0, "agent_id" if request.agent_id else "task_id")
    return own[0]


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


def _follow(tx: Transaction, request: ContinueSession, prev: Session, effort: Effort) -> int | None:
    """The next context window is open already, and a hook has told of it: it turns to the effort. None where it is new,
    or the same as before.
    """
    if request.driver is None or request.native_id is None:
        return None
    known = session_rows.find_native(tx.db, request.driver, request.native_id)
    if known is None or known.id == prev.id or known.ended_at is not None:
        return None
    if known.prev_session_id == prev.id:
        return known.id
    is_own = known.instance is None and known.parent_session_id is None and prev.parent_session_id is None
    if known.id < prev.id or not is_own:
        raise InvalidParams(
            f"session {known.id} cannot continue session {prev.id}",
            field="native_id",
            value=request.native_id,
            fix="only a session that somebody started by hand, and later, can; start the agent program anew",
        )
    named.unfinished_effort(tx, effort.id)
    if prev.ended_at is None:
        sessions.finish_one(tx, prev.id)
    if agents.find_holder(tx.db, effort.id) == prev.agent_id:
        ownership.release(tx, effort.id)
    commands.turn_to(tx, known, effort)
    session_rows.follow(tx.db, known.id, prev)
    return known.id


def describe(
    tx: Transaction, session: Session, *, contract: bool, uncommitted: list[str], told: str | None = None
) -> SessionContext:
    """A session, what it serves, and what it needs to know."""
    effort = named.effort(tx, session.effort_id)
    return SessionContext(
        session=session,
        effort=_detail(tx, effort),
        skill_phases=contracts.labels(contracts.find_skill(tx, effort)),
        required_files=contracts.required_files(tx, session, effort),
        dehydration_payload=contracts.payload(tx, session),
        debriefs=contracts.debriefs(tx, effort),
        context=contracts.make(tx, session, uncommitted) if contract else told,
    )


def _detail(tx: Transaction, effort: Effort) -> EffortDetail:
    return efforts.get(tx, GetEffort(effort_id=effort.id))
