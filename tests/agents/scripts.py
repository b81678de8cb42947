"""What the scripted model says in these tests, by the marker in the prompt."""

from typing import Any

RESETS_AT = 1_900_000_000
"""17 March 2030, 17:46:40 UTC: when the scripted usage limit ends."""

_CLAUDE_LIMIT = {
    "anthropic-ratelimit-unified-status": "rejected",
    "anthropic-ratelimit-unified-reset": str(RESETS_AT),
    "anthropic-ratelimit-unified-representative-claim": "five_hour",
    "retry-after": "3600",
}


def _error(kind: str, status: int, message: str, **more: Any) -> list[list[dict[str, Any]]]:
    headers = more.pop("headers", {})
    return [[{"error": {"type": kind, "message": message, **more}, "status": status, "headers": headers}]]


SCRIPTS: dict[str, Any] = {
    "answer": [[{"thinking": "They want a colour."}, {"text": "It is blue."}]],
    "again": [[{"text": "As I said, blue."}]],
    "tools": [
        [{"text": "I look first."}, {"tool": "Bash", "input": {"command": "echo hi", "description": "Say hi"}}],
        [{"tool": "Write", "input": {"file_path": "TREE/note.txt", "content": "blue\n"}}],
        [{"text": "It is written."}],
    ],
    "write": [
        [{"tool": "Write", "input": {"file_path": "note.txt", "content": "blue\n"}}],
        [{"text": "It is written."}],
    ],
    "edit": [
        [{"tool": "Read", "input": {"file_path": "shop.py"}}],
        [
            {
                "tool": "Edit",
                "input": {
                    "file_path": "shop.py",
                    "old_string": "open_shop()\n",
                    "new_string": "open_shop()\ngreet_every_customer(today)\n",
                },
            }
        ],
        [{"tool": "Bash", "input": {"command": "echo 'close_shop(evening)' >> shop.py", "description": "Close"}}],
        [{"text": "It is edited."}],
    ],
    "refused": [
        [{"tool": "Read", "input": {"file_path": "TREE/nowhere.txt"}}],
        [{"text": "There is no such file."}],
    ],
    "agents": [
        [
            {"text": "I ask another."},
            {
                "tool": "Agent",
                "input": {"description": "Look", "prompt": "Look. [[sub]]", "subagent_type": "general-purpose"},
            },
        ],
        [{"text": "The other one is at work."}],
        [{"text": "The other one found two files."}],
    ],
    "sub": [
        [{"tool": "Bash", "input": {"command": "echo two", "description": "Count"}}],
        [{"text": "There are two files."}],
    ],
    "serve": [
        [{"tool": "Bash", "input": {"command": "sleep 617", "description": "Serve", "run_in_background": True}}],
        [{"text": "It is served."}],
    ],
    "hold": [
        [{"text": "I begin."}, {"tool": "Bash", "input": {"command": "echo begun", "description": "Begin"}}],
        [{"hold": True}, {"text": "I am done."}],
    ],
    "commit": [
        [
            {
                "tool": "Bash",
                "input": {
                    "command": "echo blue > note.txt && git add note.txt && git commit -qm 'A note' && git status -sb",
                    "description": "Commit",
                },
            }
        ],
        [{"text": "It is committed."}],
    ],
    "fetch": [
        [{"tool": "Bash", "input": {"command": "curl -sS -m 20 http://refused.example/", "description": "Fetch"}}],
        [{"text": "It was refused."}],
    ],
    "overloaded": _error("overloaded_error", 529, "Overloaded"),
    "wrong": _error("invalid_request_error", 400, "model: no such model"),
    "key": _error("authentication_error", 401, "invalid key"),
    "limit": _error("rate_limit_error", 429, "This would exceed your account's rate limit.", headers=_CLAUDE_LIMIT),
    # Codex has other tools.
    "command": [
        [{"text": "I look first."}, {"tool": "exec_command", "input": {"cmd": "echo hi"}}],
        [{"tool": "exec_command", "input": {"cmd": "echo no; exit 3"}}],
        [{"text": "The second one failed."}],
    ],
    "commit-command": [
        [
            {
                "tool": "exec_command",
                "input": {
                    "cmd": "echo blue > note.txt && git add note.txt && git commit -qm 'A note' && git status -sb"
                },
            }
        ],
        [{"text": "It is committed."}],
    ],
    "fetch-command": [
        [{"tool": "exec_command", "input": {"cmd": "curl -sS -m 20 http://refused.example/"}}],
        [{"text": "It was refused."}],
    ],
    "patch": [
        [{"custom": "apply_patch", "input": "*** Begin Patch\n*** Add File: note.txt\n+blue\n*** End Patch"}],
        [{"text": "The file is there."}],
    ],
    "pause": [
        [{"text": "I begin."}, {"tool": "exec_command", "input": {"cmd": "echo begun"}}],
        [{"hold": True}, {"text": "I am done."}],
    ],
    "plan": _error("usage_limit_reached", 429, "The limit is reached.", plan_type="plus", resets_at=RESETS_AT),
}

HELD_SECOND: list[list[dict[str, Any]]] = [[{"hold": True}, *SCRIPTS["patch"][0]], *SCRIPTS["patch"][1:]]
"""Who asks first is never answered; Codex, who asks then, writes a file."""

CODEX_SCRIPTS: dict[str, Any] = {
    **SCRIPTS,
    "spawn": [
        [{"tool": "spawn_agent", "namespace": "multi_agent_v1", "input": {"message": "Look. [[sub]]"}}],
        [{"tool": "exec_command", "input": {"cmd": "sleep 2"}}],
        [{"text": "The other one has looked."}],
    ],
    "sub": SCRIPTS["command"],
}
"""What is different where Codex runs sub-agents."""
