"""Hooks: what agent programs report while they work, each moment one function.

`record` is the path that every vendor's events take. The others are the same moments for callers that name a session
and have no vendor's event: they find the session, perform the moment, and answer in their own words.
"""

from typing import Any, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ramet.engine.answers import answers, prepares
from ramet.engine.contents import Contents, Prepared
from ramet.engine.hooks import bindings, handoffs, reactions
from ramet.engine.hooks.callers import Caller
from ramet.engine.record import agents, lookup, session_usage, sessions, subagents
from ramet.engine.transaction import Transaction
from ramet.errors import InvalidParams
from ramet.model.hooks.hook import HookAnswer, HookEvent, Moment
from ramet.model.record.session import SessionRef
from ramet.protocol.hooks.hooks import HookFacts, HookReply, Injected, NoteInjected, RecordHook
from ramet.protocol.hooks.moments import (
    Fleet,
    HookFleetStart,
    HookNoted,
    HookNotification,
    HookPermissionRequest,
    HookPostToolUse,
    HookPostToolUseFailure,
    HookPreCompact,
    HookPreToolUse,
    HookSessionEnd,
    HookSessionStart,
    HookStop,
    HookSubagentStart,
    HookSubagentStop,
    HookTaskCompleted,
    HookTeammateIdle,
    HookUserPrompt,
    PromptNoted,
    SessionContext,
    ToolNoted,
    Verdict,
)
from ramet.protocol.hooks.processes import ListProcesses, OpenProcesses, Vanish
from ramet.protocol.record.agents import RegisterAgent
from ramet.protocol.record.sessions import StartSession
from ramet.store.hooks import hooks as rows
from ramet.store.hooks.hooks import Hooked
from ramet.store.record import agents as agent_rows
from ramet.store.record import sessions as session_rows

AnyHook = TypeVar("AnyHook", bound=RecordHook | HookUserPrompt)

_BY_HAND = "unknown"
"""The vendor of a session for which none was named."""


class Prompted(Struct, Generic[AnyHook], frozen=True):
    """A hook that may tell what a person said, and that, ready to be written."""

    request: AnyHook
    prompt: Prepared | None


@prepares(RecordHook)
@prepares(HookUserPrompt)
def prepare(request: AnyHook, contents: Contents) -> Prompted[AnyHook]:
    """What needs no transaction: redact, hash and compress a prompt."""
    said = request.event.prompt if isinstance(request, RecordHook) else request.prompt
    return Prompted(request, contents.prepare(said) if said else None)


@answers(RecordHook)
def record(tx: Transaction, prepared: Prompted[RecordHook]) -> HookReply:
    """An event of a vendor's program: its session is found or made, and the moment happens."""
    request, event = prepared.request, prepared.request.event
    if not event.native_id:
        return _note_unbound(tx, request)
    caller = Caller(
        session=request.session, agent=request.agent, pid=request.pid, only_registered=request.only_registered
    )
    try:
        hooked = bindings.bind(tx, event, request.facts, caller)
    except bindings.Unregistered:
        return HookReply(answer=HookAnswer(), session_id=None, is_ignored=True)
    if hooked is None or reactions.wants_start_facts(hooked, event, request.facts):
        return HookReply(answer=HookAnswer(), session_id=None, wants_facts=True)
    if tx.asker is not None:
        lookup.session(tx, hooked.id)  # which refuses an agent that tells the hook of another one
    answer = reactions.happen(tx, hooked, event, request.facts, prepared.prompt)
    return HookReply(answer=answer, session_id=hooked.id, wants_ingest=reactions.wants_ingest(hooked, event))


def _note_unbound(tx: Transaction, request: RecordHook) -> HookReply:
    """An event that says too little to know its session by; that it came is written down."""
    is_ignored = request.only_registered and not bindings.is_registered(tx, request.event, request.facts)
    if not is_ignored:
        reactions.note_event(tx, request.event, None)
    return HookReply(answer=HookAnswer(), session_id=None, is_ignored=is_ignored)


@answers(HookSessionStart)
def session_start(tx: Transaction, request: HookSessionStart) -> SessionContext:
    """A context window opens: the session that is named, or the one that a vendor names, or the agent's."""
    hooked = _open(tx, request)
    event = HookEvent(
        vendor=hooked.driver or _BY_HAND,
        moment="session_start",
        name="sessionStart",
        native_id=hooked.native_id or "",
        source=request.source,
    )
    answer = reactions.happen(tx, hooked, event, request.facts)
    session = lookup.session(tx, hooked.id)
    return handoffs.describe(tx, session, contract=False, uncommitted=request.facts.uncommitted, told=answer.context)


