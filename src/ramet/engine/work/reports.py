"""Reports: the events that an agent's keeper receives, written into the session's history, each event once.

This happens most often while agents run, so everything that needs no transaction is prepared before, and a report of
many events costs one read of the session, one move of its branch and one event.
"""

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from ramet.engine import secrets
from ramet.engine.answers import answers, prepares
from ramet.engine.contents import Contents
from ramet.engine.record import budgets, lookup, messages, session_usage, subagents
from ramet.engine.record.messages import Turn
from ramet.engine.runs import run_lines
from ramet.engine.system import notices
from ramet.engine.transaction import Transaction
from ramet.engine.work import refused_calls
from ramet.model.event import EventKind
from ramet.model.history.content import (
    ContentPayload,
    DialogueContent,
    ReasoningContent,
    ToolIOContent,
)
from ramet.model.history.image import bounded
from ramet.model.instant import to_iso
from ramet.model.names import clean_name
from ramet.model.record.budget import Amount
from ramet.model.record.effort import StopRequest
from ramet.model.redaction import Redactor
from ramet.model.work.stream import (
    End,
    Limit,
    NativeId,
    Note,
    Prompt,
    Reasoning,
    Refusal,
    Remark,
    Started,
    StreamEvent,
    Stuck,
    SubAgent,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    in_flight,
)
from ramet.protocol.work.attempts import Reported, ReportStream
from ramet.store.record import refused_calls as refused_call_rows
from ramet.store.record import sessions
from ramet.store.record.messages import Transcript
from ramet.store.record.sessions import Reporter, SessionReport
from ramet.store.spawn import children
from ramet.store.work import leases, queue

_LONGEST_NOTE = 10_000
_LONGEST_ARGUMENTS = 200
_MOST_CALLS = 100
_LONGEST_CALL = 500
_LONGEST_RULE = 520
"""As long as a rule can be (`model/work/permission_rule`)."""
_MOST_RULES = 10
_MOST_TIMES = 2**53
_STATUSES: dict[bool, Literal["success", "error"]] = {False: "success", True: "error"}
_ERRORS = "stderr"
"""The name of a program's own remarks in a transcript."""


class Heard(Struct, frozen=True):
    """An event of a stream, and what of it becomes a turn of the session, or of its sub-agent."""

    event: StreamEvent
    turn: Turn | None

    @property
    def own_turn(self) -> Turn | None:
        """The turn that is the agent's own."""
        return None if isinstance(self.event, SubAgent) else self.turn


class PreparedReport(Struct, frozen=True):
    """A report whose contents need no transaction any more."""

    request: ReportStream
    heard: list[Heard]


@prepares(ReportStream)
def prepare(request: ReportStream, contents: Contents) -> PreparedReport:
    """Redact, hash and compress the reported texts."""
    return PreparedReport(request, [_prepare(event, contents, contents.redactor) for event in request.events])


def _prepare(event: StreamEvent, contents: Contents, redactor: Redactor) -> Heard:
    event = secrets.redact(event, redactor)
    said = event.said if isinstance(event, SubAgent) else event
    content = _content(said, contents)
    if content is not None:
        images = bounded(said.images) if isinstance(said, ToolResult) else ()
        return Heard(event, messages.make_turn(contents, content, images))
    match event:
        case SubAgent(said=End() as end):
            reason = end.reason or end.answer
            event = replace(event, said=replace(end, reason=None if reason is None else _note(reason)))
        case Limit():
            event = replace(event, text=_note(event.text))
        case Stuck():
            given = None if event.arguments is None else _note(event.arguments)[:_LONGEST_ARGUMENTS]
            tool = None if event.tool is None else clean_name(event.tool)
            event = replace(event, text=_note(event.text), tool=tool, arguments=given)
        case Refusal():
            event = _shorten(event)
        case End(reason=str(reason)):
            event = replace(event, reason=_note(reason))
        case Usage():
            model = None if event.model is None else clean_name(event.model)
            event = replace(event, key=clean_name(event.key), model=model)
        case NativeId():
            event = NativeId(native_id=clean_name(event.native_id))
        case _:
            pass
    return Heard(event, None)


