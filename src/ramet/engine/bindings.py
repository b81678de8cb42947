"""Bindings: which session a hook belongs to, and when it is over.

A session that Ramet started carries its id; any other is known by its program and the program's own id, and is made
when it is first seen: on the effort that its agent holds, else on a light effort of its own. A vendor's sub-agent, and
a program that an agent started by itself, are children of the session they come from; none of this ends a parent, and
nothing of it is refused: it has happened already.
"""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ramet.engine import adhoc, named, ownership, projects, sessions
from ramet.engine.transaction import Transaction
from ramet.errors import InvalidParams
from ramet.model.effort import Effort, Outcome
from ramet.model.hook import HookEvent, Moment
from ramet.model.instant import to_iso
from ramet.model.project import normal_path
from ramet.model.session import Session, SessionRef
from ramet.protocol.hooks import HookFacts
from ramet.protocol.requests import StartSession, UpsertProject
from ramet.store import agents, hooks
from ramet.store import efforts as effort_rows
from ramet.store import ingests as ingest_rows
from ramet.store import projects as project_rows
from ramet.store import sessions as session_rows
from ramet.store.hooks import Hooked
from ramet.store.sessions import NewSession

_LONGEST_ID = 200
_WAKING: frozenset[Moment] = frozenset({"session_start", "user_prompt", "pre_tool_use"})
"""What only somebody who is there does; other hooks may come late."""
_OPENING: frozenset[Moment] = frozenset({"session_start", "user_prompt"})
"""When a session may be open in another process than before."""
_SAME_PROCESS_MS = 60_000


class Caller(Struct, frozen=True, kw_only=True):
    """What the environment of a program says about it."""

    session: SessionRef | None = None
    agent: str | None = None
    pid: int | None = None


def bind(tx: Transaction, event: HookEvent, facts: HookFacts, caller: Caller) -> Hooked | None:
    """The session of an event, which is made where it is new; None where the machine has to be asked about it first."""
    known = hooks.find_native(tx.db, event.vendor, native_name(event.native_id, event.agent_id))
    if known is not None and event.moment not in _WAKING:
        return known
    if event.agent_id is not None and (known is None or known.has_ended):
        above = bind(tx, replace(event, agent_id=None), facts, caller)
        return above and _bind_subagent(tx, above, known, event, facts, caller)
    if known is not None:
        return _wake(tx, known, event, facts, caller)
    if _is_asked_first(event, facts):
        return None
    started = None if caller.session is None else _started(tx, caller.session)
    bound = _begin(tx, event, facts, caller) if started is None else _bind_started(tx, started, event)
    _read_transcript(tx, bound, event.transcript_path)
    _note_process(tx, bound, facts, caller)
    return must_find(tx, bound)


def _is_asked_first(event: HookEvent, facts: HookFacts) -> bool:
    """Whether the machine could say where and in which process the session is, and has not been asked."""
    return facts.project is None and event.cwd is not None


def native_name(native_id: str, agent_id: str | None) -> str:
    """By which name a context window goes with its driver; a sub-agent's is inside its parent's."""
    name = native_id if agent_id is None else f"{native_id}/{agent_id}"
    return name.replace("\0", "")[:_LONGEST_ID]


def must_find(tx: Transaction, session_id: int) -> Hooked:
    """A session that is known to be there, as a hook sees it."""
    found = hooks.find(tx.db, session_id)
    if found is None:
        raise named.no_session(session_id)
    return found


def begin_subagent(tx: Transaction, above: Hooked, agent_id: str) -> Hooked:
    """The session of a vendor's own sub-agent, which is made where it is new."""
    native_id = native_name(above.native_id or f"session-{above.id}", agent_id)
    driver = above.driver or "unknown"
    known = hooks.find_native(tx.db, driver, native_id)
    if known is not None:
        return known
    child = must_find(tx, _begin_child(tx, above, driver, native_id))
    outcome = named.session(tx, above.id).outcome
    if outcome is not None:  # we hear of it only now that all of it is over
        close(tx, child, outcome, None)
    return must_find(tx, child.id)


def _bind_subagent(
    tx: Transaction, above: Hooked, known: Hooked | None, event: HookEvent, facts: HookFacts, caller: Caller
) -> Hooked | None:
    """The session of a sub-agent that is new or had ended; it goes on where its parent does."""
    if known is None:
        return begin_subagent(tx, above, event.agent_id or "")
    return known if above.has_ended else _wake(tx, _follow(tx, known, above), event, facts, caller)


def _follow(tx: Transaction, subagent: Hooked, above: Hooked) -> Hooked:
    """A sub-agent serves what its parent serves by now."""
    if subagent.effort_id != above.effort_id:
        sessions.move(tx, named.session(tx, subagent.id), effort_rows.must_find(tx.db, above.effort_id))
    return must_find(tx, subagent.id)


