"""Transcripts read behind the hooks: a real daemon, recorded files that grow, and hooks that are heard or not."""

import asyncio
import json
import os
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.daemon.ingest import ingesting_in
from tests.daemon.process import Home
from tests.vendors.transcript_fixtures import CLAUDE, CODEX, FIXTURES

from ramet.daemon.hooks import transcript_feed
from ramet.model.hooks.hook import HookAnswer, HookEvent
from ramet.protocol.hooks.hooks import HookReply
from ramet.protocol.hooks.transcripts import AddEntries, Ingest, Ingested, Ingests

PATIENCE_SECONDS = 30
NOW = datetime(2026, 1, 5, tzinfo=UTC)
SESSION = CLAUDE.stem
Store = dict[str, list[list[Any]]]

SNAPSHOT = {
    "histories": """
        SELECT s.driver, s.native_id, c.hash FROM sessions s JOIN branches b ON b.name = s.branch
        LEFT JOIN commits c ON c.id = b.commit_id ORDER BY s.driver, s.native_id""",
    "messages": """
        SELECT s.native_id, m.role, m.tool_name, m.timestamp, m.is_provisional
        FROM messages m JOIN sessions s ON s.id = m.session_id ORDER BY s.native_id, m.timestamp, m.id""",
    "usage": """
        SELECT s.native_id, u.key, u.input_tokens, u.output_tokens, u.cache_read_tokens, u.cost_usd
        FROM usage u JOIN sessions s ON s.id = u.session_id ORDER BY s.native_id, u.key""",
}