def _content(event: StreamEvent | Prompt, contents: Contents) -> ContentPayload | None:
    """What an event puts into the history of its session."""
    match event:
        case Prompt():
            return DialogueContent(text=event.text, role="user")
        case Note():
            return DialogueContent(text=event.text, role="system")
        case Text():
            return DialogueContent(text=event.text, role="assistant")
        case Reasoning():
            return ReasoningContent(text=event.text)
        case ToolCall():
            text = contents.prepare_value(event.input)
            return ToolIOContent(text=text, tool_name=clean_name(event.name), direction="call", call_id=event.call_id)
        case ToolResult():
            name, status = clean_name(event.name or "tool"), _STATUSES[event.is_error]
            return ToolIOContent(text=event.output, tool_name=name, call_id=event.call_id, status=status)
        case Remark():
            return ToolIOContent(text=event.text, tool_name=_ERRORS)
        case _:
            return None


def _note(text: str) -> str:
    return text.replace("\0", "")[:_LONGEST_NOTE]


@answers(ReportStream)
def report(tx: Transaction, prepared: PreparedReport) -> Reported:
    """Write new events, and renew the lease if the reporter still holds it."""
    request = prepared.request
    reporter = sessions.find_reporter(tx.db, request.session_id)
    if reporter is None:
        raise lookup.no_session(request.session_id)
    last = request.seq + len(request.events) - 1
    if reporter.instance != request.instance:
        # Another keeper has the session now: what this one says is not its agent's.
        if request.events:
            _record(tx, "effort.late_report", reporter, {"instance": request.instance, "events": len(request.events)})
        return Reported(seq=last, is_current=False, is_renewed=False)
    news = prepared.heard[reporter.reported_seq + 1 - request.seq :] if request.seq <= reporter.reported_seq + 1 else []
    stop = _write(tx, reporter, news) if news else None
    is_current = reporter.is_leased and reporter.generation == reporter.lease_generation
    is_renewed = is_current and _renew(tx, reporter, is_asked=not request.events)
    return Reported(
        seq=reporter.reported_seq + len(news),
        is_current=is_current,
        is_renewed=is_renewed,
        stop=(reporter.stop_request or stop) if is_current else None,
        is_child_alive=reporter.has_children and not request.events and _is_child_alive(tx, reporter),
    )


def _is_child_alive(tx: Transaction, reporter: Reporter) -> bool:
    """Whether an agent that has nothing to say waits for others who have."""
    since = to_iso(tx.now_ms - tx.work.lease_seconds * 1000)
    return children.is_child_alive(tx.db, reporter.session_id, since)


def _renew(tx: Transaction, reporter: Reporter, *, is_asked: bool) -> bool:
    """Renew the lease; without a request for that, only when it is low."""
    renew = leases.renew if is_asked else leases.renew_if_low
    lease_seconds = tx.work.lease_seconds
    return bool(renew(tx.db, reporter.effort_id, reporter.generation, lease_seconds=lease_seconds, now=tx.now))


def _write(tx: Transaction, reporter: Reporter, news: Sequence[Heard]) -> StopRequest | None:
    """Write what is new; whether the agent has to end for what it used."""
    transcript = Transcript(reporter.session_id, reporter.agent_id, reporter.head)
    written = messages.write(tx, transcript, [turn for heard in news if (turn := heard.own_turn) is not None])
    told_of = [heard for heard in news if isinstance(heard.event, SubAgent)]
    if told_of:
        _write_below(tx, reporter.session_id, told_of)
    events = [heard.event for heard in news]
    for event in events:
        _note_beside(tx, reporter, event)
    sessions.report(tx.db, reporter.session_id, _session_report(tx, reporter, events), tx.now)
    ids = [each.message_id for each in written if each.message_id is not None]
    data = {"events": len(news), "messages": len(ids), "last_message": ids[-1] if ids else None}
    _record(tx, "session.reported", reporter, data)
    used = [event for event in events if isinstance(event, Usage)]
    for event in used:
        session_usage.observe(tx, reporter.session_id, event)
    more = [session_usage.count(tx, reporter.session_id, event) for event in used]
    if not more:
        return None
    return budgets.check_usage(tx, reporter.session_id, sum(more, Amount())) or _check_run(tx, reporter)


def _check_run(tx: Transaction, reporter: Reporter) -> StopRequest | None:
    """Ask the agent to end if the run of its effort has used what it may."""
    effort = lookup.effort(tx, reporter.effort_id)
    if effort.line.run_id is None or effort.stop_request is not None or effort.lease.owner is None:
        return None
    stop = run_lines.check_spent(tx, effort.line.run_id)
    if stop is not None:
        queue.request_stop(tx.db, effort.id, stop)
        _record(tx, "effort.stop_requested", reporter, {"reason": stop.reason, "outcome": stop.outcome})
    return stop


