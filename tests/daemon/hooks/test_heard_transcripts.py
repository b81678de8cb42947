"""Which transcripts are read: what fails for one keeps no other waiting. With a stand-in for the engine."""

import asyncio
import json
import os
import threading
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.ingest import ingesting_in
from tests.vendors.transcript_fixtures import CLAUDE

from ramet.daemon.hooks import transcript_feed
from ramet.daemon.hooks.transcript_feed import TranscriptFeed
from ramet.errors import DatabaseUnreachable, SessionNotFound
from ramet.model.hooks.hook import HookAnswer, HookEvent
from ramet.protocol.hooks.hooks import HookFacts, HookReply, RecordHook
from ramet.protocol.hooks.transcripts import AddEntries, Ingest, Ingested, Ingests, ListIngests

PATIENCE_SECONDS = 30
NOW = datetime(2026, 1, 5, tzinfo=UTC)


class Engine:
    """Says how far files were read, and takes what is read of them."""

    def __init__(self) -> None:
        self.rows: dict[str, Ingest] = {}
        self.failures: list[tuple[str, Exception]] = []
        """Of which path it cannot say it, once each, and why."""
        self.added: asyncio.Queue[AddEntries] = asyncio.Queue()
        self.recorded: list[RecordHook] = []

    async def ask(self, request: Any) -> Any:
        if isinstance(request, RecordHook):
            self.recorded.append(request)
            return HookReply(answer=HookAnswer(), session_id=len(self.recorded), wants_ingest=True)
        if isinstance(request, AddEntries):
            return self._add(request)
        assert isinstance(request, ListIngests)
        for failure in self.failures:
            if failure[0] == request.path:
                self.failures.remove(failure)
                raise failure[1]
        asked = (request.session_id, request.path)
        return Ingests(items=[row for row in self.rows.values() if {row.session_id, row.path, None} >= {*asked}])

    def _add(self, request: AddEntries) -> Ingested:
        session_id = int(request.session_id) + (100 if request.agent_id else 0)
        self.rows[request.path] = Ingest(
            session_id=session_id,
            path=request.path,
            offset=request.offset,
            inode=request.inode,
            at=NOW,
            driver="claude",
            is_open=True,
        )
        self.added.put_nowait(request)
        return Ingested(session_id=session_id, offset=request.offset, added=1)

    async def next_path(self) -> str:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return (await self.added.get()).path


def tell(reading: TranscriptFeed, path: Path, session_id: int) -> None:
    """A hook of that session, as the daemon hears it."""
    event = HookEvent(vendor="claude", moment="stop", name="Stop", native_id=path.stem, transcript_path=str(path))
    reading.hear(event, HookReply(answer=HookAnswer(), session_id=session_id, wants_ingest=True))


def make_transcripts(folder: Path, count: int) -> list[Path]:
    paths = [folder / f"w{number}.jsonl" for number in range(1, count + 1)]
    for path in paths:
        path.write_bytes(CLAUDE.read_bytes())
    return paths


async def becomes(fact: Callable[[], bool]) -> None:
    for _ in range(PATIENCE_SECONDS * 100):
        if fact():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come true in time")


def following(reading: TranscriptFeed, work: Callable[[], Awaitable[None]]) -> None:
    """Do something while it reads."""

    async def live() -> None:
        task = asyncio.create_task(reading.follow())
        try:
            await work()
        finally:
            task.cancel()

    asyncio.run(live())


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript_feed, "_INTERVAL_SECONDS", 0.02)
    monkeypatch.setattr(transcript_feed, "_PAUSE_SECONDS", 0.0)


@pytest.mark.parametrize("failure", [SessionNotFound(), ZeroDivisionError()])
def test_a_transcript_that_cannot_be_found_keeps_no_other_from_being_read(tmp_path: Path, failure: Exception) -> None:
    engine = Engine()
    lost, other = make_transcripts(tmp_path, 2)
    engine.failures.append((str(lost), failure))
    reading = ingesting_in(tmp_path, engine.ask)

    async def work() -> None:
        tell(reading, lost, 1)
        tell(reading, other, 2)
        assert await engine.next_path() == str(other)

    following(reading, work)


