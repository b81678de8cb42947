"""What the tools ask of a daemon, and what they make of its answers: time limits, cancelling, restarts, refusals."""

import json
import time
from typing import Any

import anyio
import msgspec
import pytest
from tests.mcp.conftest import Start
from tests.mcp.scripted_daemon import ScriptedDaemon, wait_for

from mcp import Client
from ramet.errors import Forbidden, SpawnDepthExceeded, SpawnLimitExceeded
from ramet.mcp.calls import Calls
from ramet.mcp.server import build
from ramet.mcp.uplink import Uplink
from ramet.model.record.effort import Outcome
from ramet.model.spawn.child import Progress, SpawnResult
from ramet.protocol.system.daemon import HelloReply
from ramet.protocol.work.queue import WorkReply

TOKEN = "s7.0123"


def result(
    session_id: int | None, outcome: Outcome | None, status: Progress | None = "running", notes: str = ""
) -> dict[str, Any]:
    """A child's result, as the daemon spells it."""
    child = SpawnResult(child_session_id=session_id, outcome=outcome, status=status, notes=notes)
    document: dict[str, Any] = msgspec.to_builtins(child)
    return document


def effort(skill: str, outcome: Outcome | None, output: str | None) -> dict[str, Any]:
    """An effort, as the daemon spells it: of what is not told, that there is nothing."""
    return {
        **dict.fromkeys(WorkReply.__struct_encode_fields__),
        **dict.fromkeys(("priority", "attempts", "lease_generation", "agent_failures", "host_failures"), 0),
        **dict.fromkeys(("already", "blocked", "accepts_no_change"), False),
        "id": 9,
        "task_id": "/shop/task",
        "skill": skill,
        "ordinal": 1,
        "lifecycle": "active" if outcome is None else "finished",
        "created_at": "2026-01-01T00:00:00Z",
        "outcome": outcome,
        "output_content": output,
        "artifact_prefix": "1_",
    }


def greet(method: str) -> dict[str, Any] | None:
    hello = HelloReply(version="0.1.0", protocol=1, principal="session:7")
    return msgspec.to_builtins(hello) if method == "daemon.hello" else None


async def call(
    daemon: ScriptedDaemon, tool: str, given: dict[str, Any], *, seconds: float = 20, **more: Any
) -> dict[str, Any]:
    """What a tool answers, through the SDK's own client: one block of text with JSON, and nothing else."""
    async with Client(build(Calls(Uplink(str(daemon.path), TOKEN), seconds)), mode="legacy") as client:
        answer = await client.call_tool(tool, given, **more)
    (block,) = answer.content
    assert answer.structured_content is None
    assert block.type == "text"
    document: dict[str, Any] = json.loads(block.text)
    return document


@pytest.mark.requirement("R107", "R110")
def test_spawn_agent_takes_the_first_designs_arguments_and_answers_with_the_childs_result(scripted: Start) -> None:
    ended = {**result(12, "success", "ended", "Done."), "artifacts": ["cart.py"], "issues": None, "effort_id": 9}
    daemon = scripted(lambda method, _: greet(method) or {"results": [ended]})
    given = {"workflowId": "implement", "goal": "Count", "workspacePath": "/shop", "context": {"spawnDepth": 0}}
    assert anyio.run(call, daemon, "spawn_agent", given) == ended
    assert daemon.params("daemon.hello") == [{"client": "ramet mcp", "token": TOKEN}]
    (asked,) = daemon.params("spawn.agents")
    child = {name: value for name, value in asked["agents"][0].items() if value is not None}
    assert child == given
    assert asked["wait"] is True
    assert "parent_session_id" not in asked


@pytest.mark.requirement("R137")
def test_several_children_are_one_request_and_their_results_keep_its_order(scripted: Start) -> None:
    first = [result(12, None), result(None, "error", None, "no"), result(13, "success")]

    def respond(method: str, _params: dict[str, Any]) -> Any:
        waited = {"results": [result(12, "timeout", "ended")]}
        return greet(method) or (waited if method == "spawn.wait" else {"results": first})

    daemon = scripted(respond)
    answer = anyio.run(call, daemon, "spawn_agent", {"agents": [{"goal": "a"}, {"goal": " "}, {"goal": "c"}]})
    assert [(row["childSessionId"], row["outcome"]) for row in answer["results"]] == [
        (12, "timeout"),
        (None, "error"),
        (13, "success"),
    ]
    assert [child["goal"] for child in daemon.params("spawn.agents")[0]["agents"]] == ["a", " ", "c"]
    assert daemon.params("spawn.wait")[0]["session_ids"] == [12]


