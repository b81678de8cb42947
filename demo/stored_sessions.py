"""Sessions that three agent programs could have left on this machine before Ramet came: made up, in their formats."""

import json
import os
from datetime import datetime
from pathlib import Path
from typing import Any

_VOUCHERS = "Let customers pay with vouchers. A voucher must not be worth more than the basket."
_DECISION = (
    "Decision: a voucher is capped at the basket's total, and what is left of it is lost. "
    "Paying out the rest would need a refund in cash, which the till cannot book."
)
_MIGRATION = "The nightly export fails. Find out why, and fix it."
_FAILURE = "sqlite3.OperationalError: database is locked"
_CURRENCY = "Should prices be floats or integers?"


def write_all(home: Path, project: Path) -> None:
    """One session each of Claude Code, Codex and Gemini CLI, about the same project."""
    _write_claude(home, project)
    _write_codex(home, project)
    _write_gemini(home, project)


def _write_claude(home: Path, project: Path) -> None:
    session = "3f2b8c1e-5a77-4d0b-9d6e-0c1f7a9b2e41"
    said: list[tuple[str, Any]] = [
        ("user", _VOUCHERS),
        ("assistant", [{"type": "text", "text": _DECISION}]),
        ("user", "Good. Write that down in the module's docstring as well."),
        ("assistant", [{"type": "text", "text": "Done: shop.py explains the cap of vouchers."}]),
    ]
    lines = [
        {
            "type": role,
            "uuid": f"{session[:-4]}{number:04}",
            "parentUuid": f"{session[:-4]}{number - 1:04}" if number else None,
            "sessionId": session,
            "cwd": str(project),
            "version": "2.1.0",
            "timestamp": f"2026-09-14T09:3{number}:00.000Z",
            "message": {"role": role, "content": content, **_claude_usage(role, number)},
        }
        for number, (role, content) in enumerate(said)
    ]
    folder = "".join(letter if letter.isalnum() or letter == "-" else "-" for letter in str(project))
    _write_lines(home / ".claude" / "projects" / folder / f"{session}.jsonl", lines)


def _claude_usage(role: str, number: int) -> dict[str, Any]:
    if role == "user":
        return {}
    usage = {"input_tokens": 1200 + number, "output_tokens": 90, "cache_read_input_tokens": 8000}
    return {"id": f"msg_{number}", "model": "claude-sonnet-4-5", "usage": usage}


def _write_codex(home: Path, project: Path) -> None:
    thread = "0199a3c4-77aa-7f10-b6a1-52d2c1b7f003"
    call = json.dumps({"command": ["bash", "-lc", "python3 export.py --nightly"]})
    retried = json.dumps({"command": ["bash", "-lc", "python3 export.py --nightly --wait 5"]})
    items: list[dict[str, Any]] = [
        _message("user", "input_text", _MIGRATION),
        {"type": "function_call", "name": "shell", "arguments": call, "call_id": "call_1"},
        _codex_output("call_1", 1, _FAILURE),
        {"type": "function_call", "name": "shell", "arguments": retried, "call_id": "call_2"},
        _codex_output("call_2", 0, "412 rows exported"),
        _message(
            "assistant", "output_text", "The web server holds the database. The export waits for it now: --wait 5."
        ),
    ]
    meta = {"id": thread, "timestamp": "2026-10-02T21:00:00.000Z", "cwd": str(project), "cli_version": "0.163.0"}
    lines = [{"timestamp": meta["timestamp"], "type": "session_meta", "payload": meta}]
    lines += [
        {"timestamp": f"2026-10-02T21:00:{number:02}.000Z", "type": "response_item", "payload": item}
        for number, item in enumerate(items, 1)
    ]
    name = f"rollout-2026-10-02T21-00-00-{thread}.jsonl"
    _write_lines(home / ".codex" / "sessions" / "2026" / "10" / "02" / name, lines)


def _message(role: str, kind: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _codex_output(call: str, status: int, printed: str) -> dict[str, Any]:
    output = f"Exit code: {status}\nWall time: 0.4 seconds\nOutput:\n{printed}\n"
    return {"type": "function_call_output", "call_id": call, "output": output}


def _write_gemini(home: Path, project: Path) -> None:
    session = "9f0c2f64-0d36-4f5e-8f0b-6f7d3c8a1b22"
    folder = home / ".gemini" / "tmp" / "shop"
    conversation = {
        "sessionId": session,
        "projectHash": "shop",
        "startTime": "2026-08-20T15:00:00.000Z",
        "lastUpdated": "2026-08-20T15:01:00.000Z",
        "messages": [
            {"id": "g1", "timestamp": "2026-08-20T15:00:00.000Z", "type": "user", "content": _CURRENCY},
            {
                "id": "g2",
                "timestamp": "2026-08-20T15:01:00.000Z",
                "type": "gemini",
                "content": "Integers, in cents. A float cannot hold 0.10 exactly, and sums drift.",
                "model": "gemini-2.5-pro",
            },
        ],
    }
    path = folder / "chats" / "session-2026-08-20T15-00-9f0c2f64.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(conversation))
    _set_time(path, conversation["lastUpdated"])
    (folder / ".project_root").write_text(str(project))


def _write_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    _set_time(path, lines[-1]["timestamp"])


def _set_time(path: Path, instant: Any) -> None:
    """The file is as old as what it says."""
    seconds = datetime.fromisoformat(instant).timestamp()
    os.utime(path, (seconds, seconds))
