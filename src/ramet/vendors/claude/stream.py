"""Claude Code's stream: one line of JSON for each thing that happens (`--output-format stream-json`).

One run may print several `result` lines (a sub-agent that ends later wakes it again), so the stream is read to its end.
`subtype` says `success` of API errors too, so only `is_error` counts. An interrupted run exits with 0 and prints no
result at all.
"""

import re
from datetime import UTC, datetime
from typing import Any

from ramet.model.record.effort import Failure
from ramet.model.work.stream import (
    End,
    Limit,
    NativeId,
    Reasoning,
    Remark,
    StreamEvent,
    Text,
    ToolCall,
    ToolResult,
)
from ramet.vendors.claude.usage import Spending
from ramet.vendors.contract import json_lines
from ramet.vendors.contract.driver_protocol import ProcessExit
from ramet.vendors.contract.failures import describe, explain_missing, fail, of_status

_ITSELF = "<synthetic>"
"""The model of messages that the program wrote, not the agent."""
_SILENT = ("stream_event", "tool_progress", "tool_use_summary", "keep_alive", "prompt_suggestion")
_LIMIT = re.compile(r"limit reached|(?:hit|reached) your [^\n]{0,40}limit", re.IGNORECASE)
_ACCOUNT = re.compile(
    r"invalid api key|please run /login|not logged in|(?:oauth|access) token (?:has )?(?:expired|been revoked)"
    r"|failed to authenticate|credit balance is too low|authentication_error|billing_error",
    re.IGNORECASE,
)
_UNSET = re.compile(
    r"could not load (?:the default )?credentials|could not resolve authentication method"
    r"|unable to (?:locate|load) credentials|aws region .*(?:required|missing)|no google cloud project",
    re.IGNORECASE,
)
"""The keys of a cloud provider that its environment does not have: every task would fail like this."""
_RESET_IN_TEXT = re.compile(r"limit reached\|(\d{9,13})\b")
_PROCESSES = ("local_bash", "monitor_mcp")
"""Background tasks that are processes. The others are agents, whose end starts another turn."""
_UNKNOWN_SESSION = "No conversation found"
_HOPELESS = ("already in use", "unknown option", "Invalid session ID", "cannot be used with root")
"""Complaints without a result: about how it was started, which another attempt would not change."""


class ClaudeReader:
    """Reads one run."""

    def __init__(self) -> None:
        self._spending = Spending()
        self._native_id: str | None = None
        self._said: str | None = None
        self._tools: dict[str, str] = {}
        self._result: dict[str, Any] | None = None
        self._resets_at: datetime | None = None
        self._is_turn_over = False
        self._has_agents = False

    @property
    def is_turn_over(self) -> bool:
        """After a result, until the program says something of another turn."""
        return self._is_turn_over and not self._has_agents

    def read(self, line: str) -> list[StreamEvent]:
        """What a line says."""
        parsed = json_lines.parse(line)
        if parsed is None:
            return [Remark(text=line)] if line.strip() else []
        kind = parsed.get("type")
        if kind in ("assistant", "user", "result"):
            self._is_turn_over = kind == "result"
        match kind:
            case "system":
                return self._system(parsed)
            case "assistant":
                return self._assistant(parsed)
            case "user":
                return self._user(parsed)
            case "result":
                return self._finish(parsed)
            case "rate_limit_event":
                self._note_limit(json_lines.entry(parsed, "rate_limit_info"))
                return []
            case _ if kind in _SILENT:
                return []
        return [Remark(text=line)]

    def conclude(self, process: ProcessExit) -> End:
        """By the last result; a run that did not come to one may have done anything."""
        result = self._result
        if result is None:
            return _without_result(process, self._said)
        if process.signal is not None:
            return fail("unknown", describe(process), self._said)
        if result.get("is_error") is not False:
            return _failed(result, self._said)
        return End(outcome="success", answer=json_lines.text(result, "result") or self._said)

    def _system(self, parsed: dict[str, Any]) -> list[StreamEvent]:
        """Most of these are about the program's own affairs."""
        match parsed.get("subtype"):
            case "init":
                self._is_turn_over = False
                native_id = json_lines.text(parsed, "session_id")
                if native_id and native_id != self._native_id:
                    self._native_id = native_id
                    return [NativeId(native_id=native_id)]
            case "background_tasks_changed":
                tasks = json_lines.entries(parsed, "tasks")
                self._has_agents = any(task.get("task_type") not in _PROCESSES for task in tasks)
            case "api_retry":
                return [Remark(text=f"the model failed ({parsed.get('error_status') or 'unreachable'}); retrying")]
            case "compact_boundary":
                return [Remark(text="the context window was compacted")]
        return []

    def _assistant(self, parsed: dict[str, Any]) -> list[StreamEvent]:
        message = json_lines.entry(parsed, "message")
        is_sub_agent = bool(parsed.get("parent_tool_use_id"))
        events: list[StreamEvent] = []
        for block in json_lines.entries(message, "content"):
            text = json_lines.text(block, "text")
            match block.get("type"):
                case "text" | "thinking" if not (text or json_lines.text(block, "thinking")):
                    continue
                case "text" if message.get("model") == _ITSELF:
                    events.append(Remark(text=text))
                case "text" if is_sub_agent:
                    # Said to the agent, not to us; it must not pass for the agent's answer.
                    events.append(Reasoning(text=text))
                case "text":
                    self._said = text
                    events.append(Text(text=text))
                case "thinking":
                    events.append(Reasoning(text=json_lines.text(block, "thinking")))
                case "tool_use" | "server_tool_use" | "mcp_tool_use":
                    call_id, name = json_lines.text(block, "id"), json_lines.text(block, "name")
                    self._tools[call_id] = name
                    events.append(ToolCall(call_id=call_id, name=name, input=block.get("input")))
        return [*events, *self._spending.note_message(message)]

    def _user(self, parsed: dict[str, Any]) -> list[StreamEvent]:
        """What tools gave back; all else in the user's name is the program's."""
        message = json_lines.entry(parsed, "message")
        events: list[StreamEvent] = []
        if said := json_lines.text(message, "content"):
            events.append(Remark(text=said))
        for block in json_lines.entries(message, "content"):
            call_id = json_lines.text(block, "tool_use_id")
            if block.get("type") == "tool_result":
                is_error = block.get("is_error") is True
                name = self._tools.get(call_id)
                events.append(ToolResult(call_id=call_id, name=name, output=_output(block), is_error=is_error))
            elif text := json_lines.text(block, "text"):
                events.append(Remark(text=text))
        return events

    def _finish(self, result: dict[str, Any]) -> list[StreamEvent]:
        self._result = result
        events: list[StreamEvent] = list(self._spending.note_result(result))
        text = _explain(result)
        if result.get("is_error") is not False and _classify(result) == "limit":
            events.append(Limit(text=text, resets_at=self._resets_at or _reset_in(text)))
        return events

    def _note_limit(self, info: dict[str, Any]) -> None:
        if info.get("status") == "rejected":
            self._resets_at = _instant(json_lines.count(info, "resetsAt"))


