"""Moments: what is written down at each of them, and what the agent is told.

The two that come with every tool call, before and after, cost one look at the session, one write and one event; what
else they may need is looked up only where something asks for it. Nothing here writes what was said but the prompt,
which is provisional: the transcript has the last word.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ramet.engine.contents import Prepared
from ramet.engine.history import references
from ramet.engine.hooks import (
    bindings,
    compactions,
    directives,
    gates,
    resume_contracts,
    skill_files,
)
from ramet.engine.record import lookup, session_usage, sessions
from ramet.engine.transaction import Transaction
from ramet.model.history.branch import Head
from ramet.model.history.commit import CommitFacts, estimate_tokens
from ramet.model.hooks.command_file import SKILL_TOOL
from ramet.model.hooks.hook import GAP, PERMISSION_PROMPT, HookAnswer, HookEvent, Moment, RecallWish, Source
from ramet.model.hooks.status_line import status_line
from ramet.model.hooks.touched_files import touched_files
from ramet.model.hooks.worked_commands import MOST_BYTES as COMMANDS_BYTES
from ramet.model.names import clean_name
from ramet.protocol.hooks.hooks import HookFacts
from ramet.store.history import segments
from ramet.store.history.segments import NewCommit
from ramet.store.hooks import hooks, transcripts
from ramet.store.hooks.hooks import Hooked
from ramet.store.record import efforts
from ramet.store.record import sessions as session_rows

_READING = frozenset({"Read", "read_file", "view_image", "NotebookRead"})
_MOST_FILES = 500
_MOST_TOOLS = 100
_LONGEST_TEXT = 500
_MOST_READ = 32_000
"""Of a text whose beginning is kept, in characters."""
_LONGEST_QUERY = 4000
"""Characters of a prompt or goal that is looked for in earlier sessions."""
_SAME_PROMPT_MS = 60_000
_TELLING: frozenset[Moment] = frozenset({"user_prompt", "post_tool_use"})
"""Hooks at which every program takes what its agent is to be told."""
_STANDARDS = "Standards of this project, from its own files:"


class Happening(Struct, frozen=True):
    """An event of a session, with what the disk says."""

    hooked: Hooked
    event: HookEvent
    facts: HookFacts
    prompt: Prepared | None = None
    """What a person said, ready to be written."""


def happen(
    tx: Transaction, hooked: Hooked, event: HookEvent, facts: HookFacts, prompt: Prepared | None = None
) -> HookAnswer:
    """Write down what happens, and say what the agent is answered."""
    now = Happening(hooked, event, facts, prompt)
    answer = _MOMENTS[event.moment](tx, now)
    answer = _catch_up(tx, now, answer) if _can_catch_up(hooked, event) else answer
    if answer.context:
        note_injected(tx, hooked, event.moment, answer.context)
    return answer


def note_injected(tx: Transaction, hooked: Hooked, moment: Moment, text: str) -> None:
    """Write down what an agent is given to read, because its user pays for it."""
    size, tokens = len(text.encode(errors="replace")), estimate_tokens(text)
    data = {"moment": moment, "source": "rules", "bytes": size, "tokens": tokens}
    session_usage.count_injected(tx, hooked.id, tokens)
    tx.record("session.injected", effort_id=hooked.effort_id, session_id=hooked.id, data=data)


def wants_start_facts(hooked: Hooked, event: HookEvent, facts: HookFacts) -> bool:
    """Whether an agent is told now what it missed at its start, and the machine has not been asked for it."""
    return _can_catch_up(hooked, event) and facts.project is None and event.cwd is not None


def _can_catch_up(hooked: Hooked, event: HookEvent) -> bool:
    """Whether an agent that missed its start can be told now. One that a keeper started has its prompt."""
    return hooked.missed_start is not None and event.moment in _TELLING and event.agent_id is None


def _catch_up(tx: Transaction, now: Happening, answer: HookAnswer) -> HookAnswer:
    """The answer, with what the agent missed at its start in front."""
    hooks.forget_missed_start(tx.db, now.hooked.id)
    if now.hooked.is_kept or now.hooked.has_ended:
        return answer
    return replace(answer, context=_join(_tell_start(tx, now, now.hooked.missed_start), answer.context))


def wants_ingest(hooked: Hooked, event: HookEvent) -> bool:
    """Whether the transcript may say more than we know. What a kept agent says comes from its keeper; what its
    sub-agents say does not.
    """
    if event.moment in ("pre_tool_use", "status_line", "permission_request", "notification", "teammate_idle"):
        return False
    if event.transcript_path is None and event.agent_transcript_path is None:
        return False
    return not hooked.is_kept or event.agent_id is not None


def _start(tx: Transaction, now: Happening) -> HookAnswer:
    hooked, source = now.hooked, now.event.source
    if source in ("compact", "clear"):
        hooks.forget_told(tx.db, hooked.id)
    _beat(tx, now, calls=0, tools=_idle(hooked))
    if hooked.missed_start is not None:
        hooks.forget_missed_start(tx.db, hooked.id)
    return HookAnswer(context=_tell_start(tx, now, source), recall=_start_wish(tx, hooked, source))


def _start_wish(tx: Transaction, hooked: Hooked, source: Source | None) -> RecallWish | None:
    """What earlier sessions may know about the work that a context window continues."""
    topic = resume_contracts.topic(tx, hooked, source)
    return None if not topic else RecallWish(query=topic[:_LONGEST_QUERY], is_start=True, spent_bytes=COMMANDS_BYTES)


def _tell_start(tx: Transaction, now: Happening, source: Source | None) -> str | None:
    """What an agent is told when its context window begins, or as soon afterwards as we hear of it."""
    hooked = now.hooked
    standards = directives.tell(tx, hooked, now.facts.standards, head=_STANDARDS)
    told = directives.tell(tx, hooked, now.facts.directives)
    files = skill_files.tell(tx, hooked)
    contract = resume_contracts.for_start(tx, hooked, source, now.facts.uncommitted)
    return _join(contract, standards, told, files)


def _join(*texts: str | None) -> str | None:
    return "\n\n".join(text for text in texts if text) or None


def _end(tx: Transaction, now: Happening) -> HookAnswer:
    if now.hooked.is_kept:
        return _note(tx, now)
    if now.hooked.has_ended:
        _note(tx, now)
    bindings.end(tx, now.hooked)
    return HookAnswer()


def _before_tool(tx: Transaction, now: Happening) -> HookAnswer:
    answer = gates.check(tx, now.hooked, now.event, now.facts)
    tools = now.hooked.tools_in_flight
    if not answer.is_blocked and not now.hooked.is_kept:
        tools = [*tools, _call(now.event)][-_MOST_TOOLS:]
    _beat(tx, now, calls=0, tools=tools, data={"blocked": True} if answer.is_blocked else {})
    return answer


def _after_tool(tx: Transaction, now: Happening) -> HookAnswer:
    hooked, event = now.hooked, now.event
    files = [tx.contents.redact(file) for file in touched_files(event)]
    read = _add_files(hooked, files) if event.tool in _READING else None
    is_own = gates.is_own(event)
    _beat(tx, now, calls=0 if is_own else 1, tools=_returned(now), files=read)
    told = directives.tell(tx, hooked, now.facts.directives, files)
    if not is_own and event.tool != SKILL_TOOL:
        return HookAnswer(context=told)
    # Only such a call can start an effort, enter a phase or invoke a skill.
    return HookAnswer(context=_join(told, skill_files.tell(tx, hooked, now.facts.skill_files)))


def _after_failure(tx: Transaction, now: Happening) -> HookAnswer:
    _beat(tx, now, calls=0 if gates.is_own(now.event) else 1, tools=_returned(now), data={"failed": True})
    return HookAnswer()


def _returned(now: Happening) -> list[str]:
    """The calls that are left when this one is back."""
    tools = now.hooked.tools_in_flight
    return tools if now.hooked.is_kept else [each for each in tools if each != _call(now.event)]


def _idle(hooked: Hooked) -> list[str]:
    """The calls that are left when an agent has none any more; a keeper counts by itself."""
    return hooked.tools_in_flight if hooked.is_kept else []


def _call(event: HookEvent) -> str:
    return clean_name(event.tool_use_id or event.tool or "tool")


def _add_files(hooked: Hooked, files: list[str]) -> list[str] | None:
    """The files in the context with those that were read now, the newest last; None where all were there."""
    known = hooked.list_files()
    new = [file for file in files if file not in known]
    return [*known, *new][-_MOST_FILES:] if new else None


def _beat(
    tx: Transaction,
    now: Happening,
    *,
    calls: int,
    tools: list[str],
    files: list[str] | None = None,
    data: dict[str, Any] | None = None,
) -> None:
    """A sign of life, with its event."""
    hooks.beat(tx.db, now.hooked.id, tx.now, calls=calls, tools=tools, permission=_permission(now), files=files)
    tool = {"tool": clean_name(now.event.tool)} if now.event.tool else {}
    said = {"moment": now.event.moment, **tool, **(data or {})}
    if files is not None:
        said["files"] = len(files)
    tx.record("session.heartbeat", effort_id=now.hooked.effort_id, session_id=now.hooked.id, data=said)


def _permission(now: Happening) -> str | None:
    """The tool for which a person is asked from now on. A dialog is open until its tool has run or was refused, or the
    agent does something that it could not do before. Several calls of one answer are asked for one after the other, so
    the start of a tool says nothing, nor does the end of another tool.
    """
    event, asked = now.event, now.hooked.permission_tool
    match event.moment:
        case "permission_request":
            return clean_name(event.tool or "tool")
        case "notification" if event.reason == PERMISSION_PROMPT and now.hooked.tools_in_flight:
            return asked or clean_name(event.tool or "tool")
        case "post_tool_use" | "post_tool_use_failure" if event.tool is None or clean_name(event.tool) == asked:
            return None
        case "session_start" | "user_prompt" | "stop" | "subagent_stop" | "pre_compact" | "post_compact":
            return None
    return asked


def _prompt(tx: Transaction, now: Happening) -> HookAnswer:
    """A person said something: known now, and certain when the transcript has it."""
    _beat(tx, now, calls=0, tools=_idle(now.hooked))
    if now.hooked.is_kept or now.prompt is None:
        return HookAnswer()
    _say_prompt(tx, now.hooked, now.prompt, now.event.prompt_id)
    if now.event.agent_id is not None or not now.event.prompt:
        return HookAnswer()
    return HookAnswer(recall=RecallWish(query=now.event.prompt[:_LONGEST_QUERY], is_start=False))


def _say_prompt(tx: Transaction, hooked: Hooked, content: Prepared, prompt_id: str | None) -> None:
    """A provisional turn, beside the session's branch, unless the transcript, or another hook, was first."""
    key = provisional_key(hooked.id, prompt_id or f"at {tx.now_ms}")
    since_ms = tx.now_ms - _SAME_PROMPT_MS
    if transcripts.is_known(tx.db, key) or hooks.is_said(tx.db, hooked.id, content.blob.hash, since_ms):
        return
    facts = CommitFacts(
        content_hash=content.blob.hash, content_type="dialogue", role="user", author="user", metadata=content.metadata
    )
    beside = Head(0, None, 0, None, None, 0)
    new = NewCommit(facts=facts, blob=content.blob, tokens=content.tokens)
    commit = segments.put(tx.db, beside, new, tx.now_ms)
    message_id = hooks.put_provisional(tx.db, hooked.id, commit.id, key, tx.now_ms)
    if message_id is not None:
        tx.record("message.appended", session_id=hooked.id, data={"message": message_id, "provisional": True})


