"""The part of the demo with an agent that a person starts: it reports by its hooks, the daemon is killed under it, its
context is compacted, and what it forgot is given back.

There is no model here, so a program takes the place of Claude Code: it calls the hooks that its settings name, with the
same payloads, and keeps a transcript of the same kind.
"""

import json
import os
import subprocess
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from demo.stage import capture, kill_daemon, make_project, run, say, wait_until

_RULES = "# How we work here\n\nPrices are whole numbers of cents, never floats.\n"
_SUMMARY = "We are adding vouchers to the shop."


def show(project: Path) -> None:
    """One session from its first prompt to what its compaction dropped."""
    make_project(project, {}, **{"AGENTS.md": _RULES})
    os.chdir(project)

    say("People start most agents themselves. Set up a project once, and Ramet records these agents too.")
    run("ramet init --agent claude")

    say("An agent starts. It does not read the project's rules by itself, so Ramet passes them on, once.")
    window = _Window(project)
    window.hook("SessionStart", source="startup")
    window.ask("Let customers pay with vouchers.")
    window.use("Read", {"file_path": str(project / "shop.py")}, "def total(prices: list[int]) -> int: ...")

    say("The daemon is killed. The agent keeps running; its next hook starts a new one, which reads what was missed.")
    click.secho(f"  killed: daemon {kill_daemon()}", fg="red")
    steps = [("Write the voucher's test", "completed"), ("Let total() take vouchers", "pending")]
    todos = [{"content": content, "status": status, "activeForm": content} for content, status in steps]
    window.use("TodoWrite", {"todos": todos}, "ok")
    window.answer("A voucher cannot be worth more than the basket. The test is written.")
    wait_until(lambda: "cannot be worth more" in capture("ramet session log s1"), "turns written without a daemon")
    run("ramet session log s1")
    run("ramet ps")

    say("Its context is full, and it keeps only a summary. Ramet sends what it must not forget.")
    window.compact()

    say("Nothing is lost. This is the context before, word for word; `ramet undo s1` continues from it.")
    run("ramet undo s1 --print")
    window.hook("SessionEnd", reason="exit")


class _Window:
    """A context window as Claude Code has one."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self._session = str(uuid.uuid4())
        self._transcript = project.parent / "transcript.jsonl"
        self._hooks = json.loads(Path("~/.claude/settings.json").expanduser().read_text())["hooks"]
        self._calls = 0

    def hook(self, event: str, **said: Any) -> None:
        """Call what the settings name for an event, and show what the agent is told."""
        payload = {
            "hook_event_name": event,
            "session_id": self._session,
            "transcript_path": str(self._transcript),
            "cwd": str(self._project),
            **said,
        }
        (command,) = [handler["command"] for group in self._hooks[event] for handler in group["hooks"]]
        environ = {**os.environ, "CLAUDE_PID": str(os.getpid())}
        called = subprocess.run(
            ["/bin/sh", "-c", command],
            input=json.dumps(payload),
            env=environ,
            check=True,
            text=True,
            capture_output=True,
        )
        answer = json.loads(called.stdout or "{}")
        click.secho(f"  {event}", fg="yellow")
        for line in answer.get("hookSpecificOutput", {}).get("additionalContext", "").splitlines():
            click.echo(f"    {line}")

    def ask(self, prompt: str) -> None:
        """A person's prompt."""
        self.hook("UserPromptSubmit", prompt=prompt)
        self._write("user", prompt)

    def use(self, tool: str, given: dict[str, Any], result: str) -> None:
        """A tool's call, before it and after it."""
        self._calls += 1
        call = f"call_{self._calls}"
        said = {"tool_name": tool, "tool_input": given, "tool_use_id": call}
        self.hook("PreToolUse", **said)
        self._write("assistant", [{"type": "tool_use", "id": call, "name": tool, "input": given}])
        self._write("user", [{"type": "tool_result", "tool_use_id": call, "content": result}])
        self.hook("PostToolUse", **said, tool_response=result)

    def answer(self, text: str) -> None:
        """The agent's last word to a prompt."""
        self._write("assistant", [{"type": "text", "text": text}])
        self.hook("Stop")

    def compact(self) -> None:
        """All that was said becomes a summary."""
        self.hook("PreCompact", trigger="auto")
        self._write("user", _SUMMARY, isCompactSummary=True)
        self.hook("SessionStart", source="compact")

    def _write(self, role: str, content: Any, **more: Any) -> None:
        line = {
            "type": role,
            "uuid": str(uuid.uuid4()),
            "sessionId": self._session,
            "timestamp": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
            "message": {"role": role, "content": content},
            **more,
        }
        with self._transcript.open("a") as file:
            file.write(json.dumps(line) + "\n")
