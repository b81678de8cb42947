"""A hook: what an agent program tells us while it works, and what we answer.

Each vendor has its own words for the same moments. Inside there is one set of them; a vendor's adapter
(`ramet.vendors.*.hooks`) turns its words into these and our answer into what it understands.
"""

from typing import Any, Literal

from msgspec import Struct

Moment = Literal[
    "session_start",
    "session_end",
    "pre_tool_use",
    "post_tool_use",
    "post_tool_use_failure",
    "user_prompt",
    "pre_compact",
    "post_compact",
    "permission_request",
    "notification",
    "stop",
    "subagent_start",
    "subagent_stop",
    "task_completed",
    "teammate_idle",
    "fleet_start",
    "status_line",
    "other",
]
"""When a hook is called; `other` is recorded and allowed."""
PERMISSION_PROMPT = "permission_prompt"
"""The reason of a notification that a person has to permit a tool."""
Source = Literal["startup", "resume", "clear", "compact", "fork"]
"""How a context window begins."""

GAP = "gap"
"""The name of an event that tells of hooks which reached no daemon. It has the source of a start among them that got no
answer.
"""


class HookEvent(Struct, frozen=True, kw_only=True):
    """One call of a hook. What a vendor does not say is None; what nobody here reads, such as what a tool answered, is
    left out: the transcript has it.
    """

    vendor: str
    moment: Moment
    name: str
    """What the vendor calls the moment."""
    native_id: str
    """The vendor's id of the context window."""
    cwd: str | None = None
    transcript_path: str | None = None
    agent_id: str | None = None
    """The vendor's id of one of its own sub-agents, inside which this happens."""
    agent_type: str | None = None
    agent_transcript_path: str | None = None
    source: Source | None = None
    prompt: str | None = None
    prompt_id: str | None = None
    tool: str | None = None
    tool_input: Any = None
    tool_use_id: str | None = None
    summary: str | None = None
    """What a compaction left, or the last thing that a sub-agent said."""
    reason: str | None = None
    text: str | None = None
    """What a notification says, or which item was ticked off."""
    usage: dict[str, Any] | None = None
    """Of a status line: what the session has used, and how full its context is."""


class RecallWish(Struct, frozen=True, kw_only=True):
    """What to look for in earlier sessions before a hook is answered."""

    query: str
    is_start: bool
    """Whether a context window starts; else a person has said something."""
    spent_bytes: int = 0
    """What the answer has of that already: the commands in the resume contract."""


class HookAnswer(Struct, frozen=True, kw_only=True):
    """What we say to a hook. Nothing at all lets the program go on."""

    is_blocked: bool = False
    reason: str | None = None
    """Why it is blocked, and how to go on; the agent reads it."""
    context: str | None = None
    """What the agent is told besides."""
    notice: str | None = None
    """What the person at the terminal is told."""
    recall: RecallWish | None = None
    """What the daemon looks for in earlier sessions of the project, if it finds it in time."""