def provisional_key(session_id: int, prompt_id: str) -> str:
    """The source of a turn that only a hook has told of."""
    return f"hook:{session_id}:{clean_name(prompt_id)}"


def _before_compaction(tx: Transaction, now: Happening) -> HookAnswer:
    """The history has the exact context up to here."""
    _note(tx, now)
    compactions.mark(tx, now.hooked.id, _head(tx, now.hooked))
    return HookAnswer()


def _after_compaction(tx: Transaction, now: Happening) -> HookAnswer:
    """The transcript will have its boundary; of a kept session nobody reads one, so it is written here."""
    _note(tx, now)
    if now.hooked.is_kept:
        compactions.leave_boundary(tx, now.hooked.id, now.event.summary)
    return HookAnswer()


def _head(tx: Transaction, hooked: Hooked) -> Head:
    return references.taken_head(tx, lookup.session(tx, hooked.id).branch)


def _subagent_stop(tx: Transaction, now: Happening) -> HookAnswer:
    """A sub-agent is done. Its parent goes on, and so do its siblings."""
    if now.event.agent_id is None or now.hooked.has_ended:
        return _note(tx, now)
    summary = now.event.summary
    notes = None if summary is None else _text(tx, summary)
    sessions.close(tx, now.hooked.id, now.hooked.effort_id, "success", notes)
    return HookAnswer()