def _begin_child(tx: Transaction, above: Hooked, driver: str, native_id: str) -> int:
    """A session below another one, which serves the same effort."""
    parent = named.session(tx, above.id)
    new = NewSession(
        task_id=parent.task_id,
        effort_id=parent.effort_id,
        **sessions.place_in_tree(None, parent),
        agent_id=None,
        driver=driver,
        native_id=native_id,
        pid=None,
    )
    session = session_rows.start(tx.db, new, now=tx.now, now_ms=tx.now_ms)
    scope: dict[str, Any] = {"task_id": session.task_id, "effort_id": session.effort_id, "session_id": session.id}
    data = {"parent_session_id": parent.id, "spawn_depth": session.spawn_depth}
    tx.record("session.spawned", **scope, data=data)
    tx.record("session.started", **scope, data=data)
    return session.id


def _started(tx: Transaction, ref: SessionRef) -> Hooked | None:
    """The session for which the program was started; an id from another database names nobody."""
    if isinstance(ref, str) and not ref.isdecimal():
        driver, _, native_id = ref.partition(":")
        return hooks.find_native(tx.db, driver, native_id)
    return hooks.find(tx.db, int(ref)) if len(str(ref)) < len(str(2**63)) else None


def _bind_started(tx: Transaction, started: Hooked, event: HookEvent) -> int:
    """The session itself, whose name we learn here; or, where it goes by another, a program that its agent started."""
    native_id = native_name(event.native_id, None)
    if started.native_id is None and started.driver in (None, event.vendor):
        session_rows.name_driver(tx.db, started.id, event.vendor, native_id)
        return started.id
    return _begin_child(tx, started, event.vendor, native_id)


def _begin(tx: Transaction, event: HookEvent, facts: HookFacts, caller: Caller) -> int:
    """A session that somebody started by hand."""
    prev = _find_cleared(tx, event, facts, caller)
    effort = _held(tx, _agent(event, caller)) or _take_over(tx, prev) or adhoc.begin(tx, _project(tx, event, facts))
    if prev is not None and (prev.task_id != effort.task_id or prev.effort_id != effort.id):
        prev = None
    return _start(tx, event, caller, effort, prev.id if prev else None)


def _start(tx: Transaction, event: HookEvent, caller: Caller, effort: Effort, prev: int | None) -> int:
    request = StartSession(
        task_id=effort.task_id,
        effort_id=effort.id,
        prev_session_id=prev,
        agent_id=_agent(event, caller),
        driver=event.vendor,
        native_id=native_name(event.native_id, None),
    )
    return sessions.start(tx, request).id


def _agent(event: HookEvent, caller: Caller) -> str:
    return caller.agent or f"{event.vendor}:{native_name(event.native_id, None)}"[:_LONGEST_ID]


def _read_transcript(tx: Transaction, session_id: int, path: str | None) -> None:
    """From now on a session's transcript is read."""
    if path and "\0" not in path and ingest_rows.begin(tx.db, path, session_id, tx.now):
        tx.record("session.ingested", session_id=session_id, data={"path": path, "offset": 0, "added": 0})


def _note_process(tx: Transaction, session_id: int, facts: HookFacts, caller: Caller) -> None:
    """In which process a session is open."""
    pid = _pid(facts, caller)
    if pid is not None:
        hooks.set_process(tx.db, session_id, pid, facts.process)


def _pid(facts: HookFacts, caller: Caller) -> int | None:
    """A program may call its hooks through others; the machine knows which of them it is."""
    return caller.pid if facts.process is None else facts.process.pid


def _find_cleared(tx: Transaction, event: HookEvent, facts: HookFacts, caller: Caller) -> Session | None:
    """The session that a program had before it emptied its context and took another id."""
    pid = _pid(facts, caller)
    if event.source != "clear" or pid is None:
        return None
    host = None if facts.process is None else facts.process.host
    return hooks.find_last_of_process(tx.db, event.vendor, pid, host, to_iso(tx.now_ms - _SAME_PROCESS_MS))


def _held(tx: Transaction, agent_id: str) -> Effort | None:
    agent = agents.find(tx.db, agent_id)
    effort = effort_rows.find(tx.db, agent.effort_id) if agent is not None and agent.effort_id is not None else None
    return effort if effort is not None and effort.lifecycle != "finished" else None


def _take_over(tx: Transaction, prev: Session | None) -> Effort | None:
    """The effort of an emptied context, which is over and leaves it to the next."""
    if prev is None:
        return None
    if prev.ended_at is None:
        end(tx, must_find(tx, prev.id))
    effort = effort_rows.must_find(tx.db, prev.effort_id)
    if effort.lifecycle == "finished" or adhoc.is_adhoc(effort):
        return None
    ownership.release(tx, effort.id)
    return effort