def _open(tx: Transaction, request: HookSessionStart) -> Hooked:
    if request.session_id is not None:
        return _find(tx, request.session_id)
    if request.native_id is None or request.driver is None:
        return _open_for_agent(tx, request)
    event = HookEvent(
        vendor=request.driver,
        moment="session_start",
        name="sessionStart",
        native_id=request.native_id,
        cwd=request.cwd,
        source=request.source,
        transcript_path=request.transcript_path,
    )
    # Nobody asks the disk for this caller: where it works is the project.
    facts = replace(request.facts, project=request.facts.project or request.cwd)
    hooked = bindings.bind(tx, event, facts, Caller(agent=request.agent_id, pid=request.pid))
    assert hooked is not None  # noqa: S101
    return hooked


def _open_for_agent(tx: Transaction, request: HookSessionStart) -> Hooked:
    """An agent that gives only its name continues the effort that it holds."""
    agent = None if request.agent_id is None else agent_rows.find(tx.db, request.agent_id)
    if agent is None or agent.effort_id is None:
        raise InvalidParams(
            "the event names no session",
            field="agent_id",
            value=request.agent_id,
            fix="give session_id, or driver, native_id and cwd, or an agent that holds an effort",
        )
    last = session_rows.find_last_of_agent(tx.db, agent.id, agent.effort_id)
    if last is not None and last.ended_at is None:
        return subagents.must_find(tx, last.id)
    effort = lookup.unfinished_effort(tx, agent.effort_id)
    start = StartSession(task_id=effort.task_id, effort_id=effort.id, pid=request.pid, agent_id=agent.id)
    return subagents.must_find(tx, sessions.start(tx, start).id)


@answers(HookSessionEnd)
def session_end(tx: Transaction, request: HookSessionEnd) -> HookNoted:
    """A context window closes."""
    return _note(tx, request.session_id, "session_end", reason=request.reason)


@answers(HookPreToolUse)
def pre_tool_use(tx: Transaction, request: HookPreToolUse) -> Verdict:
    """A tool is about to be used."""
    answer = _tool(tx, request, "pre_tool_use", facts=request.facts)
    return Verdict(allow=not answer.is_blocked, block=answer.is_blocked, reason=answer.reason, injection=answer.context)


@answers(HookPostToolUse)
def post_tool_use(tx: Transaction, request: HookPostToolUse) -> ToolNoted:
    """A tool was used."""
    answer = _tool(tx, request, "post_tool_use", facts=request.facts)
    session = lookup.session(tx, request.session_id)
    return ToolNoted(injections=[answer.context] if answer.context else [], session=session)


@answers(HookPostToolUseFailure)
def post_tool_use_failure(tx: Transaction, request: HookPostToolUseFailure) -> HookNoted:
    """A tool failed."""
    _tool(tx, request, "post_tool_use_failure")
    return HookNoted(session_id=_find(tx, request.session_id).id)


@answers(HookUserPrompt)
def user_prompt(tx: Transaction, prepared: Prompted[HookUserPrompt]) -> PromptNoted:
    """A person said something."""
    hooked = _find(tx, prepared.request.session_id)
    event = _event(hooked, "user_prompt", prompt_id=prepared.request.prompt_id)
    reactions.happen(tx, hooked, event, HookFacts(), prepared.prompt)
    newest = rows.find_newest_prompt(tx.db, hooked.id)
    return PromptNoted(session_id=hooked.id, message_id=newest[0] if newest else None)


@answers(HookPreCompact)
def pre_compact(tx: Transaction, request: HookPreCompact) -> HookNoted:
    """A context is about to be compacted."""
    return _note(tx, request.session_id, "pre_compact")


@answers(HookPermissionRequest)
def permission_request(tx: Transaction, request: HookPermissionRequest) -> HookNoted:
    """An agent waits for permission."""
    return _note(tx, request.session_id, "permission_request", tool=request.tool, tool_input=request.args)


@answers(HookNotification)
def notification(tx: Transaction, request: HookNotification) -> HookNoted:
    """A program has something to tell its user."""
    return _note(tx, request.session_id, "notification", text=request.text)


