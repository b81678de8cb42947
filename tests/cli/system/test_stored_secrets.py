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
