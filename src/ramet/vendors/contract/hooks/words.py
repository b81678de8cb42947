"""The common words of hooks: names of events, fields of payloads and forms of answers that several programs share.

A vendor that speaks them is a table of its differences (`Vocabulary`); any other translates its own words. An answer
has no field that the vendor's schema for the hook does not have: a program may throw away an answer with a field too
many, and with it a refusal.
"""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from msgspec import Struct

from ramet.model.hooks.hook import (
    HookAnswer,
    HookEvent,
    Moment,
    Source,
)
from ramet.vendors.contract.hooks import payload as fields

Refusal = Literal["permission", "decision", "behavior"]
"""How a hook is refused: a permission that is denied, a decision to block, or a behaviour towards a request."""

_HELD = "Ramet blocked this and gave no reason; run `ramet doctor`"
_CUT = "\n[cut short]"
_AGAIN = "stop_hook_active"
_SOURCES: tuple[Source, ...] = get_args(Source)


MOMENTS: Mapping[str, Moment] = {
    "SessionStart": "session_start",
    "SessionEnd": "session_end",
    "UserPromptSubmit": "user_prompt",
    "PreToolUse": "pre_tool_use",
    "PermissionRequest": "permission_request",
    "PostToolUse": "post_tool_use",
    "Stop": "stop",
    "SubagentStart": "subagent_start",
    "SubagentStop": "subagent_stop",
    "PreCompact": "pre_compact",
    "PostCompact": "post_compact",
}
"""What the hooks mean to us that every vendor has."""
INFORMED = frozenset({"SessionStart", "SubagentStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"})
"""Those of them whose answer may tell the agent something."""
_REFUSED: Mapping[str, Refusal] = {
    "PreToolUse": "permission",
    "PermissionRequest": "behavior",
    "UserPromptSubmit": "decision",
    "PostToolUse": "decision",
    "Stop": "decision",
    "SubagentStop": "decision",
}
"""Those whose answer may hold the agent up, and how."""


class Vocabulary(Struct, frozen=True, kw_only=True):
    """What is one vendor's own."""

    vendor: str
    moments: Mapping[str, Moment]
    """What each hook of it means to us; any other is `other`."""
    informed: frozenset[str]
    """The hooks whose answer may tell the agent something."""
    prompt_id: str
    """The field that has the id of a prompt."""
    longest: Mapping[str, int]
    """How many characters an agent may receive at a hook, if that is less than usual."""
    usual_longest: int


def read(words: Vocabulary, payload: dict[str, Any]) -> HookEvent:
    """The event. One that says no session, or one that we do not know, is `other`."""
    event = fields.name(payload, "hook_event_name") or "unknown"
    native_id = fields.name(payload, "session_id")
    agent_id, agent_type = fields.name(payload, "agent_id"), fields.name(payload, "agent_type")
    moment = words.moments.get(event, "other") if native_id else "other"
    if moment in ("subagent_start", "subagent_stop") and not (agent_id and agent_type):
        moment, agent_id = "other", None  # a helper of the program's own, such as the one that sums up a context
    return HookEvent(
        vendor=words.vendor,
        moment=moment,
        name=event,
        native_id=native_id or "",
        cwd=fields.path(payload, "cwd"),
        transcript_path=fields.file(payload, "transcript_path"),
        agent_id=agent_id,
        agent_type=agent_type,
        agent_transcript_path=fields.file(payload, "agent_transcript_path"),
        source=_source(payload),
        prompt=fields.text(payload, "prompt"),
        prompt_id=fields.name(payload, words.prompt_id),
        tool=fields.name(payload, "tool_name"),
        tool_input=payload.get("tool_input"),
        tool_use_id=fields.name(payload, "tool_use_id"),
        summary=_summary(moment, payload),
        reason=_AGAIN if payload.get(_AGAIN) is True else fields.name(payload, "reason"),
        text=_said(moment, payload),
    )


def answer(words: Vocabulary, event: HookEvent, reply: HookAnswer) -> tuple[dict[str, Any] | None, int]:
    """The output and the exit status. Nothing at all if there is nothing to say."""
    output: dict[str, Any] = {}
    specific: dict[str, Any] = {}
    if reply.notice:
        output["systemMessage"] = reply.notice
    if reply.is_blocked and not _is_repeated(event):
        _refuse(_REFUSED.get(event.name), (reply.reason or "").strip() or _HELD, output, specific)
    if reply.context and event.name in words.informed:
        specific["additionalContext"] = _fit(reply.context, words.longest.get(event.name, words.usual_longest))
    if specific:
        output["hookSpecificOutput"] = {"hookEventName": event.name, **specific}
    return output or None, 0


def _refuse(how: Refusal | None, reason: str, output: dict[str, Any], specific: dict[str, Any]) -> None:
    match how:
        case "permission":
            specific |= {"permissionDecision": "deny", "permissionDecisionReason": reason}
        case "behavior":
            specific["decision"] = {"behavior": "deny", "message": reason}
        case "decision":
            output |= {"decision": "block", "reason": reason}
        case None:  # it cannot be held up here; the person hears of it
            output.setdefault("systemMessage", reason)


def _is_repeated(event: HookEvent) -> bool:
    """Whether the agent only continues because it was not allowed to stop: then it may stop, or it would never end."""
    return event.moment in ("stop", "subagent_stop") and event.reason == _AGAIN


def _fit(context: str, longest: int) -> str:
    return context if len(context) <= longest else context[: longest - len(_CUT)] + _CUT


def _source(payload: dict[str, Any]) -> Source | None:
    return next((source for source in _SOURCES if source == payload.get("source")), None)


def _summary(moment: Moment, payload: dict[str, Any]) -> str | None:
    field = {"post_compact": "compact_summary", "subagent_stop": "last_assistant_message"}.get(moment)
    return fields.text(payload, field) if field else None


def _said(moment: Moment, payload: dict[str, Any]) -> str | None:
    match moment:
        case "notification":
            return fields.text(payload, "message")
        case "task_completed":
            return fields.text(payload, "task_subject")
        case _:
            return None
