"""`ramet import`, killed: the command or the daemon, with no warning, and run again."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command_line import CommandLine

STORED = Path(__file__).parents[1] / "vendors" / "sessions"
SESSIONS = 40
QUERIES = (
    """SELECT s.native_id, s.created_at, s.ended_at, s.title, s.model, p.native_id
       FROM sessions s LEFT JOIN sessions p ON p.id = s.parent_session_id""",
    """SELECT s.native_id, m.role, m.timestamp, hex(c.hash), c.seq
       FROM messages m JOIN sessions s ON s.id = m.session_id JOIN commits c ON c.id = m.commit_id""",
    """SELECT s.native_id, u.key, u.model, u.input_tokens, u.output_tokens
       FROM usage u JOIN sessions s ON s.id = u.session_id""",
    "SELECT source, position, is_whole, skipped FROM imports",
)


@pytest.fixture
def user(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with sessions of Claude Code, which differ in their ids."""
    home = tmp_path_factory.mktemp("user")
    folder = home / ".claude" / "projects" / "-shop"
    folder.mkdir(parents=True)
    recorded = next((STORED / "claude" / "home").rglob("*0001.jsonl")).read_text(encoding="utf-8")
    for number in range(SESSIONS):
        text = recorded.replace("aaaaaaaa", f"{number:08}").replace("bbbbbbbb", f"{number:08}")
        file = folder / f"{number:08}-0000-4000-8000-000000000001.jsonl"
        file.write_text(text.replace('"msg_', f'"msg_{number}x'), encoding="utf-8")
        os.utime(file, (1_762_000_000 + number, 1_762_000_000 + number))
    return home


def make(home: Path, user: Path) -> CommandLine:
    made = CommandLine(home, home)
    made.environ["HOME"] = str(user)
    return made


def contents(ramet: CommandLine) -> list[Any]:
    asked = [json.dumps({"sql": query}) for query in QUERIES]
    return [sorted(map(str, json.loads(ramet.ok("rpc", "call", "db.query", each))["rows"])) for each in asked]


def daemon_pid(ramet: CommandLine) -> int:
    return int(ramet.json("daemon", "status")["pid"])


def interrupt(ramet: CommandLine, *, seconds: float, kills_daemon: bool) -> None:
    """Start an import, and kill it or its daemon after a moment."""
    pid = daemon_pid(ramet)
    process = subprocess.Popen(
        [ramet.program, "import", "--yes"],
        cwd=ramet.cwd,
        env=ramet.environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.kill(pid if kills_daemon else process.pid, signal.SIGKILL)
        process.wait(60)


@pytest.mark.requirement("R383")
def test_an_import_that_was_killed_and_repeated_leaves_the_same_record(user: Path) -> None:
    homes = [Path(tempfile.mkdtemp(prefix="ramet-")) for _ in range(2)]  # short, because a socket's name must be
    calm, killed = (make(home, user) for home in homes)
    try:
        assert calm.json("import", "--yes")["imported"]["new"] == SESSIONS
        for number in range(4):
            killed.ok("daemon", "start")
            interrupt(killed, seconds=0.15 + 0.1 * number, kills_daemon=bool(number % 2))
        killed("daemon", "start")
        done = killed.json("import", "--yes")["imported"]
        assert done["failed"] == []
        assert contents(killed) == contents(calm)
        assert killed.json("import", "--yes")["imported"]["unchanged"] == SESSIONS
    finally:
        for each in (calm, killed):
            each("daemon", "stop")
            shutil.rmtree(each.home, ignore_errors=True)
