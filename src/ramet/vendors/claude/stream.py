"""Claude Code's stream: one line of JSON for each thing that happens (`--output-format stream-json`).

One run may print several `result` lines (a sub-agent that ends later wakes it again), so the stream is read to its end.
`subtype` says `success` of API errors too, so only `is_error` counts. An interrupted run exits with 0 and prints no
result at all.
"""

import re
from datetime import UTC, datetime
from typing import Any

from ramet.model.history.image import Image, decode_image
from ramet.model.record.effort import Failure
from ramet.model.work.permission_rule import Call
from ramet.model.work.stream import (
    End,
    Limit,
    NativeId,
    Note,
    Prompt,
    Reasoning,
    Remark,
    StreamEvent,
    SubAgent,
    Text,
    ToolCall,
    ToolResult,
)
from ramet.vendors.claude import refused_calls
from ramet.vendors.claude.usage import Spending
from ramet.vendors.contract import json_lines
from ramet.vendors.contract.driver_protocol import ProcessExit
from ramet.vendors.contract.failures import describe, explain_missing, fail, of_status
from ramet.vendors.contract.refusals import refusal

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
_AGENT_TASK = "local_agent"
_LAUNCHED = "async_launched"
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
        self._calls: dict[str, Call] = {}
        self._hooked: set[str] = set()
        """The calls that a hook refused: it has told the agent what to do, and no rule would allow them."""
        self._agents: dict[str, str] = {}
        """The sub-agents, by the calls that started them."""
        self._asked: dict[str, set[str]] = {}
        """What each of them was asked for."""
        self._ended: set[str] = set()
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
            case "assistant" | "user" if agent_id := self._sub_agent(parsed):
                return self._below(agent_id, parsed)
            case "assistant":
                return self._assistant(parsed)
            case "user":
                return self._user(parsed)
            case "result":
                return self._finish(parsed)
            case "rate_limit_event":
                self._note_limit(json_lines.entry(parsed, "rate_limit_info"))
        is_understood = kind == "rate_limit_event" or kind in _SILENT
        return [] if is_understood else [Remark(text=line)]

    def read_error(self, line: str) -> list[StreamEvent]:
        """Standard error is the program's own."""
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
                return [Note(text=f"the model failed ({parsed.get('error_status') or 'unreachable'}); retrying")]
            case "permission_denied":
                return self._refused(parsed)
            case "compact_boundary":
                return [Note(text="the context window was compacted")]
            case "task_started" if parsed.get("task_type", _AGENT_TASK) == _AGENT_TASK:
                return self._task_started(parsed)
            case "task_notification" if agent_id := self._agents.get(json_lines.text(parsed, "tool_use_id")):
                return self._end_below(agent_id, parsed.get("status") == "completed", parsed.get("summary"))
        return []

    # Sub-agents have contexts of their own. Each of their lines names the call that started them; newer versions also
    # name the sub-agent, as hooks do.

    def _sub_agent(self, parsed: dict[str, Any]) -> str | None:
        """The sub-agent in which a line happens."""
        call_id = json_lines.text(parsed, "parent_tool_use_id")
        if not call_id:
            return None
        return self._agents.setdefault(call_id, json_lines.text(parsed, "agent_id") or call_id)

    def _task_started(self, parsed: dict[str, Any]) -> list[StreamEvent]:
        call_id, task_id = json_lines.text(parsed, "tool_use_id"), json_lines.text(parsed, "task_id")
        if not (call_id and task_id):
            return []
        agent_id = self._agents.setdefault(call_id, task_id)
        return self._ask_below(agent_id, json_lines.text(parsed, "prompt"))

    def _ask_below(self, agent_id: str, prompt: str) -> list[StreamEvent]:
        """What a sub-agent is asked for, which may be told twice."""
        if not prompt or prompt in self._asked.setdefault(agent_id, set()):
            return []
        self._asked[agent_id].add(prompt)
        return [SubAgent(agent_id=agent_id, said=Prompt(text=prompt))]

    def _below(self, agent_id: str, parsed: dict[str, Any]) -> list[StreamEvent]:
        """What a sub-agent says and does, and what it is told."""
        self._ended.discard(agent_id)
        events = self._assistant(parsed) if parsed.get("type") == "assistant" else self._user(parsed)
        told: list[StreamEvent] = []
        for event in events:
            match event:
                case Note() if parsed.get("type") == "user":
                    told += self._ask_below(agent_id, event.text)
                case Text() | Reasoning() | ToolCall() | ToolResult() | Note():
                    told.append(SubAgent(agent_id=agent_id, said=event))
                case _:
                    told.append(event)
        return told

    def _end_below(self, agent_id: str, is_done: bool, summary: Any) -> list[StreamEvent]:
        if agent_id in self._ended:
            return []
        self._ended.add(agent_id)
        answer = summary if isinstance(summary, str) else None
        end = End(outcome="success" if is_done else "error", answer=answer)
        return [SubAgent(agent_id=agent_id, said=end)]

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
                    events.append(Note(text=text))
                case "text":
                    # What a sub-agent says must not pass for the agent's answer.
                    self._said = self._said if is_sub_agent else text
                    events.append(Text(text=text))
                case "thinking":
                    events.append(Reasoning(text=json_lines.text(block, "thinking")))
                case "tool_use" | "server_tool_use" | "mcp_tool_use":
                    call_id, name = json_lines.text(block, "id"), json_lines.text(block, "name")
                    self._tools[call_id] = name
                    self._calls[call_id] = refused_calls.read(name, block.get("input"))
                    events.append(ToolCall(call_id=call_id, name=name, input=block.get("input")))
        return [*events, *self._spending.note_message(message, is_sub_agent=is_sub_agent)]

    def _user(self, parsed: dict[str, Any]) -> list[StreamEvent]:
        """What tools gave back; all else in the user's name is the program's."""
        message = json_lines.entry(parsed, "message")
        events: list[StreamEvent] = []
        if said := json_lines.text(message, "content"):
            events.append(Note(text=said))
        for block in json_lines.entries(message, "content"):
            call_id = json_lines.text(block, "tool_use_id")
            if block.get("type") == "tool_result":
                is_error = block.get("is_error") is True
                name = self._tools.get(call_id)
                output, images = _output(block)
                result = ToolResult(call_id=call_id, name=name, output=output, is_error=is_error, images=images)
                events.append(result)
                events += self._returned(call_id, parsed, is_error=is_error)
            elif text := json_lines.text(block, "text"):
                events.append(Note(text=text))
        return events

    def _refused(self, parsed: dict[str, Any]) -> list[StreamEvent]:
        """A call that nobody allowed. Older versions say it only in the result."""
        call_id, name = json_lines.text(parsed, "tool_use_id"), json_lines.text(parsed, "tool_name")
        if parsed.get("decision_reason_type") == "hook":
            self._hooked.add(call_id)
            return []
        return [refusal(name, call_id, self._calls.get(call_id) or refused_calls.read(name, None))]

    def _returned(self, call_id: str, parsed: dict[str, Any], *, is_error: bool) -> list[StreamEvent]:
        """With the result of its call a sub-agent is over, unless it only says that it was started."""
        agent_id = self._agents.get(call_id)
        status = json_lines.text(json_lines.entry(parsed, "tool_use_result"), "status")
        if agent_id is None or status == _LAUNCHED:
            return []
        return self._end_below(agent_id, not is_error, None)

    def _finish(self, result: dict[str, Any]) -> list[StreamEvent]:
        self._result = result
        events: list[StreamEvent] = list(self._spending.note_result(result))
        for denied in json_lines.entries(result, "permission_denials"):
            name, call_id = json_lines.text(denied, "tool_name"), json_lines.text(denied, "tool_use_id")
            if call_id not in self._hooked:
                events.append(refusal(name, call_id, refused_calls.read(name, denied.get("tool_input"))))
        text = _explain(result)
        if result.get("is_error") is not False and _classify(result) == "limit":
            events.append(Limit(text=text, resets_at=self._resets_at or _reset_in(text)))
        return events

    def _note_limit(self, info: dict[str, Any]) -> None:
        if info.get("status") == "rejected":
            self._resets_at = _instant(json_lines.count(info, "resetsAt"))


def _output(block: dict[str, Any]) -> tuple[str, list[Image]]:
    """What a tool gave back, and the images in it."""
    if text := json_lines.text(block, "content"):
        return text, []
    parts = [read_block(part) for part in json_lines.entries(block, "content")]
    return "\n".join(text for text, _ in parts), [image for _, images in parts for image in images]


def read_block(block: dict[str, Any]) -> tuple[str, list[Image]]:
    """What a block says, and the image that it is; what is neither text nor image is named."""
    if text := json_lines.text(block, "text"):
        return text, []
    source = json_lines.entry(block, "source")
    image = decode_image(json_lines.text(source, "media_type"), json_lines.text(source, "data"))
    return (f"[{block.get('type')}]", []) if image is None else (image.reference, [image])


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