@pytest.mark.requirement("R118", "R119", "R120")
@pytest.mark.parametrize(
    ("error", "code", "notes"),
    [
        (SpawnDepthExceeded("Max spawn depth exceeded: depth 3 of 3"), "spawn_depth", "Max spawn depth exceeded"),
        (SpawnLimitExceeded("11 agents at once"), "spawn_limit", "11 agents at once"),
        (Forbidden("this daemon did not issue the token"), "forbidden", "this daemon did not issue"),
    ],
)
def test_a_refusal_is_a_result_without_a_child(scripted: Start, error: Any, code: str, notes: str) -> None:
    def respond(method: str, _params: dict[str, Any]) -> Any:
        if method != "daemon.hello" or isinstance(error, Forbidden):
            raise error
        return greet(method)

    answer = anyio.run(call, scripted(respond), "spawn_agent", {"goal": "Count"})
    assert (answer["childSessionId"], answer["outcome"], answer["code"]) == (None, "error", code)
    assert answer["notes"].startswith(notes)


def test_without_wait_a_child_is_not_waited_for(scripted: Start) -> None:
    daemon = scripted(lambda method, _: greet(method) or {"results": [result(12, None, "queued")]})
    answer = anyio.run(call, daemon, "spawn_agent", {"goal": "Count", "wait": False})
    assert (answer["childSessionId"], answer["outcome"], answer["status"]) == (12, None, "queued")
    assert daemon.params("spawn.agents")[0]["wait"] is False
    assert daemon.params("spawn.wait") == []


def test_a_call_returns_before_its_time_is_over_and_says_that_the_child_runs(scripted: Start) -> None:
    def respond(method: str, params: dict[str, Any]) -> Any:
        if method == "spawn.wait":
            time.sleep(params["timeout_seconds"])
        return greet(method) or {"results": [result(12, None)]}

    daemon, begun = scripted(respond), time.monotonic()

    async def spawn() -> dict[str, Any]:
        return await call(daemon, "spawn_agent", {"goal": "Count"}, seconds=1.5)

    answer = anyio.run(spawn)
    assert (answer["childSessionId"], answer["outcome"], answer["status"]) == (12, None, "running")
    assert time.monotonic() - begun < 3
    assert daemon.params("spawn.wait")[0]["timeout_seconds"] == 1


def test_a_long_call_tells_of_its_progress(scripted: Start) -> None:
    told: list[float] = []

    async def hear(progress: float, _total: float | None, _message: str | None) -> None:
        told.append(progress)

    def respond(method: str, _params: dict[str, Any]) -> Any:
        if method == "spawn.wait":
            wait_for(lambda: len(told) > 1, "two words of progress")
        return greet(method) or {"results": [result(12, "success" if method == "spawn.wait" else None)]}

    async def spawn() -> dict[str, Any]:
        return await call(scripted(respond), "spawn_agent", {"goal": "Count"}, seconds=2, progress_callback=hear)

    assert anyio.run(spawn)["outcome"] == "success"
    assert told == sorted(told)


def test_a_cancelled_call_lets_go_of_the_daemon_and_asks_for_nothing_more(scripted: Start) -> None:
    daemon = scripted(
        lambda method, _: greet(method) or ({"results": [result(12, None)]} if "agents" in method else None)
    )

    async def cancel() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(call, daemon, "spawn_agent", {"goal": "Count"})
            await anyio.to_thread.run_sync(wait_for, lambda: daemon.params("spawn.wait"), "the wait")
            group.cancel_scope.cancel()

    anyio.run(cancel)
    wait_for(lambda: daemon.connections == 0, "the connections to end")
    assert [method for method, _ in daemon.asked] == ["daemon.hello", "spawn.agents", "daemon.hello", "spawn.wait"]


