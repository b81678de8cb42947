"""Hooks at the daemon: the vendor's answer comes back, and whatever goes wrong the agent goes on."""

import asyncio
import json
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.daemon.conftest import Serve
from tests.daemon.harness import PATIENCE_SECONDS, Client, Database, RunningServer
from tests.vendors.hook_payloads import RECORDED, recorded, vendor_of

from ramet.config.settings import HookSettings
from ramet.daemon.executors.requester import Requester
from ramet.daemon.hooks.disk_lookups import DiskLookups, Patience
from ramet.daemon.hooks.service import HookService
from ramet.errors import InvalidParams, SessionNotFound
from ramet.model.hooks.directive import Directive
from ramet.model.hooks.hook import HookAnswer, HookEvent
from ramet.protocol.hooks.hooks import HookFacts, HookProcess, HookReply, RecordHook

PRE = "claude/PreToolUse.Bash.json"

Answer = Callable[[RecordHook], Any]


class Hooked:
    """A server that answers hooks, with a stand-in for the engine's part."""

    def __init__(self, server: RunningServer, answer: Answer, *, is_gated: bool = False) -> None:
        self.records: list[RecordHook] = []
        self.gathered: list[HookEvent] = []
        self.sought: list[tuple[str, int, int | None]] = []
        """Whose processes were looked for."""
        self.heard: list[str] = []
        self.read: list[tuple[str, int]] = []
        """Whose transcript was read to its end, and how many events had been recorded by then."""
        self.disk = threading.Event()
        """Set while the disk answers."""
        self.disk.set()
        self._answer = answer
        server.database.answer = self._record
        server.use(self._serve(server, is_gated))
        self.client: Client = server.connect()

    def event(self, vendor: str, payload: Any, **params: Any) -> Any:
        """What the shim is answered."""
        return self.client.call("hooks.event", vendor=vendor, payload=payload, **params)["result"]

    def hear(self, event: HookEvent, reply: HookReply) -> None:
        self.heard.append(event.name)

    async def read_now(self, event: HookEvent) -> None:
        self.read.append((event.name, len(self.records)))

    def timings(self) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self.client.call("hooks.timings")["result"]["items"]
        return items

    def _serve(self, server: RunningServer, is_gated: bool) -> HookService:
        return HookService(
            Requester(server.database, server.loop, server.meter),
            self._gather,
            self._find_process,
            DiskLookups(Patience.of(HookSettings())),
            server.loop,
            is_gated=is_gated,
            reading=self,
        )

    def _gather(self, event: HookEvent) -> HookFacts:
        self.gathered.append(event)
        self.disk.wait(PATIENCE_SECONDS)
        invoked = [Directive(path="/p/T.md", text="# T", hash="1")] if event.tool == "Skill" else []
        return HookFacts(project="/p", uncommitted=["a.txt"], skill_files=invoked)

    def _find_process(self, vendor: str, caller: int, pid: int | None) -> HookProcess | None:
        self.sought.append((vendor, caller, pid))
        return HookProcess(pid=4711, started=1.5)

    def _record(self, request: RecordHook) -> Any:
        self.records.append(request)
        return self._answer(request)


def replying(**answer: Any) -> Answer:
    return lambda _: HookReply(answer=HookAnswer(**answer), session_id=7)


@pytest.mark.requirement("R243")
@pytest.mark.parametrize("name", RECORDED)
def test_every_recorded_payload_is_recorded_and_answered(server: RunningServer, name: str) -> None:
    hooked = Hooked(server, replying())
    for payload in (recorded(name), json.dumps(recorded(name))):
        assert hooked.event(vendor_of(name), payload) == {"output": None, "status": 0}
    first, second = hooked.records
    assert first.event == second.event
    assert first.event.name == recorded(name)["hook_event_name"]
    assert hooked.heard == [first.event.name] * 2


@pytest.mark.requirement("R240", "R244")
def test_what_the_engine_refuses_is_refused_in_the_vendor_s_words(server: RunningServer) -> None:
    hooked = Hooked(server, replying(is_blocked=True, reason="log first"))
    output = hooked.event("claude", json.dumps(recorded(PRE)))["output"]
    assert output["hookSpecificOutput"] == {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "log first",
    }


