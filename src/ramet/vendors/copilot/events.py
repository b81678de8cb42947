"""What an event of Copilot CLI says."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal

import msgspec

from ramet.model.hooks.transcript import MESSAGE_USAGE, Entry
from ramet.vendors.contract import json_lines, transcript_lines

USAGE = "session.usage_record"
"""What one call used. Old versions only have sums, in `session.shutdown`."""
_FAILED = re.compile(r"exit(?:ed)?(?: with)?(?: exit)? code -?[1-9]\d*>?\s*$")
"""A command that failed is a success for the tool: old versions tell only at the end of its output."""
_TAIL_CHARACTERS = 100


def agent_of(event: dict[str, Any]) -> str | None:
    """The sub-agent whose event it is; None if it is the session's own. Old versions name only the call that ran it."""
    data = json_lines.entry(event, "data")
    call = "toolCallId" if event.get("type") == "subagent.started" else "parentToolCallId"
    return json_lines.text(event, "agentId") or json_lines.text(data, call) or None


def tell(event: dict[str, Any], raw: bytes, *, is_counted: bool) -> Iterator[Entry]:
    """What an event says. `is_counted`: what was used is told call by call."""
    key, at = json_lines.text(event, "id") or transcript_lines.digest(raw), transcript_lines.instant(event)
    data = json_lines.entry(event, "data")
    match event.get("type"):
        case "user.message" if text := json_lines.text(data, "content"):
            yield Entry(key=key, kind="text", at=at, role=_role(data), text=text)
        case "assistant.message":
            yield from _tell_message(key, at, data)
        case "assistant.reasoning":
            yield from _tell_thought(at, json_lines.text(data, "content"))
        case "tool.execution_complete":
            yield _tell_result(key, at, data)
        case str(kind) if kind.startswith("session."):
            yield from _tell_session(kind, key, at, data, is_counted=is_counted)


def _tell_session(
    kind: str, key: str, at: datetime | None, data: dict[str, Any], *, is_counted: bool
) -> Iterator[Entry]:
    """What an event says of the session as a whole."""
    match kind:
        case "session.compaction_complete" if text := json_lines.text(data, "summaryContent"):
            yield Entry(key=key, kind="compaction", at=at, role="system", text=text)
        case "session.error" if text := json_lines.text(data, "message"):
            yield Entry(key=key, kind="text", at=at, role="system", text=text, is_error=True)
        case "session.title_changed" if title := json_lines.text(data, "title"):
            yield Entry(key=key, kind="meta", at=None, meta={"title": title})
        case "session.model_change" if model := json_lines.text(data, "newModel"):
            yield Entry(key=key, kind="meta", at=None, model=model)
        case "session.usage_record":
            used = json_lines.entry(data, "usage")
            name = json_lines.text(used, "apiCallId") or key
            yield from _tell_usage(name, at, json_lines.text(used, "model"), used)
        case "session.shutdown" if not is_counted:
            for model, metrics in json_lines.entry(data, "modelMetrics").items():
                used = json_lines.entry(metrics, "usage") if isinstance(metrics, dict) else {}
                yield from _tell_usage(f"{key}/{model}", at, model, used)


def _role(data: dict[str, Any]) -> Literal["user", "system"]:
    """The program also speaks in the user's name. What an agent tells its sub-agent is that one's prompt."""
    source = json_lines.text(data, "source")
    return "user" if source in ("", "user") or source.startswith("agent-") else "system"


def _tell_message(key: str, at: datetime | None, data: dict[str, Any]) -> Iterator[Entry]:
    model = json_lines.text(data, "model") or None
    yield from _tell_thought(at, json_lines.text(data, "reasoningText"))
    if text := json_lines.text(data, "content"):
        yield Entry(key=key, kind="text", at=at, text=text, model=model)
    for number, call in enumerate(json_lines.entries(data, "toolRequests")):
        name = json_lines.text(call, "toolCallId") or f"{key}/{number}"
        yield Entry(
            key=f"{name}/call",
            kind="tool_call",
            at=at,
            text=_encode(call.get("arguments")),
            tool=json_lines.text(call, "name") or None,
            call_id=name,
            model=model,
        )


def _encode(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _tell_thought(at: datetime | None, text: str) -> Iterator[Entry]:
    """A thought may be told by its own event and again by the message behind it: its words are its key."""
    if text:
        yield Entry(key=f"thought/{transcript_lines.digest(text.encode())}", kind="reasoning", at=at, text=text)


def _tell_result(key: str, at: datetime | None, data: dict[str, Any]) -> Entry:
    call = json_lines.text(data, "toolCallId")
    text = json_lines.text(json_lines.entry(data, "result"), "content")
    code = json_lines.entry(data, "shellExecution").get("exitCode")
    is_failed = code not in (None, 0) or _FAILED.search(text[-_TAIL_CHARACTERS:]) is not None
    return Entry(
        key=f"{call}/result" if call else key,
        kind="tool_result",
        at=at,
        role="tool",
        text=text or json_lines.text(json_lines.entry(data, "error"), "message"),
        tool=json_lines.text(data, "toolName") or None,
        call_id=call or None,
        is_error=data.get("success") is False or is_failed,
    )


def _tell_usage(name: str, at: datetime | None, model: str, used: dict[str, Any]) -> Iterator[Entry]:
    """Tokens alone: what Copilot calls cost is a number of requests, and its credits are not dollars."""
    sent = json_lines.count(used, "inputTokens")
    cached, written = json_lines.count(used, "cacheReadTokens"), json_lines.count(used, "cacheWriteTokens")
    tokens: dict[str, int | float] = {
        "input_tokens": sent - cached - written if cached + written <= sent else sent,
        "output_tokens": json_lines.count(used, "outputTokens"),
        "cache_read_tokens": cached,
        "cache_write_tokens": written,
    }
    if any(tokens.values()):
        tokens["context_tokens"] = max(sent, cached + written)
        yield Entry(key=f"{MESSAGE_USAGE}{name}", kind="usage", at=at, model=model or None, usage=tokens)
