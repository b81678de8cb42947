"""Claude Code's hooks, and its status line, the only one to say what a session costs and how full its context is."""

import re
from typing import Any

from msgspec.structs import replace

from ramet.model.hooks.directive import OwnDirectives
from ramet.model.hooks.hook import HookAnswer, HookEvent
from ramet.vendors.claude.facts import DIRECTIVE_FILE
from ramet.vendors.contract.hooks import payload as fields
from ramet.vendors.contract.hooks import words as hook_words
from ramet.vendors.contract.hooks.protocol import Hooks, Printed

_WORDS = hook_words.Vocabulary(
    vendor="claude",
    moments={
        **hook_words.MOMENTS,
        "PostToolUseFailure": "post_tool_use_failure",
        "Notification": "notification",
        "StopFailure": "stop",
        "TaskCompleted": "task_completed",
        "TeammateIdle": "teammate_idle",
    },
    informed=hook_words.INFORMED | {"PostToolUseFailure", "Notification"},
    prompt_id="prompt_id",
    longest={"UserPromptSubmit": 9_000},
    usual_longest=40_000,  # beyond 50,000 characters it writes what it is told into a file
)

_QUOTED = re.compile(r'[\x00-\x1f"\\]')
"""What JSON does not have as it is in a text: the shim prints a text as it comes."""


def read(payload: dict[str, Any]) -> HookEvent:
    """The event in our words."""
    event = hook_words.read(_WORDS, payload)
    if "hook_event_name" not in payload and isinstance(payload.get("context_window"), dict) and event.native_id:
        return replace(event, moment="status_line", name="statusLine", usage=_usage(payload))
    if event.moment == "notification" and event.reason is None:
        return replace(event, reason=fields.name(payload, "notification_type"))
    return event


def answer(event: HookEvent, reply: HookAnswer) -> tuple[Printed, int]:
    """What it prints, and the status with which it exits. A status line is a text, the notice."""
    if event.moment == "status_line":
        return _QUOTED.sub("", reply.notice or "") or None, 0
    return hook_words.answer(_WORDS, event, reply)


def _usage(payload: dict[str, Any]) -> dict[str, Any]:
    """What is known of the cost and of the context."""
    context = payload["context_window"]
    found = {
        "cost_usd": fields.number(payload.get("cost"), "total_cost_usd"),
        "context_percent": fields.number(context, "used_percentage"),
        "context_tokens": fields.number(context, "context_window_size"),
    }
    return {name: value for name, value in found.items() if value is not None}


HOOKS = Hooks(
    events=tuple(_WORDS.moments),
    own_directives=OwnDirectives(DIRECTIVE_FILE, with_imports=True, below=True),
    read=read,
    answer=answer,
)
