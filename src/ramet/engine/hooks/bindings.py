"""Bindings: which session a hook belongs to, and when it is over.

A session that Ramet started carries its id; any other is known by its program and the program's own id, and is created
when it is first seen. None of this ends a parent, and nothing of it is refused: it has happened already.

| the event's name is               | its session is                                                              |
| --------------------------------- | --------------------------------------------------------------------------- |
| known                             | that one; if it had ended and a person is there, it continues               |
| known, and a keeper had it        | that one; for a person who opens it when the keeper is done, one behind it  |
| a sub-agent's                     | a child of its parent's; if it had ended, both continue                     |
| new, of a program that we started | the one for which we started it                                             |
| new, of a program below that one  | a child of it: its agent has started another program by itself              |
| new, after a context was emptied  | one behind the emptied one, if both serve one effort                        |
| new                               | one on the effort that its agent holds, else on a light effort of its own   |
"""

from msgspec.structs import replace

from ramet.engine.hooks import light_efforts
from ramet.engine.hooks.callers import Caller, Told
from ramet.engine.record import (
    lookup,
    ownership,
    projects,
    sessions,
    subagents,
)
from ramet.engine.transaction import Transaction
from ramet.errors import InvalidParams
from ramet.model.hooks.hook import HookEvent, Moment, Source
from ramet.model.instant import to_iso
from ramet.model.record.effort import Effort, Outcome
from ramet.model.record.project import normal_path
from ramet.model.record.session import Session, SessionRef, native_name
from ramet.protocol.hooks.hooks import HookFacts
from ramet.protocol.record.projects import UpsertProject
from ramet.protocol.record.sessions import StartSession
from ramet.store.hooks import hooks
from ramet.store.hooks import transcripts as ingest_rows
from ramet.store.hooks.hooks import Hooked
from ramet.store.record import agents
from ramet.store.record import efforts as effort_rows
from ramet.store.record import projects as project_rows
from ramet.store.record import sessions as session_rows

_WAKING: frozenset[Moment] = frozenset({"session_start", "user_prompt", "pre_tool_use"})
"""Hooks that only happen while a person or agent is there; others may come late."""
_SAME_PROCESS_MS = 60_000


class _FactsMissing(Exception):
    """The machine could name the directory and the process of a session, and has not been asked."""


class Unregistered(Exception):
    """The session is outside every registered project, and only sessions inside one are recorded."""


def bind(tx: Transaction, event: HookEvent, facts: HookFacts, caller: Caller) -> Hooked | None:
    """The session of an event, which is created if it is new; None if the machine must be asked about it first.

    Raises Unregistered, and has written nothing then.
    """
    try:
        return _bind(tx, Told(event, facts, caller))
    except _FactsMissing:
        return None


def _bind(tx: Transaction, told: Told) -> Hooked:
    event = told.event
    known = hooks.find_native(tx.db, event.vendor, native_name(event.native_id, event.agent_id))
    if known is not None and event.moment not in _WAKING:
        return known
    if event.agent_id is not None and (known is None or known.has_ended):
        return _bind_subagent(tx, told, known)
    if known is not None:
        return _bind_known(tx, told, known)
    _require_facts(told)
    started = _find_started(tx, told.caller.session)
    bound = _begin_by_hand(tx, told) if started is None else _bind_started(tx, told, started)
    return _settle_in(tx, told, bound)


def _require_facts(told: Told) -> None:
    if told.facts.project is None and told.event.cwd is not None:
        raise _FactsMissing


def _settle_in(tx: Transaction, told: Told, session_id: int) -> Hooked:
    """A session that is new to us: its transcript is read from now on, and its process is known."""
    _read_transcript(tx, session_id, told.event.transcript_path)
    _note_process(tx, session_id, told)
    _note_missed_start(tx, session_id, told, "startup")
    return subagents.must_find(tx, session_id)


def _bind_known(tx: Transaction, told: Told, known: Hooked) -> Hooked:
    """A session that had ended continues, or is open in another process; its keeper, if it has one, knows better."""
    if _is_a_persons_now(told, known):
        return _begin_behind_kept(tx, told, known)
    if told.event.moment == "session_start":
        _read_transcript(tx, known.id, told.event.transcript_path)
    is_elsewhere = told.is_opening and told.caller.pid not in (None, known.pid)
    if known.is_kept or not (known.has_ended or is_elsewhere):
        return known
    _require_facts(told)
    if told.event.agent_id is None:
        _note_process(tx, known.id, told)
        if known.has_ended or _is_in_another_process(told, known):
            _note_missed_start(tx, known.id, told, "resume")
    if known.has_ended:
        _reopen(tx, known)
    return subagents.must_find(tx, known.id)


def _is_in_another_process(told: Told, known: Hooked) -> bool:
    """Whether the machine says so: what a hook says itself may be the pid of a shell that called it."""
    return told.facts.process is not None and told.facts.process.pid != known.pid