class Agent:
    """Claude Code as it was recorded, once more: writes its files line by line, and calls its hooks."""

    def __init__(self, home: Home, is_heard: Callable[[], bool] = lambda: True) -> None:
        self.home = home
        self.path = home.path / "projects" / CLAUDE.name
        self.project = home.path / "project"
        self.project.mkdir(exist_ok=True)
        self.path.parent.mkdir(exist_ok=True)
        self._is_heard = is_heard
        self._lines: Iterator[bytes] = iter(CLAUDE.read_bytes().splitlines(keepends=True))

    def work(self, lines: int | None = None) -> None:
        """Go on for so many lines, or to the end."""
        for number in range(lines) if lines is not None else count():
            line = next(self._lines, None)
            if line is None:
                self.tell("Stop")
                return
            self._say(line, number)

    def _say(self, line: bytes, number: int) -> None:
        parsed = json.loads(line)
        if parsed.get("promptSource"):
            self.tell("UserPromptSubmit", prompt=parsed["message"]["content"], prompt_id=parsed["promptId"])
        with self.path.open("ab") as file:
            file.write(line[: len(line) // 2])
            file.flush()
            if number % 7 == 0:
                self.tell("PreToolUse", tool_name="Bash")
            file.write(line[len(line) // 2 :])
        if b"async_launched" in line:
            shutil.copytree(CLAUDE.with_suffix(""), self.path.with_suffix(""))
        if parsed["type"] in ("user", "assistant"):
            self.tell("PostToolUse", tool_name="Bash")

    def tell(self, event: str, **more: Any) -> Any:
        """Call a hook, and hear its answer."""
        return self.call(event, **more) if self._is_heard() else None

    def call(self, event: str, **more: Any) -> Any:
        client = self.home.connect()
        reply = client.call("hooks.event", vendor="claude", payload=json.dumps(self.payload(event, **more)))
        client.close()
        return reply["result"]

    def payload(self, event: str, **more: Any) -> dict[str, Any]:
        place = {"session_id": SESSION, "transcript_path": str(self.path), "cwd": str(self.project)}
        return {**place, "hook_event_name": event, **more}


def ask(home: Home, method: str, **params: Any) -> Any:
    client = home.connect()
    reply = client.call(method, **params)
    client.close()
    return reply["result"]


def snapshot(home: Home) -> Store:
    return {name: ask(home, "db.query", sql=sql)["rows"] for name, sql in SNAPSHOT.items()}


def read_bytes(home: Home) -> dict[str, int]:
    return {row["path"]: row["offset"] for row in ask(home, "ingest.list")["items"]}


def wait_until_read(home: Home, folder: str = "projects", meanwhile: Callable[[], Any] = lambda: None) -> None:
    """Until every file there was read to its end."""
    sizes = {str(path): path.stat().st_size for path in (home.path / folder).rglob("*.jsonl")}
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not sizes.items() <= read_bytes(home).items():
        assert time.monotonic() < deadline, f"{read_bytes(home)} is not all of {sizes}"
        meanwhile()
        time.sleep(0.05)


@pytest.fixture(scope="module")
def undisturbed() -> Iterator[Store]:
    """The store after a session all of whose hooks were heard."""
    with tempfile.TemporaryDirectory(prefix="ramet-") as folder:
        home = Home(Path(folder))
        try:
            home.serve()
            agent = Agent(home)
            agent.tell("SessionStart", source="startup")
            agent.work()
            wait_until_read(home)
            yield snapshot(home)
        finally:
            home.close()


@pytest.mark.requirement("R274")
def test_a_session_s_transcript_is_the_record_of_it(undisturbed: Store) -> None:
    sessions = [row[1] for row in undisturbed["histories"]]
    assert sessions == [SESSION, f"{SESSION}/a0000000000000001"]
    said = [row for row in undisturbed["messages"] if row[0] == SESSION]
    assert [row[1] for row in said].count("user") == 5
    assert [row[1] for row in said].count("assistant") >= 8
    assert not any(row[-1] for row in undisturbed["messages"])
    assert sum(row[2] for row in undisturbed["usage"]) == 12_000


@pytest.mark.requirement("R274")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_with_a_third_of_the_hooks_dropped_the_store_is_the_same(home: Home, seed: int, undisturbed: Store) -> None:
    chance = random.Random(seed)
    home.serve()
    agent = Agent(home, lambda: chance.random() > 0.3)
    agent.work()
    wait_until_read(home)
    assert snapshot(home) == undisturbed


@pytest.mark.parametrize("lines", [20, 60, 80])
def test_a_daemon_that_was_killed_goes_on_where_it_was(home: Home, lines: int, undisturbed: Store) -> None:
    daemon = home.serve()
    agent = Agent(home)
    agent.work(lines)
    daemon.send_signal(signal.SIGKILL)
    daemon.wait(PATIENCE_SECONDS)
    agent._is_heard = lambda: False
    agent.work()
    home.serve()
    wait_until_read(home)
    assert snapshot(home) == undisturbed


def test_after_the_database_was_emptied_a_session_that_goes_on_is_there_from_its_beginning(
    home: Home, undisturbed: Store
) -> None:
    daemon = home.serve()
    agent = Agent(home)
    agent.work(60)
    wait_until_read(home)
    daemon.terminate()
    daemon.wait(PATIENCE_SECONDS)
    assert home.start("reset").wait(PATIENCE_SECONDS) == 0
    home.serve()
    agent.work()
    wait_until_read(home)
    assert snapshot(home) == undisturbed


def test_a_session_that_no_daemon_saw_is_filled_in_from_the_gaps(home: Home, undisturbed: Store) -> None:
    agent = Agent(home, lambda: False)
    agent.work()
    gap = {"at": 1, "vendor": "claude", "why": "down", **agent.payload("PostToolUse")}
    (home.path / "gaps.jsonl").write_text(json.dumps(gap) + "\n" + json.dumps(gap) + "\n")
    home.serve()
    wait_until_read(home)
    assert snapshot(home) == undisturbed
    assert not list(home.path.glob("gaps*"))


def test_a_gap_that_is_left_while_the_daemon_runs_is_filled_in(home: Home, undisturbed: Store) -> None:
    home.serve()
    agent = Agent(home, lambda: False)
    agent.work()
    gap = {"at": 1, "vendor": "claude", "why": "slow", **agent.payload("SessionEnd")}
    (home.path / "gaps.jsonl").write_text(json.dumps(gap) + "\n")
    wait_until_read(home)
    assert snapshot(home) == undisturbed
    (session,) = ask(home, "db.query", sql=f"SELECT ended_at FROM sessions WHERE native_id = '{SESSION}'")["rows"]
    assert session[0] is not None


def test_a_file_that_was_replaced_doubles_nothing(home: Home, undisturbed: Store) -> None:
    home.serve()
    agent = Agent(home)
    agent.work()
    wait_until_read(home)
    copy = agent.path.with_suffix(".copy")
    shutil.copy(agent.path, copy)
    copy.rename(agent.path)
    agent.call("PostToolUse")
    wait_until_read(home)
    assert snapshot(home) == undisturbed


@pytest.mark.parametrize("behind", ["I look first.", "They want a colour.", "As I said, blue."])
def test_a_file_that_was_cut_off_and_grows_again_doubles_nothing(home: Home, behind: str, undisturbed: Store) -> None:
    home.serve()
    agent = Agent(home)
    agent.work()
    wait_until_read(home)
    whole = agent.path.read_bytes()
    os.truncate(agent.path, whole.index(b"\n", whole.index(behind.encode())) + 1)
    agent.call("PostToolUse")
    wait_until_read(home)
    agent.path.write_bytes(whole)
    agent.call("PostToolUse")
    wait_until_read(home)
    assert snapshot(home) == undisturbed


def test_a_file_that_grows_is_read_though_no_hook_tells_of_it(home: Home, undisturbed: Store) -> None:
    home.serve()
    agent = Agent(home)
    agent.call("SessionStart", source="startup")
    agent._is_heard = lambda: False
    agent.work()
    wait_until_read(home, meanwhile=lambda: agent.call("Stop", session_id="another", transcript_path="/nowhere"))
    store = snapshot(home)
    assert [row for row in store["histories"] if row[1] != "another"] == undisturbed["histories"]
    assert store["messages"] == undisturbed["messages"]


def test_before_a_compaction_everything_is_read(home: Home) -> None:
    home.serve()
    agent = Agent(home)
    agent.call("SessionStart", source="startup")
    agent._is_heard = lambda: False
    agent.work(72)
    agent.call("PreCompact", trigger="manual")
    assert read_bytes(home)[str(agent.path)] == agent.path.stat().st_size


def test_hooks_are_answered_while_a_long_transcript_is_read(home: Home) -> None:
    home.serve()
    agent = Agent(home, lambda: False)
    agent.work()
    whole = agent.path.read_bytes()
    with agent.path.open("ab") as file:
        for number in range(100):
            file.write(whole.replace(b"00000000-0000-4000-8000-", b"%08x-0000-4000-8000-" % (number + 1)))
    agent.call("UserPromptSubmit", prompt="Go on.", prompt_id="p")
    assert agent.call("PostToolUse", tool_name="Bash") == {"output": None, "status": 0}
    assert read_bytes(home)[str(agent.path)] < agent.path.stat().st_size
    wait_until_read(home)


def test_damaged_lines_cost_only_themselves(home: Home, undisturbed: Store) -> None:
    home.serve()
    agent = Agent(home)
    with agent.path.open("ab") as file:
        file.write(b'{"type":"user","uuid"\n\xff\xfe\n[1]\n')
    agent.work()
    wait_until_read(home)
    assert snapshot(home) == undisturbed
    assert "lines skipped" in home.log_file.read_text()


def test_a_sub_agent_that_is_quiet_is_read_once_while_its_parent_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a stand-in for the engine, which counts what it is given."""
    path, quiet = tmp_path / CLAUDE.name, tmp_path / SESSION / "subagents/agent-a1.jsonl"
    quiet.parent.mkdir(parents=True)
    for file in (path, quiet):
        file.write_bytes(CLAUDE.read_bytes())
    os.utime(quiet, (0, 0))
    added: list[str] = []
    told: asyncio.Queue[str] = asyncio.Queue()

    async def ask(request: Any) -> Any:
        if isinstance(request, AddEntries):
            added.append(request.path)
            told.put_nowait(request.path)
            return Ingested(session_id=1 if request.path == str(path) else 2, offset=request.offset, added=1)
        row = Ingest(session_id=1, path=str(path), offset=0, inode=None, at=NOW, driver="claude", is_open=True)
        return Ingests(items=[row])

    async def live() -> None:
        following = asyncio.create_task(ingesting_in(tmp_path, ask).follow())
        for _ in range(4):
            async with asyncio.timeout(PATIENCE_SECONDS):
                while await told.get() != str(path):
                    pass
            with path.open("ab") as file:
                file.write(b'{"type":"mode"}\n')
        following.cancel()

    monkeypatch.setattr(transcript_feed, "_INTERVAL_SECONDS", 0.01)
    monkeypatch.setattr(transcript_feed, "_PAUSE_SECONDS", 0.0)
    asyncio.run(live())
    assert added.count(str(quiet)) == 1


def test_a_session_that_has_another_id_since_its_database_was_emptied_is_read_from_its_beginning(
    tmp_path: Path,
) -> None:
    """Several daemons may share a database, and another one empties it; with a stand-in for the engine."""
    path = tmp_path / CLAUDE.name
    path.write_bytes(CLAUDE.read_bytes())
    rows = [Ingest(session_id=7, path=str(path), offset=0, inode=None, at=NOW, driver="claude", is_open=True)]
    added: asyncio.Queue[AddEntries] = asyncio.Queue()

    async def ask(request: Any) -> Any:
        if isinstance(request, AddEntries):
            added.put_nowait(request)
            return Ingested(session_id=int(request.session_id), offset=request.offset, added=1)
        return Ingests(items=rows)

    async def live() -> list[AddEntries]:
        reading = ingesting_in(tmp_path, ask)
        following = asyncio.create_task(reading.follow())
        async with asyncio.timeout(PATIENCE_SECONDS):
            told = [await added.get()]
            rows[0] = replace(rows[0], session_id=1)
            event = HookEvent(vendor="claude", moment="stop", name="Stop", native_id=SESSION, transcript_path=str(path))
            reading.hear(event, HookReply(answer=HookAnswer(), session_id=1, wants_ingest=True))
            told.append(await added.get())
        following.cancel()
        return told

    first, second = asyncio.run(live())
    assert (first.session_id, second.session_id) == (7, 1)
    assert second.entries == first.entries


def test_codex_s_threads_are_read_with_those_that_they_started(home: Home) -> None:
    shutil.copytree(FIXTURES / "codex", home.path / "sessions")
    path = home.path / "sessions" / CODEX.relative_to(FIXTURES / "codex")
    home.serve()
    payload = {
        "session_id": CODEX.stem[-36:],
        "transcript_path": str(path),
        "cwd": str(home.path),
        "hook_event_name": "Stop",
    }
    ask(home, "hooks.event", vendor="codex", payload=json.dumps(payload))
    wait_until_read(home, "sessions")
    store = snapshot(home)
    assert [row[0] for row in store["histories"]] == ["codex", "codex"]
    assert [row[1] for row in store["messages"]].count("assistant") >= 6


def test_a_transcript_that_is_no_file_keeps_nobody_waiting(home: Home) -> None:
    home.serve()
    agent = Agent(home)
    os.mkfifo(agent.path)
    assert agent.call("PreCompact", trigger="manual") == {"output": None, "status": 0}
    assert agent.call("PreCompact", trigger="manual") == {"output": None, "status": 0}