def test_a_daemon_that_restarts_is_asked_again_and_spawns_only_once(scripted: Start) -> None:
    """The first answer to each request is lost; the key is the same, so the child is."""
    lost: set[str] = set()

    def respond(method: str, _params: dict[str, Any]) -> Any:
        if method == "daemon.hello":
            return greet(method)
        if method not in lost:
            lost.add(method)
            return None
        return {"results": [result(12, "success" if method == "spawn.wait" else None)]}

    daemon = scripted(respond)

    def restart(method: str) -> None:
        wait_for(lambda: daemon.params(method), method)
        daemon.go()
        daemon.come()

    async def spawn() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(call_and_check)
            await anyio.to_thread.run_sync(restart, "spawn.agents")
            await anyio.to_thread.run_sync(restart, "spawn.wait")

    async def call_and_check() -> None:
        assert (await call(daemon, "spawn_agent", {"goal": "Count"}))["outcome"] == "success"

    anyio.run(spawn)
    first, second = daemon.params("spawn.agents")
    assert first == second
    assert len(daemon.params("spawn.wait")) == 2


@pytest.mark.requirement("R343")
def test_results_that_are_longer_than_an_answer_follow_in_the_next_one(scripted: Start) -> None:
    children = {each: result(each, "success", "ended", str(each) * 20_000) for each in range(1, 6)}

    def answer(method: str, params: dict[str, Any]) -> Any:
        return greet(method) or {"results": [children[each] for each in params["session_ids"]]}

    daemon = scripted(answer)
    found: list[dict[str, Any]] = []
    ids = list(children)
    while ids:
        page = anyio.run(call, daemon, "await_sessions", {"sessionIds": ids})
        assert len(json.dumps(page)) < 50_000
        found += page["results"]
        ids = page.get("nextSessionIds", [])
    assert [each["notes"] for each in found] == [each["notes"] for each in children.values()]


@pytest.mark.requirement("R343")
def test_a_refused_child_is_in_the_answer_although_it_is_full(scripted: Start) -> None:
    no = {"childSessionId": None, "outcome": "error", "notes": "the budget is spent; " + "n" * 1000, "code": "refused"}
    long = [result(each, "success", "ended", str(each) * 30_000) for each in (1, 2, 3)]
    daemon = scripted(lambda method, _: greet(method) or {"results": [long[0], no, long[1], no, long[2], no]})
    goals = [{"goal": f"look {each}"} for each in range(6)]
    page = anyio.run(call, daemon, "spawn_agent", {"agents": goals})
    assert [each["childSessionId"] for each in page["results"]] == [1, None, None, None]
    assert page["nextSessionIds"] == [2, 3]
    assert all(each["notes"].startswith("the budget is spent") for each in page["results"][1:])
    assert page["results"][1]["notes"] == no["notes"]
    assert page["results"][2]["notes"].endswith("[721 more characters are not shown]")


@pytest.mark.requirement("R343")
def test_a_single_result_that_is_longer_than_an_answer_says_how_much_is_missing(scripted: Start) -> None:
    long = result(12, "success", "ended", "x" * 41_000)
    daemon = scripted(lambda method, _: greet(method) or {"results": [long]})
    page = anyio.run(call, daemon, "await_sessions", {"sessionIds": [12]})
    assert page["results"][0]["notes"].endswith("x\n[1000 more characters are not shown]")
    assert "nextSessionIds" not in page


def test_await_sessions_waits_for_as_long_as_it_is_told(scripted: Start) -> None:
    daemon = scripted(lambda method, _: greet(method) or {"results": [result(12, None), result(13, "stuck", "ended")]})
    answer = anyio.run(call, daemon, "await_sessions", {"sessionIds": [12, 13], "timeoutSeconds": 5})
    assert [row["outcome"] for row in answer["results"]] == [None, "stuck"]
    assert daemon.params("spawn.wait") == [{"session_ids": [12, 13], "timeout_seconds": 4}]


