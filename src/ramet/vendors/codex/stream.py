"""Codex's stream: one line of JSON for each thing that happens (`codex exec --json`).

An item of type `error` is often only a warning, and so is an `error` line while it retries; the turn's own end has the
result. Usage is counted from the start of the thread, including earlier runs, so the thread is its key. It comes at the
end of a turn and names no model; the thread's rollout says both while it runs. A copy of a
thread continues its original's count, and the two cannot be told apart here; so copies are not offered.
"""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ramet.model.record.effort import Failure
from ramet.model.work.stream import (
    End,
    Limit,
    NativeId,
    Note,
    Reasoning,
    Refusal,
    Remark,
    StreamEvent,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from ramet.vendors.codex import refused_calls
from ramet.vendors.contract import json_lines
from ramet.vendors.contract.driver_protocol import ProcessExit
from ramet.vendors.contract.failures import describe, explain_missing, fail, of_status

if TYPE_CHECKING:
    from ramet.vendors.codex.rollout import Open, Rollout

_TOOLS = ("command_execution", "file_change", "mcp_tool_call", "collab_tool_call", "web_search")
_STATUS = re.compile(r"\bstatus:? (\d{3})\b")
_LIMIT = re.compile(r"hit your usage limit|usage_limit_reached|rate.limit", re.IGNORECASE)
_ACCOUNT = re.compile(
    r"quota|billing|unauthorized|not logged in|log ?in again|sign in again|refresh token|token (?:has )?expired"
    r"|(?:invalid|incorrect) api key|out of credits",
    re.IGNORECASE,
)
_HOPELESS = re.compile(r"invalid_request|not supported", re.IGNORECASE)
_IN_PASSING = re.compile(
    r"overloaded|server_error|stream disconnected|connection|error sending request|timed? ?out|high demand",
    re.IGNORECASE,
)
_RESET = re.compile(r"[Tt]ry again at (?:([A-Z][a-z]{2} \d{1,2})(?:st|nd|rd|th), (\d{4}) )?(\d{1,2}:\d{2} [AP]M)")
_MISSING = re.compile(r"[Mm]issing environment variable:? [`'\"]?([A-Za-z_][A-Za-z0-9_]*)")
"""A key that its configuration names, and that its environment does not have: every task would fail like this."""
_UNKNOWN_THREAD = "no rollout found"


class CodexReader:
    """Reads one run."""

    def __init__(
        self, now: Callable[[], datetime] = lambda: datetime.now().astimezone(), open_rollout: "Open | None" = None
    ) -> None:
        """`now` is the local time: Codex says only the time of day if a limit ends today."""
        self._now = now
        self._open_rollout = open_rollout
        self._started = now()
        self._rollout: Rollout | None = None
        self._told: Usage | None = None
        self._thread: str | None = None
        self._said: str | None = None
        self._called: set[str] = set()
        self._stopped: list[Refusal] = []
        """The commands that the sandbox stopped, by the stream: they count if the rollout is not found."""
        self._is_complete = False
        self._failure: str | None = None
        self._is_turn_over = False

    @property
    def is_turn_over(self) -> bool:
        """From the end of a turn to the start of the next one."""
        return self._is_turn_over

    def read(self, line: str) -> list[StreamEvent]:
        """What a line says."""
        parsed = json_lines.parse(line)
        if parsed is None:
            return [Remark(text=line)] if line.strip() else []
        match parsed.get("type"):
            case "thread.started":
                self._thread = json_lines.text(parsed, "thread_id") or None
                self._rollout = (
                    self._open_rollout(self._thread, self._started) if self._open_rollout and self._thread else None
                )
                return [NativeId(native_id=self._thread)] if self._thread else []
            case "turn.started":
                self._is_turn_over = False
                return []
            case "item.started" | "item.updated" | "item.completed":
                return self._item(json_lines.entry(parsed, "item"), is_done=parsed["type"] == "item.completed")
            case "turn.completed":
                self._is_complete, self._failure, self._is_turn_over = True, None, True
                return [*self.look(), *self._take_stopped(), self._usage(json_lines.entry(parsed, "usage"))]
            case "turn.failed":
                return self._fail(json_lines.text(json_lines.entry(parsed, "error"), "message"))
            case "error":
                return [Note(text=json_lines.text(parsed, "message"))]
        return [Remark(text=line)]

    def read_error(self, line: str) -> list[StreamEvent]:
        """Standard error is the program's own; it says there, and nowhere else, which calls it refused."""
        found = refused_calls.read_log(line)
        return [Remark(text=line), *([found] if found else [])]

    def conclude(self, process: ProcessExit) -> End:
        """By the end of its last turn."""
        if process.signal is not None:
            return fail("unknown", describe(process), self._said)
        if self._failure is not None:
            return fail(_classify(self._failure), self._failure, self._said)
        if self._is_complete:
            return End(outcome="success", answer=self._said)
        if missing := _MISSING.search(process.errors):
            return fail("limit", explain_missing(describe(process), missing[1]), self._said)
        if _UNKNOWN_THREAD in process.errors:
            reason = f"Codex no longer knows this thread: {describe(process)}"
            return fail("permanent", reason, self._said)
        if process.status == 2 or "Not inside a trusted directory" in process.errors:
            return fail("permanent", describe(process), self._said)
        return fail("unknown", f"it ended without a result: {describe(process)}", self._said)

    def _item(self, item: dict[str, Any], *, is_done: bool) -> list[StreamEvent]:
        kind = json_lines.text(item, "type")
        if kind in _TOOLS:
            return self._tool(item, kind, is_done=is_done)
        if not is_done:
            return []
        text = json_lines.text(item, "text")
        match kind:
            case "agent_message":
                self._said = text
                return [Text(text=text)]
            case "reasoning":
                return [Reasoning(text=text)]
            case "error":
                return [Note(text=json_lines.text(item, "message"))]
            case "todo_list":
                return [Reasoning(text="\n".join(_todo(entry) for entry in json_lines.entries(item, "items")))]
        return [Remark(text=text or f"[{kind}]")]

    def _tool(self, item: dict[str, Any], kind: str, *, is_done: bool) -> list[StreamEvent]:
        call_id = json_lines.text(item, "id")
        name = _tool_name(item, kind)
        events: list[StreamEvent] = []
        if call_id not in self._called:
            self._called.add(call_id)
            events.append(ToolCall(call_id=call_id, name=name, input=_tool_input(item)))
        if is_done:
            is_error = item.get("status") in ("failed", "declined")
            output = _tool_output(item)
            events.append(ToolResult(call_id=call_id, name=name, output=output, is_error=is_error))
            if is_error and (refused := refused_calls.read_item(name, item, output)):
                is_stopped = kind == "command_execution" and item.get("status") != "declined"
                (self._stopped if is_stopped and self._rollout else events).append(refused)
        return events

    def _take_stopped(self) -> list[Refusal]:
        stopped, self._stopped = self._stopped, []
        return [] if self._rollout and self._rollout.take_refused() is not None else stopped

    def look(self) -> list[StreamEvent]:
        """What the thread has used up to now, if that has changed, and which commands were stopped."""
        if self._rollout is None:
            return []
        used = self._rollout.read()
        refused = self._rollout.take_refused() or []
        if used is None or used == self._told:
            return [*refused]
        self._told = used
        return [used, *refused]

    def _usage(self, usage: dict[str, Any]) -> Usage:
        """Codex counts what came from the cache as input too; here each token is counted in one place."""
        read, written = (
            json_lines.count(usage, "cached_input_tokens"),
            json_lines.count(usage, "cache_write_input_tokens"),
        )
        return Usage(
            key=self._thread or "thread",
            model=self._rollout.model if self._rollout else None,
            input_tokens=max(0, json_lines.count(usage, "input_tokens") - read - written),
            output_tokens=json_lines.count(usage, "output_tokens"),
            cache_read_tokens=read,
            cache_write_tokens=written,
        )

    def _fail(self, reason: str) -> list[StreamEvent]:
        if missing := _MISSING.search(reason):
            reason = explain_missing(reason, missing[1])
        self._failure, self._is_turn_over = reason or "the turn failed", True
        if _classify(self._failure) != "limit":
            return []
        return [Limit(text=self._failure, resets_at=_reset_in(self._failure, self._now()))]


def _tool_name(item: dict[str, Any], kind: str) -> str:
    if kind == "mcp_tool_call":
        return f"{json_lines.text(item, 'server')}.{json_lines.text(item, 'tool')}"
    return json_lines.text(item, "tool") or kind


def _tool_input(item: dict[str, Any]) -> Any:
    names = ("command", "changes", "arguments", "query", "prompt")
    return {name: item[name] for name in names if item.get(name) is not None}


def _tool_output(item: dict[str, Any]) -> str:
    """What a command printed; what an MCP tool answered, or why it did not."""
    printed = json_lines.text(item, "aggregated_output") or json_lines.text(json_lines.entry(item, "error"), "message")
    content = json_lines.entries(json_lines.entry(item, "result"), "content")
    return printed or "\n".join(json_lines.text(part, "text") for part in content) or json_lines.text(item, "status")


def _todo(entry: dict[str, Any]) -> str:
    return f"[{'x' if entry.get('completed') is True else ' '}] {json_lines.text(entry, 'text')}"


def _classify(reason: str) -> Failure:
    """By the words of the message: there is nothing else to go by."""
    if _LIMIT.search(reason) or _MISSING.search(reason):
        return "limit"
    if status := _STATUS.search(reason):
        return of_status(int(status[1]))
    if _ACCOUNT.search(reason):
        return "limit"
    if _HOPELESS.search(reason):
        return "permanent"
    return "transient" if _IN_PASSING.search(reason) else "unknown"


def _reset_in(reason: str, now: datetime) -> datetime | None:
    """Codex writes local time. A time of day without a date is the next one: it leaves out the date if that is today's,
    and what it printed just before midnight may be read after it.
    """
    found = _RESET.search(reason)
    if found is None:
        return None
    days = [f"{found[1]} {found[2]}"] if found[1] else [f"{now + timedelta(days=n):%b %d %Y}" for n in range(2)]
    try:
        at = [datetime.strptime(f"{day} {found[3]}", "%b %d %Y %I:%M %p").astimezone() for day in days]
    except (ValueError, OverflowError, OSError):
        return None
    return next((each for each in at if each >= now.replace(second=0, microsecond=0)), at[-1])