def _output(block: dict[str, Any]) -> str:
    parts = json_lines.entries(block, "content")
    return json_lines.text(block, "content") or "\n".join(
        json_lines.text(part, "text") or f"[{part.get('type')}]" for part in parts
    )


def _explain(result: dict[str, Any]) -> str:
    errors = result.get("errors")
    said = [error for error in errors if isinstance(error, str)] if isinstance(errors, list) else []
    text = json_lines.text(result, "result") or "; ".join(said) or json_lines.text(result, "subtype") or "it failed"
    return explain_missing(text) if _UNSET.search(text) else text


def _classify(result: dict[str, Any]) -> Failure:
    status = json_lines.count(result, "api_error_status")
    if any(trouble.search(_explain(result)) for trouble in (_LIMIT, _ACCOUNT, _UNSET)):
        return "limit"
    if status:
        return of_status(status)
    if result.get("api_error") == "connection_failed" or "API Error: Connection" in _explain(result):
        return "transient"
    if result.get("terminal_reason") == "api_error" or json_lines.text(result, "subtype").startswith("error_max"):
        return "permanent"
    return "unknown"


def _failed(result: dict[str, Any], said: str | None) -> End:
    reason = _explain(result)
    if result.get("subtype") == "error_max_budget_usd":
        return End(outcome="budget", failure="permanent", reason=reason, answer=said)
    if _UNKNOWN_SESSION in reason:
        return fail("permanent", _no_such_session(reason), said)
    return fail(_classify(result), reason, said)


def _without_result(process: ProcessExit, said: str | None) -> End:
    if _UNKNOWN_SESSION in process.errors:
        return fail("permanent", _no_such_session(process.errors.strip()), said)
    if process.signal is None and _UNSET.search(process.errors):
        return fail("limit", explain_missing(describe(process)), said)
    if process.signal is None and _ACCOUNT.search(process.errors):
        return fail("limit", describe(process), said)
    if process.signal is None and any(complaint in process.errors for complaint in _HOPELESS):
        return fail("permanent", describe(process), said)
    return fail("unknown", f"it ended without a result: {describe(process)}", said)


def _no_such_session(complaint: str) -> str:
    return f"{complaint}: Claude Code finds a session only in the folder where it started, and deletes old ones"


def _reset_in(text: str) -> datetime | None:
    found = _RESET_IN_TEXT.search(text)
    return _instant(int(found[1])) if found else None


def _instant(seconds: int) -> datetime | None:
    """An instant in seconds since 1970, or in milliseconds as some versions say it."""
    seconds = seconds // 1000 if seconds > 100_000_000_000 else seconds
    try:
        return datetime.fromtimestamp(seconds, UTC) if seconds else None
    except (OverflowError, ValueError, OSError):
        return None