def _project(tx: Transaction, event: HookEvent, facts: HookFacts) -> str:
    """The project that a session works in; one that nobody registered is, at the place that the disk suggests."""
    cwd = None if event.cwd is None else normal_path(event.cwd)
    around = None if cwd is None else project_rows.find_containing(tx.db, cwd)
    suggested = None if facts.project is None else normal_path(facts.project)
    if around is not None and not (facts.is_repository and _is_within(suggested, around.path)):
        return around.path
    if suggested is None:
        raise InvalidParams("the event does not say where its session works", field="event.cwd")
    return projects.upsert(tx, UpsertProject(path=suggested)).path


def _is_within(path: str | None, folder: str) -> bool:
    """Whether a repository lies deeper than a project: a home, taken for one once, is not that of all that is there."""
    return path is not None and path.startswith(f"{folder.rstrip('/')}/")


def _wake(tx: Transaction, known: Hooked, event: HookEvent, facts: HookFacts, caller: Caller) -> Hooked | None:
    """A session that had ended goes on, or is open in another process; its keeper, where it has one, knows better."""
    if _is_by_hand(known, event, caller):
        return _take_up(tx, known, event, facts, caller)
    if event.moment == "session_start":
        _read_transcript(tx, known.id, event.transcript_path)
    is_elsewhere = event.agent_id is None and event.moment in _OPENING and caller.pid not in (None, known.pid)
    if known.is_kept or not (known.has_ended or is_elsewhere):
        return known
    if _is_asked_first(event, facts):
        return None
    if event.agent_id is None:
        _note_process(tx, known.id, facts, caller)
    if known.has_ended:
        effort = adhoc.go_on(tx, effort_rows.must_find(tx.db, known.effort_id))
        _hold(tx, known.agent_id, effort)
        session_rows.resume(tx.db, known.id, effort.id, known.agent_id, None)
        tx.record("session.resumed", effort_id=effort.id, session_id=known.id, agent_id=known.agent_id)
    return must_find(tx, known.id)


def _is_by_hand(known: Hooked, event: HookEvent, caller: Caller) -> bool:
    """Whether a person has opened the context window of an agent that a keeper held, and holds no more."""
    if not (known.is_kept and known.has_ended and event.agent_id is None and event.moment in _OPENING):
        return False
    return str(caller.session) not in (str(known.id), f"{known.driver}:{known.native_id}")


def _take_up(tx: Transaction, known: Hooked, event: HookEvent, facts: HookFacts, caller: Caller) -> Hooked | None:
    """A person goes on with what an agent of ours began: in a session behind it, which the vendor's id names now. The
    transcript is read from where it was; what was said before stands where the keeper has put it.
    """
    if _is_asked_first(event, facts):
        return None
    session_rows.name_driver(tx.db, known.id, event.vendor, None)
    bound = _start(tx, event, caller, adhoc.begin_in(tx, known.task_id), known.id)
    ingest_rows.hand_on(tx.db, known.id, bound)
    _read_transcript(tx, bound, event.transcript_path)
    _note_process(tx, bound, facts, caller)
    return must_find(tx, bound)


def _hold(tx: Transaction, agent_id: str | None, effort: Effort) -> None:
    """The agent holds the effort again, unless it, or somebody else, has taken another hold meanwhile."""
    if agent_id is None or _held(tx, agent_id) is not None or agents.find_holder(tx.db, effort.id) is not None:
        return
    ownership.acquire(tx, ownership.enlist(tx, agent_id), effort.id)


def end(tx: Transaction, hooked: Hooked) -> None:
    """A program says that a context window is closed."""
    _end(tx, hooked, "success", None)


def end_vanished(tx: Transaction, hooked: Hooked) -> None:
    """A program is gone, and nobody has heard that it closed its context window. Not every program says so: what counts
    is whether it had answered.
    """
    is_amid = hooks.is_amid_turn(tx.db, hooked.id)
    notes = f"ended without a word{' in the middle of a turn' if is_amid else ''}: process {hooked.pid} is gone"
    _end(tx, hooked, "error" if is_amid else "success", notes)


def _end(tx: Transaction, hooked: Hooked, outcome: Outcome, notes: str | None) -> None:
    """With a context window those of its sub-agents are over, and an effort that was only there for it."""
    for session_id in hooks.list_open_within(tx.db, hooked.id, hooked.effort_id):
        close(tx, must_find(tx, session_id), outcome, notes)
    close(tx, hooked, outcome, notes)
    adhoc.close(tx, hooked.effort_id, outcome)


def close(tx: Transaction, hooked: Hooked, outcome: Outcome, notes: str | None) -> None:
    """End one session, and nothing with it."""
    session_rows.close(tx.db, hooked.id, outcome, notes, tx.now)
    data = {"outcome": outcome, **({"notes": notes} if notes else {})}
    tx.record("session.ended", effort_id=hooked.effort_id, session_id=hooked.id, data=data)