def test_what_could_not_be_found_because_the_database_was_away_is_read_when_it_is_back(tmp_path: Path) -> None:
    engine = Engine()
    away, other = make_transcripts(tmp_path, 2)
    engine.failures.append((str(away), DatabaseUnreachable()))
    reading = ingesting_in(tmp_path, engine.ask)

    async def work() -> None:
        tell(reading, away, 1)
        tell(reading, other, 2)
        assert {await engine.next_path(), await engine.next_path()} == {str(away), str(other)}

    following(reading, work)


def test_after_a_long_quiet_a_sub_agent_s_transcript_is_not_read_again(tmp_path: Path) -> None:
    engine = Engine()
    (path,) = make_transcripts(tmp_path, 1)
    quiet = tmp_path / "w1/subagents/agent-a1.jsonl"
    quiet.parent.mkdir(parents=True)
    quiet.write_bytes(CLAUDE.read_bytes())
    reading = ingesting_in(tmp_path, engine.ask)

    async def work() -> None:
        tell(reading, path, 1)
        assert [await engine.next_path(), await engine.next_path()] == [str(path), str(quiet)]
        for each in (path, quiet):
            os.utime(each, (0, 0))
        reading._known[str(path)].heard_at = 0.0
        await becomes(lambda: not reading._known)
        with path.open("ab") as file:
            file.write(b'{"type":"mode"}\n')
        tell(reading, path, 1)
        assert await engine.next_path() == str(path)
        await becomes(lambda: str(quiet) in reading._known)
        await reading.read_session(101)
        assert engine.added.empty()

    following(reading, work)


def test_what_was_read_of_a_transcript_that_is_another_session_s_is_not_read_again(tmp_path: Path) -> None:
    """It was handed on; a hook that comes late still names the session that had it."""
    engine = Engine()
    path, other = make_transcripts(tmp_path, 2)
    reading = ingesting_in(tmp_path, engine.ask)

    async def work() -> None:
        tell(reading, path, 2)
        assert await engine.next_path() == str(path)
        tell(reading, path, 1)
        tell(reading, other, 3)
        assert await engine.next_path() == str(other)
        assert engine.rows[str(path)].session_id == 2

    following(reading, work)


def test_a_gap_is_filled_though_the_disk_hangs_where_its_hook_was_called(tmp_path: Path) -> None:
    engine, disk = Engine(), threading.Event()
    paths = make_transcripts(tmp_path, 2)
    gaps = [
        {"at": 1, "vendor": "claude", "why": "down", "hook_event_name": "Stop", "session_id": path.stem}
        | {"cwd": f"/{path.stem}", "transcript_path": str(path)}
        for path in paths
    ]
    (tmp_path / "gaps.jsonl").write_text("".join(json.dumps(gap) + "\n" for gap in gaps))

    def gather(event: HookEvent) -> HookFacts:
        if event.cwd == "/w1":
            disk.wait(PATIENCE_SECONDS)
        return HookFacts(project="/shop")

    async def work() -> None:
        assert {await engine.next_path(), await engine.next_path()} == {str(path) for path in paths}

    following(ingesting_in(tmp_path, engine.ask, gather, deadline_ms=100), work)
    disk.set()
    assert [record.facts.project for record in engine.recorded] == ["/w1", "/shop"]
    assert not (tmp_path / "gaps.taken").exists()


def test_a_gap_whose_place_cannot_be_looked_at_keeps_no_other_from_being_filled(tmp_path: Path) -> None:
    engine = Engine()
    lost, other = make_transcripts(tmp_path, 2)
    gaps = [
        {"vendor": "claude", "hook_event_name": "Stop", "session_id": path.stem, "transcript_path": str(path)}
        for path in (lost, other)
    ]
    (tmp_path / "gaps.jsonl").write_text("".join(json.dumps(gap) + "\n" for gap in gaps))

    def gather(event: HookEvent) -> HookFacts:
        if event.native_id == lost.stem:
            raise ZeroDivisionError
        return HookFacts(project="/shop")

    async def work() -> None:
        assert await engine.next_path() == str(other)

    following(ingesting_in(tmp_path, engine.ask, gather), work)


def test_before_a_compaction_nobody_waits_for_an_engine_that_does_not_answer(tmp_path: Path) -> None:
    async def never(_: Any) -> Any:
        await asyncio.Event().wait()

    event = HookEvent(vendor="claude", moment="pre_compact", name="PreCompact", native_id="w1", transcript_path="/w1")
    asyncio.run(asyncio.wait_for(ingesting_in(tmp_path, never, deadline_ms=100).read_now(event), PATIENCE_SECONDS))