def _stop(tx: Transaction, now: Happening) -> HookAnswer:
    """An agent has answered: none of its tools is at work any more."""
    _beat(tx, now, calls=0, tools=_idle(now.hooked))
    return HookAnswer()


def _status(tx: Transaction, now: Happening) -> HookAnswer:
    """How full the context is and what it cost, where that has changed. It is answered what the agent is at."""
    said, hooked = now.event.usage or {}, now.hooked
    percent, cost = said.get("context_percent"), said.get("cost_usd")
    if isinstance(percent, int | float) and 0 <= percent / 100 <= 1 and percent / 100 != hooked.context_usage:
        session_rows.set_context_usage(tx.db, hooked.id, percent / 100)
        tx.record("session.usage", session_id=hooked.id, data={"usage": percent / 100})
    if isinstance(cost, int | float) and cost > 0 and not hooked.is_kept:
        session_usage.put_status_line(tx, hooked.id, float(cost))
    effort = efforts.must_find(tx.db, hooked.effort_id)
    return HookAnswer(notice=status_line(effort.ordinal, effort.skill, effort.current_phase))


def _note(tx: Transaction, now: Happening) -> HookAnswer:
    """Something of which there is nothing to keep but that it was. If it was a start that got no answer, the agent is
    told at the next hook that can tell.
    """
    event = now.event
    if event.moment == "other" and event.name == GAP and event.source is not None:
        hooks.forget_told(tx.db, now.hooked.id)
        hooks.miss_start(tx.db, now.hooked.id, event.source)
    tools = now.hooked.tools_in_flight
    if not now.hooked.has_ended:
        hooks.beat(tx.db, now.hooked.id, tx.now, calls=0, tools=tools, permission=_permission(now))
    note_event(tx, event, now.hooked)
    return HookAnswer()