def test_a_report_is_handed_in_for_the_session_of_the_token(scripted: Start) -> None:
    daemon = scripted(lambda method, _: greet(method) or result(7, None))
    given = {"summary": "Counted.", "failed_approaches": ["by hand"], "artifacts": ["cart.py"]}
    assert anyio.run(call, daemon, "report", given) == {"status": "reported"}
    (asked,) = daemon.params("spawn.report")
    assert asked["report"] == {**given, "decisions": [], "next_steps": []}
    assert set(asked) == {"report", "idempotency_key"}


def test_a_long_output_is_read_in_parts(scripted: Start) -> None:
    row = effort("plan", "success", "é" * 50_000)
    daemon = scripted(lambda method, _: greet(method) or row)
    first = anyio.run(call, daemon, "read_output", {"effortId": 9})
    rest = anyio.run(call, daemon, "read_output", {"effortId": 9, "offset": first["nextOffset"]})
    assert (first["skill"], first["output"] + rest["output"], rest["nextOffset"]) == ("plan", "é" * 50_000, None)


def test_an_effort_without_a_text_has_no_output(scripted: Start) -> None:
    row = effort("do", None, None)
    answer = anyio.run(call, scripted(lambda method, _: greet(method) or row), "read_output", {"effortId": 9})
    assert (answer["output"], answer["nextOffset"]) == (None, None)


@pytest.mark.requirement("R391")
def test_recall_answers_with_a_text_and_with_no_block_if_nothing_is_relevant(scripted: Start) -> None:
    texts = iter(["s7:120 2026-11-02, decision\n> use lacquer", ""])
    daemon = scripted(lambda method, _: greet(method) or {"text": next(texts), "items": []})

    async def ask(query: str) -> list[str]:
        async with Client(build(Calls(Uplink(str(daemon.path), TOKEN), 20)), mode="legacy") as client:
            answer = await client.call_tool("recall", {"query": query, "mode": "how"})
        assert not answer.is_error
        return [block.text for block in answer.content if block.type == "text"]

    assert anyio.run(ask, "paint") == ["s7:120 2026-11-02, decision\n> use lacquer"]
    assert anyio.run(ask, "rockets") == []
    asked = daemon.params("memory.recall")[0]
    assert (asked["query"], asked["mode"], asked.get("session_id")) == ("paint", "how", None)


@pytest.mark.requirement("R118")
@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("spawn_agent", {}),
        ("spawn_agent", {"goal": ""}),
        ("spawn_agent", {"goal": 7}),
        ("spawn_agent", {"agents": []}),
        ("spawn_agent", {"agents": [{"goal": "a"}], "goal": "b"}),
        ("spawn_agent", {"goal": "a", "parent_session_id": 1}),
        ("spawn_agent", {"goal": "a", "idempotency_key": "k"}),
        ("spawn_agent", {"goal": "a", "allowedTools": ["Bash(rm:*)"]}),
        ("await_sessions", {"sessionIds": []}),
        ("await_sessions", {"sessionIds": ["s1"]}),
        ("report", {"summary": "a", "session_id": 1}),
        ("read_output", {"effortId": 0}),
        ("log", {"text": "x", "effort_id": 3}),
        ("recall", {}),
        ("recall", {"query": ""}),
        ("recall", {"query": "x", "mode": "forget"}),
        ("recall", {"query": "x", "project": 2}),
        ("no_such_tool", {}),
    ],
)
def test_an_agents_mistake_is_answered_and_nothing_is_asked(scripted: Start, tool: str, given: dict[str, Any]) -> None:
    daemon = scripted(lambda method, _: greet(method))
    answer = anyio.run(call, daemon, tool, given)
    assert answer.get("code") or answer["error"]["code"]
    assert daemon.asked == []


@pytest.mark.requirement("R304")
def test_several_children_that_are_refused_together_are_as_many_results(scripted: Start) -> None:
    def refuse(method: str, _: Any) -> Any:
        if method == "spawn.agents":
            raise SpawnLimitExceeded("11 children are too many", fix="spawn at most 10")
        return greet(method)

    answer = anyio.run(call, scripted(refuse), "spawn_agent", {"agents": [{"goal": "a"}] * 11})
    assert [result["outcome"] for result in answer["results"]] == ["error"] * 11
    assert answer["results"][0]["notes"] == "11 children are too many; spawn at most 10"