def _write_below(tx: Transaction, session_id: int, told_of: Sequence[Heard]) -> None:
    """What happens in sub-agents goes to sessions of their own, each in its order."""
    above = subagents.must_find(tx, session_id)
    by_agent: dict[str, list[Heard]] = {}
    for heard in told_of:
        assert isinstance(heard.event, SubAgent)  # noqa: S101
        by_agent.setdefault(clean_name(heard.event.agent_id), []).append(heard)
    for agent_id, heard_of in by_agent.items():
        subagents.report(
            tx,
            subagents.begin(tx, above, agent_id),
            [heard.turn for heard in heard_of if heard.turn is not None],
            [heard.event.said for heard in heard_of if isinstance(heard.event, SubAgent)],
        )


def _note_beside(tx: Transaction, reporter: Reporter, event: StreamEvent) -> None:
    """What has a place of its own."""
    match event:
        case NativeId():
            sessions.set_native_id(tx.db, reporter.session_id, event.native_id)
        case Limit():
            _record(tx, "session.limited", reporter, {"text": event.text, "resets_at": event.resets_at})
        case Stuck():
            data = {name: getattr(event, name) for name in ("reason", "text", "tool", "arguments", "turns")}
            _record(tx, "session.stuck", reporter, data)
        case Refusal():
            _note_refusal(tx, reporter, event)
        case End() if not reporter.has_ended:
            data = {"outcome": event.outcome, "failure": event.failure, "ended": event.ended}
            _record(tx, "session.ended", reporter, data)
            if event.is_cut:
                _tell_of_cut(tx, reporter)
            refused_calls.tell(tx, reporter.effort_id)
        case _:
            pass


def _note_refusal(tx: Transaction, reporter: Reporter, refusal: Refusal) -> None:
    is_news = refused_call_rows.put(tx.db, reporter.session_id, reporter.effort_id, refusal, tx.now)
    if is_news:
        data = {name: getattr(refusal, name) for name in ("subject", "name", "times", "rule", "call", "rules")}
        _record(tx, "session.refused", reporter, data)


def _shorten(refusal: Refusal) -> Refusal:
    """A refused call as it is kept: what an agent wanted may be of any length."""
    return replace(
        refusal,
        name=clean_name(_note(refusal.name)),
        key=clean_name(refusal.key)[:_LONGEST_CALL] if refusal.key else "",
        call=_note(refusal.call)[:_LONGEST_CALL],
        rule=_note(refusal.rule)[:_LONGEST_CALL],
        rules=[_note(rule)[:_LONGEST_RULE] for rule in refusal.rules[:_MOST_RULES]],
        times=min(max(refusal.times, 1), _MOST_TIMES),
    )


def _tell_of_cut(tx: Transaction, reporter: Reporter) -> None:
    text = f"effort {reporter.effort_id} printed more than work.output_max_bytes; the rest of its output is not kept"
    effort = lookup.effort(tx, reporter.effort_id)
    notices.add(tx, "cut", effort, text, key=f"cut/output/{effort.id}/{effort.retry.attempts}")


def _session_report(tx: Transaction, reporter: Reporter, events: Sequence[StreamEvent]) -> SessionReport:
    """What the events say about the session itself; the last word counts."""
    said: dict[str, Any] = {}
    for event in events:
        said |= _about_session(event)
    if "outcome" in said:
        said["ended_at"] = tx.now
    tools = [] if "outcome" in said else in_flight(reporter.tools_in_flight or [], events)
    return SessionReport(reported_seq=reporter.reported_seq + len(events), tools_in_flight=tools, **said)


def _about_session(event: StreamEvent) -> dict[str, Any]:
    match event:
        case Started():
            return {"pid": event.pid, "process_started": event.started_at}
        case End():
            return {
                "outcome": event.outcome,
                "notes": event.reason,
                "exit_status": event.exit_status,
                "exit_signal": event.exit_signal,
            }
        case _:
            return {}


def _record(tx: Transaction, kind: EventKind, reporter: Reporter, data: dict[str, Any]) -> None:
    tx.record(
        kind,
        task_id=reporter.task_id,
        effort_id=reporter.effort_id,
        session_id=reporter.session_id,
        data=data,
    )
