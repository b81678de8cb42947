"""Records the streams of the real CLIs for `tests/vendors`, against the scripted model.

    python -m tests.agents.recording

Everything that is of one machine or one moment is replaced. What is expected of a stream is written beside it as the
driver reads it now: read the difference before you keep it.
"""

import json
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from tests.agents import fake_agent
from tests.agents.scripts import SCRIPTS
from tests.agents.stage import Run, Stage, a_stage, run_driver

from ramet.config.settings import ProfileSettings

STREAMS = Path(__file__).resolve().parents[1] / "vendors" / "streams"
SESSION = "11111111-1111-4111-8111-111111111111"

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_REPLACED = (
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:8080"),
    (re.compile(r'("[a-z_]*_ms":)\d+'), r"\g<1>1"),
    (re.compile(r'"(timestamp|end_time)":("[^"]*"|\d+)'), r'"\g<1>":"2026-01-01T00:00:00Z"'),
    (re.compile(r"cc-socks/\d+"), "cc-socks/1"),
    (re.compile(r"claude-\d+/[-\w]+/"), "claude/tree/"),
    (re.compile(r"projects/[-\w]+/"), "projects/tree/"),
    (re.compile(r"\ba[0-9a-f]{16}\b"), "a0000000000000001"),
    (re.compile(r"\b0m[0-9a-z]{6,10}-[0-9a-f]{8}\b"), "run-1"),
)
_LONG_LISTS = ("tools", "slash_commands", "terminal_slash_commands", "skills", "plugins", "capabilities", "agents")

Case = Callable[[Stage], Run]


def _claude(prompt: str, **more: Any) -> Case:
    return lambda stage: stage.run(prompt, **{"native_id": SESSION, **more})


def _codex(prompt: str, **more: Any) -> Case:
    return lambda stage: stage.run(prompt, **more)


def _claude_again(**more: Any) -> Case:
    def perform(stage: Stage) -> Run:
        stage.run("[[tools]]", native_id=SESSION)
        return stage.run("[[again]]", native_id=SESSION, resumes=True, **more)

    return perform


def _codex_again(stage: Stage) -> Run:
    first = stage.run("[[command]]")
    return stage.run("[[again]]", native_id=first.native_id, resumes=True)


def _killed(prompt: str, native_id: str | None = None) -> Case:
    return lambda stage: stage.run(
        prompt, native_id=native_id, kill_when=lambda: any(asked["step"] == 1 for asked in stage.model.requests())
    )


CLAUDE: dict[str, Case] = {
    "answer": _claude("[[answer]]"),
    "tools": _claude("[[tools]]"),
    "failed-tool": _claude("[[refused]]"),
    "two-results": _claude("[[agents]]"),
    "overloaded": _claude("[[overloaded]]"),
    "invalid-request": _claude("[[wrong]]"),
    "bad-key": _claude("[[key]]"),
    "resumed": _claude_again(),
    "forked": _claude_again(forks=True),
    "unknown-session": _claude("[[again]]", resumes=True),
    "killed": _killed("[[hold]]", SESSION),
}
CODEX: dict[str, Case] = {
    "answer": _codex("[[answer]]"),
    "command": _codex("[[command]]"),
    "file-change": _codex("[[patch]]"),
    "overloaded": _codex("[[overloaded]]"),
    "invalid-request": _codex("[[wrong]]"),
    "bad-key": _codex("[[key]]"),
    "usage-limit": _codex("[[plan]]"),
    "warning": _codex("[[answer]]", codex_model="scripted"),
    "resumed": _codex_again,
    "unknown-thread": _codex("[[again]]", native_id=SESSION, resumes=True),
    "killed": _killed("[[pause]]"),
}
EVENTS = ProfileSettings(output="jsonl")
COMMAND: dict[str, tuple[ProfileSettings, list[fake_agent.Step]]] = {
    "text": (ProfileSettings(), [{"say": "First."}, {"say": ""}, {"say": "Last."}]),
    "events": (
        EVENTS,
        [
            {"event": {"kind": "native_id", "native_id": "window-1"}},
            {"event": {"kind": "tool_call", "call_id": "1", "name": "look", "input": {"at": "note.txt"}}},
            {"event": {"kind": "tool_result", "call_id": "1", "output": "blue"}},
            {"say": "not an event"},
            {"event": {"kind": "usage", "key": "all", "input_tokens": 10, "output_tokens": 2, "cost_usd": 0.01}},
            {"event": {"kind": "text", "text": "It is blue."}},
        ],
    ),
    "usage-limit": (
        EVENTS,
        [
            {"event": {"kind": "limit", "text": "come back later", "resets_at": "2030-03-17T17:46:40Z"}},
            {"event": {"kind": "end", "outcome": "error", "failure": "limit", "reason": "come back later"}},
            {"exit": 1},
        ],
    ),
    "claims-success": (EVENTS, [{"event": {"kind": "end", "outcome": "success", "answer": "done"}}, {"exit": 1}]),
    "try-again": (ProfileSettings(), [{"complain": "no room"}, {"exit": 75}]),
    "failed": (ProfileSettings(), [{"say": "Half."}, {"complain": "no such thing"}, {"exit": 3}]),
    "killed": (ProfileSettings(), [{"say": "Half."}, {"kill": signal.SIGKILL.name}]),
}
SHELL = {"answer": "echo hi; cat", "failed": "echo half; echo no >&2; exit 75", "killed": "kill -9 $$"}