@answers(HookStop)
def stop(tx: Transaction, request: HookStop) -> HookNoted:
    """An agent has answered and waits."""
    return _note(tx, request.session_id, "stop")


@answers(HookSubagentStart)
def subagent_start(tx: Transaction, request: HookSubagentStart) -> HookNoted:
    """A vendor's own sub-agent starts."""
    child = subagents.begin(tx, _find(tx, request.session_id), request.subagent_id)
    kind = {"agent_id": request.subagent_id, "agent_type": request.subagent_type}
    reactions.happen(tx, child, _event(child, "subagent_start", **kind), HookFacts())
    return HookNoted(session_id=child.id)


@answers(HookSubagentStop)
def subagent_stop(tx: Transaction, request: HookSubagentStop) -> HookNoted:
    """A vendor's own sub-agent is done; the agent that started it continues."""
    child = subagents.begin(tx, _find(tx, request.session_id), request.subagent_id)
    said = {"agent_id": request.subagent_id, "summary": request.summary}
    reactions.happen(tx, child, _event(child, "subagent_stop", **said), HookFacts())
    return HookNoted(session_id=child.id)


@answers(HookTaskCompleted)
def task_completed(tx: Transaction, request: HookTaskCompleted) -> HookNoted:
    """An agent ticked something off its list."""
    return _note(tx, request.session_id, "task_completed", text=request.text)


@answers(HookTeammateIdle)
def teammate_idle(tx: Transaction, request: HookTeammateIdle) -> HookNoted:
    """A teammate of an agent has nothing to do."""
    return _note(tx, request.session_id, "teammate_idle", text=request.text)


@answers(HookFleetStart)
def fleet_start(tx: Transaction, request: HookFleetStart) -> Fleet:
    """A fleet starts: its agents are registered with their claims."""
    return Fleet(
        agents=[
            agents.register(tx, RegisterAgent(id=each.id, label=each.label, claims=each.claims))
            for each in request.agents
        ]
    )


@answers(NoteInjected)
def note_injected(tx: Transaction, request: NoteInjected) -> Injected:
    """A hook gave a session something of earlier sessions to read."""
    session = lookup.session(tx, request.session_id)
    data = {
        "moment": request.moment,
        "source": "recall",
        "bytes": request.size,
        "tokens": request.tokens,
        "places": request.places,
    }
    session_usage.count_injected(tx, session.id, request.tokens)
    tx.record("session.injected", effort_id=session.effort_id, session_id=session.id, data=data)
    return Injected(session_id=session.id, tokens=request.tokens)


@answers(ListProcesses)
def list_processes(tx: Transaction, request: ListProcesses) -> OpenProcesses:
    """The processes to check for programs that have ended."""
    return OpenProcesses(items=rows.list_processes(tx.db, request.host))


@answers(Vanish)
def vanish(tx: Transaction, request: Vanish) -> HookNoted:
    """The process of a session is gone."""
    session = lookup.session(tx, request.session_id)
    is_same_process = (session.pid, session.process_started) == (request.pid, request.started)
    if session.ended_at is None and session.instance is None and is_same_process:
        bindings.end_vanished(tx, subagents.must_find(tx, session.id))
    return HookNoted(session_id=session.id)


def _find(tx: Transaction, ref: SessionRef) -> Hooked:
    session = lookup.session(tx, ref)
    return subagents.must_find(tx, session.id)


def _event(hooked: Hooked, moment: Moment, **said: Any) -> HookEvent:
    driver, native_id = hooked.driver or _BY_HAND, hooked.native_id or ""
    return HookEvent(vendor=driver, moment=moment, name=moment, native_id=native_id, **said)


def _note(tx: Transaction, ref: SessionRef, moment: Moment, **said: Any) -> HookNoted:
    hooked = _find(tx, ref)
    reactions.happen(tx, hooked, _event(hooked, moment, **said), HookFacts())
    return HookNoted(session_id=hooked.id)


def _tool(
    tx: Transaction,
    request: HookPreToolUse | HookPostToolUse | HookPostToolUseFailure,
    moment: Moment,
    *,
    facts: HookFacts | None = None,
) -> HookAnswer:
    hooked = _find(tx, request.session_id)
    used = {"tool": request.tool, "tool_input": request.args, "tool_use_id": request.tool_use_id}
    return reactions.happen(tx, hooked, _event(hooked, moment, **used), facts or HookFacts())