def note_event(tx: Transaction, event: HookEvent, hooked: Hooked | None) -> None:
    """Write down that a hook was called."""
    data = {
        "vendor": clean_name(event.vendor),
        "moment": event.moment,
        "name": clean_name(event.name),
        "tool": None if event.tool is None else clean_name(event.tool),
        "reason": None if event.reason is None else _text(tx, event.reason),
        "text": None if event.text is None else _text(tx, event.text),
    }
    scope = {} if hooked is None else {"effort_id": hooked.effort_id, "session_id": hooked.id}
    tx.record("hook.seen", **scope, data={name: value for name, value in data.items() if value is not None})


def _text(tx: Transaction, text: str) -> str:
    """The beginning of what was said, without secrets. Much more of it is read, so that what is cut there, which may be
    half a secret, is far behind what is kept.
    """
    return tx.contents.redact(text[:_MOST_READ]).replace("\0", "")[:_LONGEST_TEXT]


_MOMENTS: dict[Moment, Callable[[Transaction, Happening], HookAnswer]] = {
    "session_start": _start,
    "session_end": _end,
    "pre_tool_use": _before_tool,
    "post_tool_use": _after_tool,
    "post_tool_use_failure": _after_failure,
    "user_prompt": _prompt,
    "pre_compact": _before_compaction,
    "post_compact": _after_compaction,
    "permission_request": _note,
    "notification": _note,
    "stop": _stop,
    "subagent_start": _note,
    "subagent_stop": _subagent_stop,
    "task_completed": _note,
    "teammate_idle": _note,
    "fleet_start": _note,
    "status_line": _status,
    "other": _note,
}