def record() -> Iterator[str]:
    """Everything, one after the other."""
    for driver, cases in (("claude", CLAUDE), ("codex", CODEX)):
        for case, perform in cases.items():
            with a_stage(driver, SCRIPTS) as stage:
                yield _keep(driver, case, perform(stage), stage)
    with a_stage("claude", SCRIPTS, key_name="CLAUDE_CODE_OAUTH_TOKEN") as stage:
        yield _keep("claude", "usage-limit", _claude("[[limit]]")(stage), stage)
    for case, (profile, script) in COMMAND.items():
        program = msgspec.structs.replace(profile, program=fake_agent.program(script))
        yield _keep("command", case, run_driver("command", "Do it.", program), profile=profile)
    for case, command in SHELL.items():
        yield _keep("shell", case, run_driver("shell", command, ProfileSettings(), context="the plan\n"))


def _keep(driver: str, case: str, run: Run, stage: Stage | None = None, profile: ProfileSettings | None = None) -> str:
    from tests.vendors.recorded import read

    folder = STREAMS / driver
    folder.mkdir(parents=True, exist_ok=True)
    text = _scrub("\n".join(run.lines), stage)
    lines = [_shorten(line) for line in text.splitlines()]
    errors = re.split(r"\n\s*Stack backtrace", _scrub(run.exit.errors, stage))[0].strip()
    (folder / f"{case}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    ended = {"status": run.exit.status, "signal": run.exit.signal, "errors": errors}
    if profile is not None and profile.output != "text":
        ended["profile"] = {"output": profile.output}
    (folder / f"{case}.exit.json").write_text(_pretty(ended), encoding="utf-8")
    (folder / f"{case}.expected.json").write_text(_pretty(read(driver, case)), encoding="utf-8")
    return f"{driver}/{case}: {run.end.outcome} {run.end.failure or ''}"


def _scrub(text: str, stage: Stage | None) -> str:
    if stage is not None:
        text = text.replace(str(stage.directory), "/tree").replace(str(stage.folder), "/home")
    for pattern, replacement in _REPLACED:
        text = pattern.sub(replacement, text)
    seen: dict[str, str] = {SESSION: SESSION}
    return _UUID.sub(lambda found: seen.setdefault(found[0], f"00000000-0000-4000-8000-{len(seen):012}"), text)


def _shorten(line: str) -> str:
    """Claude Code's first line lists everything that is installed."""
    try:
        parsed = json.loads(line)
    except ValueError:
        return line
    if not isinstance(parsed, dict) or parsed.get("subtype") != "init":
        return line
    return json.dumps({name: [] if name in _LONG_LISTS else value for name, value in parsed.items()})


def _pretty(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"


if __name__ == "__main__":
    for kept in record():
        print(kept)
