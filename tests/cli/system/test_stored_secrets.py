"""Secrets planted on every road that text takes: none is found in any file under RAMET_HOME or in any report."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.command_line import CommandLine
from tests.cli.waits import wait_for
from tests.model.redaction.planted import Maker

from ramet.store.database.blobs import Codec

AGENT = """
import json, os, sys, time
token = {token!r}
print("the token is " + token, flush=True)
for at in range(0, len(token), 9):
    print(json.dumps({{"kind": "text", "text": token[at : at + 9], "is_partial": True}}), flush=True)
    time.sleep(0.1)
print(json.dumps({{"kind": "tool_call", "call_id": token, "name": token, "input": {{"content": "a\\n" + token}}}}))
print(json.dumps({{"kind": "tool_result", "call_id": token, "output": "\\x1b[31m" + token + "\\x1b[0m"}}))
print(json.dumps({{"kind": "native_id", "native_id": token}}))
print(token, file=sys.stderr, flush=True)
if os.environ["RAMET_EFFORT"] == "1":
    os.makedirs(".ramet/e1", exist_ok=True)
    open(".ramet/e1/1_PLAN.md", "w").write("# Plan\\n" + token + "\\n")
open(token + ".txt", "w").write("named so")
print(json.dumps({{"kind": "end", "outcome": "success", "answer": token, "reason": token}}))
"""


def stored(home: Path) -> Iterator[tuple[str, bytes]]:
    """Every file but the agents' own work, and every blob of the database."""
    for path in sorted(home.rglob("*")):
        if path.is_file() and "worktrees" not in path.relative_to(home).parts:
            yield str(path), path.read_bytes()
    with sqlite3.connect(home / "ramet.db") as db:
        for codec, size, data in db.execute("SELECT codec, size, data FROM blobs"):
            yield "a blob", Codec().unpack(codec, size, data)
    yield from ((str(path), path.read_bytes()) for path in home.rglob(".ramet/*/*.md"))


@pytest.mark.requirement("R341")
def test_no_file_under_the_home_and_no_report_has_a_planted_secret(shop: CommandLine, home: Path) -> None:
    token = Maker(341).expand("glpat-{b20}")
    agent = home / "agent.py"
    agent.write_text(AGENT.format(token=token))
    profile = {"driver": "command", "program": ["python3", str(agent)]}
    shop.configure({"drivers": {"profiles": {"planter": profile}}})
    shop("add", "leave a plan", "--driver", "planter", "--skill", "plan")
    shop("work", "--once")
    shop.ok("history", "commit", f"fix-{token}", f"use {token}")
    shop.ok("agent", "register", f"agent-{token}", "--label", token)
    assert shop("show", f"fix-{token}-which-is-not-there").returncode == 3
    shop.ok("project", "add", str(shop.cwd), "--name", token)
    assert "ramet/r1" in shop("run", "-", "--driver", "planter", stdin=f"- [ ] use {token}\n").stdout
    transcript = home / f"{token}.jsonl"
    line = {"type": "user", "uuid": token, "sessionId": token, "message": {"role": "user", "content": f"use {token}"}}
    transcript.write_text(json.dumps(line) + "\n")
    for event in ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop"):
        payload = {
            "hook_event_name": event,
            "session_id": token,
            "transcript_path": str(transcript),
            "cwd": str(shop.cwd),
            "prompt": f"use {token}",
            "tool_name": token,
            "tool_input": {"file_path": f"/x/{token}"},
            "tool_use_id": token,
        }
        shop.ok("rpc", "call", "hooks.event", json.dumps({"vendor": "claude", "payload": payload}))
    shop.ok("rpc", "call", "history.commit", json.dumps({"branch": "b", "text": "x", "idempotency_key": token}))
    wait_for(lambda: shop.json("query", "select count(*) as n from sessions")["rows"][0][0] >= 2)
    shop("daemon", "stop")
    found = [name for name, data in stored(home / "ramet") if token.encode() in data]
    whole = b"".join(data for _, data in stored(home / "ramet"))
    assert found == []
    assert whole.count(b"[REDACTED:gitlab:") > 10
    reports = [path.read_text() for path in shop.cwd.rglob(".ramet/*/*.md")]
    assert len(reports) == 1
    assert token not in reports[0]
    assert "although the skill plan changes none: [REDACTED:gitlab:" in reports[0]


@pytest.mark.requirement("R330")
def test_a_projects_own_patterns_apply_to_what_is_stored_for_it_and_nowhere_else(shop: CommandLine, home: Path) -> None:
    badge = "corp-" + Maker(330).of("0123456789", 8)
    (shop.cwd / "ramet.yaml").write_text("redaction: {patterns: ['corp-[0-9]{8}']}\n")
    shop("add", f"printf 'corp-%s\\n' {badge[5:]}", "--driver", "shell", "--skill", "do")
    shop("work", "--once")
    shop("add", f"echo 1. Do it.; touch $(printf 'corp-%s.txt' {badge[5:]})", "--driver", "shell", "--skill", "plan")
    shop("work", "--once")
    (plan,) = [path.read_text() for path in shop.cwd.rglob(".ramet/*/*.md")]
    assert "although the skill plan changes none: [REDACTED:configured:" in plan
    shop.ok("history", "commit", "main", f"it is {badge}")
    transcript = home / "session.jsonl"
    said = {"role": "user", "content": f"my badge is {badge}"}
    line = {"type": "user", "uuid": "u1", "sessionId": "w1", "timestamp": "2026-01-05T08:00:00Z", "message": said}
    transcript.write_text(json.dumps(line) + "\n")
    for event in ("SessionStart", "UserPromptSubmit", "Stop"):
        payload = {"hook_event_name": event, "session_id": "w1", "transcript_path": str(transcript)}
        payload |= {"cwd": str(shop.cwd), "prompt": f"my badge is {badge}"}
        shop.ok("rpc", "call", "hooks.event", json.dumps({"vendor": "claude", "payload": payload}))
    wait_for(lambda: shop.json("query", "select count(*) as n from ingests")["rows"][0][0] == 1)
    shop("daemon", "stop")
    assert [name for name, data in stored(home / "ramet") if badge.encode() in data] == []
    assert b"".join(data for _, data in stored(home / "ramet")).count(b"[REDACTED:configured:") >= 4
    other = CommandLine(home, home / "other")
    other.cwd.mkdir()
    other.ok("history", "commit", "elsewhere", f"it is {badge}")
    other("daemon", "stop")
    assert [name for name, data in stored(home / "ramet") if badge.encode() in data] != []


@pytest.mark.requirement("R330")
def test_a_project_that_turns_redaction_off_is_ignored_and_named(shop: CommandLine, home: Path) -> None:
    token = Maker(330).expand("ghp_{a36}")
    (shop.cwd / "ramet.yaml").write_text("redaction: {enabled: false, patterns: []}\n")
    done = shop("history", "commit", "main", f"use {token}")
    assert "redaction.enabled" in done.stderr
    assert "redaction.patterns" in done.stderr
    shop("daemon", "stop")
    assert [name for name, data in stored(home / "ramet") if token.encode() in data] == []