def _reopen(tx: Transaction, known: Hooked) -> None:
    effort = light_efforts.go_on(tx, effort_rows.must_find(tx.db, known.effort_id))
    _hold_again(tx, known.agent_id, effort)
    session_rows.resume(tx.db, known.id, effort.id, known.agent_id, None)
    tx.record("session.resumed", effort_id=effort.id, session_id=known.id, agent_id=known.agent_id)


def _hold_again(tx: Transaction, agent_id: str | None, effort: Effort) -> None:
    """The agent holds the effort again, unless it holds another one by now, or another agent holds this one."""
    if agent_id is None or _find_held(tx, agent_id) is not None or agents.find_holder(tx.db, effort.id) is not None:
        return
    ownership.acquire(tx, ownership.enlist(tx, agent_id), effort.id)


def _is_a_persons_now(told: Told, known: Hooked) -> bool:
    """Whether a person has opened the context window of an agent that a keeper held, and holds no more."""
    if not (known.is_kept and known.has_ended and told.is_opening):
        return False
    return str(told.caller.session) not in (str(known.id), f"{known.driver}:{known.native_id}")


def _begin_behind_kept(tx: Transaction, told: Told, known: Hooked) -> Hooked:
    """A person continues the work of an agent of ours: in a session behind it, which the vendor's id names now. The
    transcript is read from where it was; the earlier turns stay where the keeper has put them.
    """
    _require_facts(told)
    session_rows.name_driver(tx.db, known.id, told.event.vendor, None)
    bound = _start(tx, told, light_efforts.begin_in(tx, known.task_id), known.id)
    ingest_rows.hand_on(tx.db, known.id, bound)
    return _settle_in(tx, told, bound)


def _bind_subagent(tx: Transaction, told: Told, known: Hooked | None) -> Hooked:
    """The session of a sub-agent that is new or had ended; it continues if its parent does."""
    above = _bind(tx, replace(told, event=replace(told.event, agent_id=None)))
    if known is None:
        return subagents.begin(tx, above, told.event.agent_id or "")
    return known if above.has_ended else _bind_known(tx, told, _serve_with(tx, known, above))


def _serve_with(tx: Transaction, subagent: Hooked, above: Hooked) -> Hooked:
    """A sub-agent serves what its parent serves by now."""
    if subagent.effort_id != above.effort_id:
        # It holds nothing itself, though it may have been an agent of its own before: its parent has the effort.
        session = replace(lookup.session(tx, subagent.id), agent_id=None)
        sessions.move(tx, session, effort_rows.must_find(tx.db, above.effort_id))
    return subagents.must_find(tx, subagent.id)


def _find_started(tx: Transaction, ref: SessionRef | None) -> Hooked | None:
    """The session for which the program was started, as its environment says. A number is one of this database; a
    number that it does not have names no session.
    """
    if ref is None:
        return None
    if isinstance(ref, str) and not ref.isdecimal():
        driver, _, native_id = ref.partition(":")
        return hooks.find_native(tx.db, driver, native_id)
    return hooks.find(tx.db, int(ref)) if len(str(ref)) < len(str(2**63)) else None


def _bind_started(tx: Transaction, told: Told, started: Hooked) -> int:
    """The session itself, whose name we learn here; or, if it has another name, a program that its agent started."""
    vendor = told.event.vendor
    if started.native_id is None and started.driver in (None, vendor):
        session_rows.name_driver(tx.db, started.id, vendor, told.window)
        _give_agent(tx, told, started)
        return started.id
    return subagents.begin_child(tx, started, vendor, told.window)


def _give_agent(tx: Transaction, told: Told, started: Hooked) -> None:
    """A session that waited beside another one for its agent has it now (`ContinueSession.apart`)."""
    session = lookup.session(tx, started.id)
    is_apart = session.prev_session_id is not None and session.parent_session_id is None
    if session.agent_id is None and is_apart and session.ended_at is None and not started.is_kept:
        _hold_again(tx, told.agent, effort_rows.must_find(tx.db, session.effort_id))
        session_rows.resume(tx.db, session.id, session.effort_id, told.agent, None)


def _begin_by_hand(tx: Transaction, told: Told) -> int:
    if told.caller.only_registered and not is_registered(tx, told.event, told.facts) and not _find_held(tx, told.agent):
        raise Unregistered
    prev = _find_emptied(tx, told)
    effort = _find_held(tx, told.agent) or _inherit(tx, prev) or light_efforts.begin(tx, _find_project(tx, told))
    if prev is not None and (prev.task_id != effort.task_id or prev.effort_id != effort.id):
        prev = None
    return _start(tx, told, effort, prev.id if prev else None)


