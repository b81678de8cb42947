"""The vendors' schemas for the answers of hooks, and whether an answer fits."""

import json
from typing import Any

from ramet.model.hooks.hook import HookEvent

_COMMON = {"continue", "stopReason", "suppressOutput", "systemMessage"}
_BLOCK = {"decision", "reason"}
_PERMISSION = {"permissionDecision", "permissionDecisionReason", "updatedInput"}

# What the schemas have for the answer of a hook: at the top, and in `hookSpecificOutput`; None: no such object.
_CLAUDE: dict[str, tuple[set[str], set[str] | None]] = {
    "SessionStart": (_COMMON, {"additionalContext", "sessionTitle"}),
    "UserPromptSubmit": (_COMMON | _BLOCK, {"additionalContext", "sessionTitle"}),
    "PreToolUse": (_COMMON | _BLOCK, {"additionalContext", *_PERMISSION}),
    "PostToolUse": (_COMMON | _BLOCK, {"additionalContext", "updatedToolOutput"}),
    "PostToolUseFailure": (_COMMON, {"additionalContext"}),
    "PermissionRequest": (_COMMON, {"decision"}),
    "Notification": (_COMMON, {"additionalContext"}),
    "SubagentStart": (_COMMON, {"additionalContext"}),
    "Stop": (_COMMON | _BLOCK, None),
    "SubagentStop": (_COMMON | _BLOCK, None),
}
_CODEX: dict[str, tuple[set[str], set[str] | None]] = {
    "SessionStart": (_COMMON, {"additionalContext"}),
    "UserPromptSubmit": (_COMMON | _BLOCK, {"additionalContext"}),
    "PreToolUse": (_COMMON, {"additionalContext", *_PERMISSION}),
    "PostToolUse": (_COMMON | _BLOCK, {"additionalContext", "updatedMCPToolOutput"}),
    "PermissionRequest": (_COMMON, {"decision"}),
    "SubagentStart": (_COMMON, {"additionalContext"}),
    "Stop": (_COMMON | _BLOCK, None),
    "SubagentStop": (_COMMON | _BLOCK, None),
}
_SCHEMAS = {"claude": _CLAUDE, "codex": _CODEX}


def check_schema(event: HookEvent, output: Any) -> None:
    """Fail unless the vendor's program would accept it."""
    top, inner = _SCHEMAS[event.vendor].get(event.name, (_COMMON, None))
    assert isinstance(output, dict)
    assert output.keys() <= top | ({"hookSpecificOutput"} if inner is not None else set())
    if "decision" in output:
        assert output["decision"] == "block"
        assert output["reason"].strip()
    if (specific := output.get("hookSpecificOutput")) is not None and inner is not None:
        assert specific.keys() <= {"hookEventName"} | inner
        assert specific["hookEventName"] == event.name
        check_refusal(specific)
    json.dumps(output)


def check_refusal(specific: dict[str, Any]) -> None:
    if "permissionDecision" in specific:
        assert specific["permissionDecision"] == "deny"
        assert specific["permissionDecisionReason"].strip()
    if "decision" in specific:
        assert specific["decision"]["behavior"] == "deny"
        assert specific["decision"]["message"].strip()
