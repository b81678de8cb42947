"""What an agent program's stream says, in the same words for every program.

A driver turns each line that its program prints into these; the keeper hands them to the daemon, and the engine writes
them into the session's history. A stream begins with `Started` and closes with one `End`.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

from ramet.model.history.image import Image
from ramet.model.names import clean_name
from ramet.model.record.effort import Failure, Outcome
from ramet.model.record.session import RefusedSubject


class Started(Struct, frozen=True, kw_only=True, tag_field="kind", tag="started"):
    """The program runs. A bare pid names nobody for long, so the instant of its start goes with it."""

    pid: int
    started_at: float
    """Seconds since 1970, as the kernel counts them for this process."""


class Text(Struct, frozen=True, kw_only=True, tag_field="kind", tag="text"):
    """Something that the agent said."""

    text: str
    is_partial: bool = False
    """Whether what follows may belong to the same text: the output of a program that only prints."""


class Reasoning(Struct, frozen=True, kw_only=True, tag_field="kind", tag="reasoning"):
    """Something that the agent thought aloud."""

    text: str


class ToolCall(Struct, frozen=True, kw_only=True, tag_field="kind", tag="tool_call"):
    """The agent uses a tool."""

    call_id: str
    name: str
    input: Any = None


class ToolResult(Struct, frozen=True, kw_only=True, tag_field="kind", tag="tool_result"):
    """What the tool gave back."""

    call_id: str
    name: str | None = None
    output: str = ""
    is_error: bool = False
    images: list[Image] = []
    """The images that the output names."""


class Remark(Struct, frozen=True, kw_only=True, tag_field="kind", tag="remark"):
    """What the program prints besides: its standard error, and lines that are not understood."""

    text: str


class Note(Struct, frozen=True, kw_only=True, tag_field="kind", tag="note"):
    """What the program, not the agent, has to say in the conversation: that the model failed, or what it tells the
    agent in the user's name.
    """

    text: str


class Usage(Struct, frozen=True, kw_only=True, tag_field="kind", tag="usage"):
    """What was used. The same key again, from the same context window, replaces what it said before, in an earlier
    session too: some programs go on counting when they are resumed. So nothing is counted twice.
    """

    key: str
    model: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = None
    context_tokens: int | None = None
    """How much the newest call read; None if it is unknown."""
    window_tokens: int | None = None
    """How much the model can read, if the program says it."""


class NativeId(Struct, frozen=True, kw_only=True, tag_field="kind", tag="native_id"):
    """The program's own name for this context window."""

    native_id: str


class Limit(Struct, frozen=True, kw_only=True, tag_field="kind", tag="limit"):
    """The account may not use more for now."""

    text: str
    resets_at: datetime | None = None


StuckReason = Literal["repetition", "silence", "no_progress", "time", "issue"]


class Stuck(Struct, frozen=True, kw_only=True, tag_field="kind", tag="stuck"):
    """The agent does not get on. Some of it is only noticed; where it is ended for it, the `End` says so."""

    reason: StuckReason
    """The same step again and again; not a word; most of its time is over and nothing was done, or only the time is;
    the program itself says so.
    """
    text: str
    tool: str | None = None
    arguments: str | None = None
    """The beginning of what the tool was given."""
    turns: int = 0
    """How often it had spoken or used a tool."""


class Refusal(Struct, frozen=True, kw_only=True, tag_field="kind", tag="refusal"):
    """Something that the agent wanted and its owner has not allowed. The same subject, name and key again replace what
    was said before.
    """

    subject: RefusedSubject
    name: str
    """The host, or the tool."""
    key: str = ""
    """The program's own id of the call; empty for hosts, which are only counted."""
    call: str = ""
    """The beginning of what the tool was given: the command, the path or the address."""
    times: int = 1
    rule: str
    """What would allow it, in words."""
    rules: list[str] = []
    """The permission rules that would allow a tool call; none if no rule can."""


class EndedProcess(Struct, frozen=True, kw_only=True):
    """A process that was ended, and how much it took."""

    pid: int
    name: str
    signal: str
    """The last signal that was needed: SIGINT, SIGTERM or SIGKILL."""


class End(Struct, frozen=True, kw_only=True, tag_field="kind", tag="end"):
    """The program is gone, and so is everything that it started."""

    outcome: Outcome
    failure: Failure | None = None
    """What kind of failure, where it is one."""
    reason: str | None = None
    answer: str | None = None
    """The last thing that the agent said: its result."""
    exit_status: int | None = None
    exit_signal: int | None = None
    ended: list[EndedProcess] = []
    """What had to be ended by force."""
    is_cut: bool = False
    """Whether it printed more than is kept."""


class Prompt(Struct, frozen=True, kw_only=True, tag_field="kind", tag="prompt"):
    """What a sub-agent is asked for."""

    text: str


class SubAgent(Struct, frozen=True, kw_only=True, tag_field="kind", tag="sub_agent"):
    """Something that happens in a sub-agent of the program's own, which has a context of its own. Its `End` is that of
    the sub-agent alone.
    """

    agent_id: str
    """The program's own id of it."""
    said: Prompt | Text | Reasoning | ToolCall | ToolResult | Note | End


StreamEvent = (
    Started
    | Text
    | Reasoning
    | ToolCall
    | ToolResult
    | Remark
    | Note
    | Usage
    | NativeId
    | Limit
    | Stuck
    | Refusal
    | SubAgent
    | End
)


MOST_CALLS = 100
"""How many calls without a result are remembered."""


def in_flight(before: Sequence[str], events: Sequence[Struct]) -> list[str]:
    """The calls that have not come back, in the order in which they were made."""
    calls = dict.fromkeys(before)
    for event in events:
        if isinstance(event, ToolCall):
            calls[clean_name(event.call_id)] = None
        elif isinstance(event, ToolResult):
            calls.pop(clean_name(event.call_id), None)
    return list(calls)[-MOST_CALLS:]