def _start(tx: Transaction, told: Told, effort: Effort, prev: int | None) -> int:
    request = StartSession(
        task_id=effort.task_id,
        effort_id=effort.id,
        prev_session_id=prev,
        agent_id=told.agent,
        driver=told.event.vendor,
        native_id=told.window,
    )
    return sessions.start(tx, request).id


def _find_held(tx: Transaction, agent_id: str) -> Effort | None:
    """The effort that an agent holds, if it is not finished."""
    agent = agents.find(tx.db, agent_id)
    effort = effort_rows.find(tx.db, agent.effort_id) if agent is not None and agent.effort_id is not None else None
    return effort if effort is not None and effort.lifecycle != "finished" else None


def _find_emptied(tx: Transaction, told: Told) -> Session | None:
    """The session that a program had before it emptied its context and took another id."""
    if told.event.source != "clear" or told.pid is None:
        return None
    host = None if told.facts.process is None else told.facts.process.host
    since = to_iso(tx.now_ms - _SAME_PROCESS_MS)
    return hooks.find_last_of_process(tx.db, told.event.vendor, told.pid, host, since)


def _inherit(tx: Transaction, prev: Session | None) -> Effort | None:
    """The effort of an emptied context, which is over and leaves it to the next."""
    if prev is None:
        return None
    if prev.ended_at is None:
        end(tx, subagents.must_find(tx, prev.id))
    effort = effort_rows.must_find(tx.db, prev.effort_id)
    if effort.lifecycle == "finished" or light_efforts.is_adhoc(effort):
        return None
    ownership.release(tx, effort.id)
    return effort


def is_registered(tx: Transaction, event: HookEvent, facts: HookFacts) -> bool:
    """Whether an event is from inside a registered project, or from a worktree of one, which may be anywhere."""
    places = [normal_path(place) for place in (event.cwd, facts.project) if place is not None]
    return any(place is not None and project_rows.find_containing(tx.db, place) is not None for place in places)


def _find_project(tx: Transaction, told: Told) -> str:
    """The project that a session works in; an unregistered one is registered at the place that the disk suggests."""
    cwd = None if told.event.cwd is None else normal_path(told.event.cwd)
    around = None if cwd is None else project_rows.find_containing(tx.db, cwd)
    suggested = None if told.facts.project is None else normal_path(told.facts.project)
    if around is not None and not (told.facts.is_repository and _is_within(suggested, around.path)):
        return around.path
    if suggested is None:
        raise InvalidParams(
            "the event does not name the directory of its session",
            field="event.cwd",
            fix="give the absolute path of the directory that the agent works in",
        )
    return projects.upsert(tx, UpsertProject(path=suggested)).path


def _is_within(path: str | None, folder: str) -> bool:
    """Whether a repository lies deeper than a project: a home, taken for one once, is not that of all that is there."""
    return path is not None and path.startswith(f"{folder.rstrip('/')}/")


def _read_transcript(tx: Transaction, session_id: int, path: str | None) -> None:
    """From now on a session's transcript is read."""
    if path and "\0" not in path and ingest_rows.begin(tx.db, path, session_id, tx.now):
        tx.record("session.ingested", session_id=session_id, data={"path": path, "offset": 0, "added": 0})


def _note_missed_start(tx: Transaction, session_id: int, told: Told, source: Source) -> None:
    """A window that we first see when it is open already: no daemon heard its start, and its agent was told nothing."""
    if told.event.moment != "session_start" and told.event.agent_id is None:
        hooks.miss_start(tx.db, session_id, told.event.source or source)


def _note_process(tx: Transaction, session_id: int, told: Told) -> None:
    """In which process a session is open."""
    if told.pid is not None:
        hooks.set_process(tx.db, session_id, told.pid, told.facts.process)


def end(tx: Transaction, hooked: Hooked) -> None:
    """A program says that a context window is closed; one that has handed off had ended before."""
    _end(tx, hooked, "success", None)


def end_vanished(tx: Transaction, hooked: Hooked) -> None:
    """A program is gone and did not report that it closed its context window. Not every program does: what counts is
    whether it had answered.
    """
    is_amid = hooks.is_amid_turn(tx.db, hooked.id)
    notes = f"process {hooked.pid} disappeared{' in the middle of a turn' if is_amid else ''}"
    _end(tx, hooked, "error" if is_amid else "success", notes)


def _end(tx: Transaction, hooked: Hooked, outcome: Outcome, notes: str | None) -> None:
    """With a program all that it has started is over, and an effort that was only there for it."""
    for session_id in hooks.list_open_within(tx.db, hooked.id, hooked.effort_id):
        sessions.close(tx, session_id, hooked.effort_id, outcome, notes)
    if not hooked.has_ended:
        sessions.close(tx, hooked.id, hooked.effort_id, outcome, notes)
    light_efforts.close(tx, hooked.effort_id, outcome)