def test_whose_hook_it_is_reaches_the_engine(server: RunningServer) -> None:
    hooked = Hooked(server, replying())
    hooked.event("codex", recorded("codex/Stop.json"), session=5, agent="host/1", pid=99)
    (record,) = hooked.records
    assert (record.session, record.agent, record.pid) == (5, "host/1", 99)


def test_the_process_is_looked_for_where_a_session_begins_and_where_the_engine_asks(server: RunningServer) -> None:
    def wait_for_facts(request: RecordHook) -> HookReply:
        return HookReply(answer=HookAnswer(), session_id=7, wants_facts=request.facts.process is None)

    hooked = Hooked(server, wait_for_facts)
    for name in ("claude/SessionStart.startup.json", PRE):
        hooked.event("claude", recorded(name), pid=99)
    assert [record.facts.process and record.facts.process.pid for record in hooked.records] == [4711, None, 4711]
    assert hooked.sought == [("claude", os.getpid(), 99)] * 2


@pytest.mark.requirement("R351")
def test_the_files_of_a_skill_are_looked_up_when_an_agent_invokes_it(server: RunningServer) -> None:
    hooked = Hooked(server, replying())
    for tool in ("Skill", "Bash"):
        payload = recorded("claude/PostToolUse.Bash.json") | {"tool_name": tool, "tool_input": {"skill": "paint"}}
        hooked.event("claude", payload)
    assert [event.tool_input for event in hooked.gathered] == [{"skill": "paint"}]
    assert [[each.path for each in record.facts.skill_files] for record in hooked.records] == [["/p/T.md"], []]


@pytest.mark.parametrize("failure", [SessionNotFound("there is no session 9"), ValueError("a mistake of ours")])
def test_what_goes_wrong_inside_is_allowed_and_counted(server: RunningServer, failure: Exception) -> None:
    def fail(_: RecordHook) -> Any:
        if isinstance(failure, SessionNotFound):
            return failure
        raise failure

    hooked = Hooked(server, fail)
    assert hooked.event("claude", recorded(PRE)) == {"output": None, "status": 0}
    (row,) = hooked.timings()
    assert (row["event"], row["count"], row["failed"]) == ("PreToolUse", 1, 1)


@pytest.mark.parametrize("payload", ["", "{", None, 7, [], {"session_id": 5}, "\u0000", '{"a":' * 3000])
@pytest.mark.parametrize("vendor", ["claude", "codex", "somebody"])
def test_a_payload_that_says_nothing_is_recorded_and_allowed(server: RunningServer, vendor: str, payload: Any) -> None:
    hooked = Hooked(server, replying(is_blocked=True, reason="never", context="c"))
    assert hooked.event(vendor, payload)["status"] == 0
    (record,) = hooked.records
    assert (record.event.moment, record.event.native_id) == ("other", "")


def test_the_disk_is_looked_at_only_where_it_matters(server: RunningServer) -> None:
    hooked = Hooked(server, replying())
    for name in RECORDED:
        hooked.event(vendor_of(name), recorded(name))
    looked = {(event.vendor, event.name, event.tool) for event in hooked.gathered}
    assert looked == {
        ("claude", "SessionStart", None),
        ("claude", "PreCompact", None),
        ("claude", "PostToolUse", "Read"),
        ("claude", "PostToolUse", "Write"),
        ("codex", "SessionStart", None),
        ("codex", "PostToolUse", "apply_patch"),
    }
    facts = {record.event.name: record.facts.project for record in hooked.records}
    assert (facts["SessionStart"], facts["Stop"]) == ("/p", None)


def test_a_transcript_is_read_to_its_end_before_its_context_is_compacted(server: RunningServer) -> None:
    hooked = Hooked(server, replying())
    hooked.event("claude", recorded(PRE))
    hooked.event("claude", recorded("claude/PreCompact.manual.json"))
    assert hooked.read == [("PreCompact", 1)]
    assert hooked.heard == ["PreToolUse", "PreCompact"]


