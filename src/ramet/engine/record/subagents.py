"""Sub-agents: the sessions of agents that a program runs inside one of its own sessions.

A sub-agent is a child session that serves its parent's effort. Its name is inside its parent's name, so whoever tells
of it first, a hook, a transcript or the stream of an agent that Ramet runs, creates the session, and the others find
it.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ramet.engine.record import lookup, messages, sessions
from ramet.engine.record.messages import Turn
from ramet.engine.transaction import Transaction
from ramet.model.record.session import native_name
from ramet.model.work.stream import End, in_flight
from ramet.store.hooks import hooks, transcripts
from ramet.store.hooks.hooks import Hooked
from ramet.store.record import messages as message_rows
from ramet.store.record import sessions as session_rows
from ramet.store.record.sessions import NativeWindow, NewSession


def must_find(tx: Transaction, session_id: int) -> Hooked:
    """A session that is known to be there, as a hook sees it."""
    found = hooks.find(tx.db, session_id)
    if found is None:
        raise lookup.no_session(session_id)
    return found


def begin(tx: Transaction, above: Hooked, agent_id: str) -> Hooked:
    """The session of a vendor's own sub-agent, which is created if it is new."""
    native_id = native_name(above.native_id or f"session-{above.id}", agent_id)
    driver = above.driver or "unknown"
    known = hooks.find_native(tx.db, driver, native_id)
    if known is not None:
        return known
    child = must_find(tx, begin_child(tx, above, driver, native_id))
    outcome = lookup.session(tx, above.id).outcome
    if outcome is not None:  # we hear of it only now that all of it is over
        sessions.close(tx, child.id, child.effort_id, outcome, None)
    return must_find(tx, child.id)


def report(tx: Transaction, child: Hooked, turns: Sequence[Turn], events: Sequence[Struct]) -> None:
    """What the stream of the agent above has told of a sub-agent. If its transcript has told of it first, that goes on
    to tell what is said.
    """
    author = child.agent_id or f"{child.driver}:{child.native_id}"
    transcript = message_rows.find_transcript(tx.db, child.id)
    if transcript is None:
        raise lookup.no_session(child.id)
    if not transcripts.find_sources(tx.db, child.id).has_transcript:
        messages.write(tx, replace(transcript, agent_id=author), turns)
    end = next((event for event in reversed(events) if isinstance(event, End)), None)
    if end is None:
        _beat(tx, child, in_flight(child.tools_in_flight, events), len(turns))
    elif not child.has_ended:
        sessions.close(tx, child.id, child.effort_id, end.outcome, end.reason)


def _beat(tx: Transaction, child: Hooked, tools: list[str], turns: int) -> None:
    """A sign of life; a sub-agent that has ended and is asked again goes on."""
    if child.has_ended:
        session_rows.resume(tx.db, child.id, child.effort_id, child.agent_id, None)
        tx.record("session.resumed", effort_id=child.effort_id, session_id=child.id)
    hooks.beat(tx.db, child.id, tx.now, calls=0, tools=tools, permission=child.permission_tool)
    tx.record("session.reported", effort_id=child.effort_id, session_id=child.id, data={"messages": turns})


def begin_child(tx: Transaction, above: Hooked, driver: str, native_id: str) -> int:
    """A session below another one, which serves the same effort."""
    parent = lookup.session(tx, above.id)
    new = NewSession(
        task_id=parent.task_id,
        effort_id=parent.effort_id,
        place=sessions.place_in_tree(None, parent),
        window=NativeWindow(driver=driver, native_id=native_id),
    )
    session = session_rows.start(tx.db, new, now=tx.now, now_ms=tx.now_ms)
    scope: dict[str, Any] = {"task_id": session.task_id, "effort_id": session.effort_id, "session_id": session.id}
    data = {"parent_session_id": parent.id, "spawn_depth": session.spawn_depth}
    tx.record("session.spawned", **scope, data=data)
    tx.record("session.started", **scope, data=data)
    return session.id