def test_a_disk_that_does_not_answer_is_not_waited_for(server: RunningServer) -> None:
    hooked = Hooked(server, replying(context="go on"))
    hooked.disk.clear()
    output = hooked.event("claude", recorded("claude/PostToolUse.Read.json"))["output"]
    hooked.disk.set()
    assert output["hookSpecificOutput"]["additionalContext"] == "go on"
    assert hooked.records[0].facts == HookFacts()


def test_a_disk_that_does_not_answer_holds_up_nobody_else_s_threads(server: RunningServer) -> None:
    server.in_loop(lambda: server.loop.set_default_executor(ThreadPoolExecutor(1)))
    hooked = Hooked(server, replying())
    hooked.disk.clear()
    hooked.event("claude", recorded("claude/PostToolUse.Read.json"))
    other = asyncio.run_coroutine_threadsafe(asyncio.to_thread(hooked.disk.is_set), server.loop)
    assert other.result(PATIENCE_SECONDS / 2) is False  # before the disk is given up
    hooked.disk.set()


def test_in_which_process_a_session_is_open_is_looked_up_only_where_it_is_new(server: RunningServer) -> None:
    known = {"tool"}

    def want(request: RecordHook) -> HookReply:
        is_new = request.event.native_id not in known and request.facts.project is None
        return HookReply(answer=HookAnswer(), session_id=7, wants_facts=is_new)

    hooked = Hooked(server, want)
    read = recorded("claude/PostToolUse.Read.json")
    hooked.event("claude", read | {"session_id": "tool"})
    assert hooked.sought == []
    hooked.event("claude", read | {"session_id": "new"})
    assert len(hooked.sought) == 1
    assert hooked.records[-1].facts.process == HookProcess(pid=4711, started=1.5)


def test_a_session_that_is_new_in_an_unknown_project_is_recorded_with_the_project(server: RunningServer) -> None:
    def want(request: RecordHook) -> HookReply:
        return HookReply(answer=HookAnswer(), session_id=None, wants_facts=request.facts.project is None)

    hooked = Hooked(server, want)
    hooked.event("claude", recorded(PRE))
    assert [record.facts.project for record in hooked.records] == [None, "/p"]
    assert hooked.heard == ["PreToolUse"]


def test_an_event_that_says_too_little_to_know_its_session_by_is_recorded_as_nobody_s(server: RunningServer) -> None:
    def refuse(request: RecordHook) -> Any:
        if request.event.native_id:
            return InvalidParams("the event does not name the directory of its session")
        return HookReply(answer=HookAnswer(), session_id=None)

    hooked = Hooked(server, refuse)
    assert hooked.event("claude", recorded(PRE)) == {"output": None, "status": 0}
    assert [record.event.native_id for record in hooked.records][1:] == [""]
    assert hooked.timings()[0]["failed"] == 0


def test_where_directives_must_be_known_before_a_change_they_are_looked_for_before_it(serve: Serve) -> None:
    hooked = Hooked(serve(database=Database()), replying(), is_gated=True)
    hooked.event("claude", recorded("claude/PreToolUse.Write.json"))
    hooked.event("claude", recorded(PRE))
    assert [event.tool for event in hooked.gathered] == ["Write"]


@pytest.mark.requirement("R305", "R357")
def test_how_long_hooks_take_is_told_by_vendor_and_event(server: RunningServer) -> None:
    hooked = Hooked(server, replying())
    for _ in range(3):
        hooked.event("claude", recorded(PRE))
    hooked.event("codex", recorded("codex/Stop.json"))
    rows = hooked.timings()
    assert [(row["vendor"], row["event"], row["count"], row["failed"]) for row in rows] == [
        ("claude", "PreToolUse", 3, 0),
        ("codex", "Stop", 1, 0),
    ]
    assert all(0 < row["p50_ms"] <= row["p95_ms"] <= row["p99_ms"] < 10_000 for row in rows)


def test_made_up_names_do_not_fill_the_memory(server: RunningServer) -> None:
    hooked = Hooked(server, replying())
    for number in range(250):
        hooked.event("claude", {"session_id": "s", "hook_event_name": f"E{number}"})
    rows = hooked.timings()
    assert len(rows) <= 201
    assert sum(row["count"] for row in rows) == 250
