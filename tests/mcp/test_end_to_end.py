"""The whole way: the SDK's client, the server as a process, a real daemon, real children."""

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.stdio import StdioServerParameters
from tests.cli.command_line import CommandLine
from tests.mcp.scripted_daemon import PATIENCE_SECONDS, wait_for
from tests.project_settings import write_trusted

from mcp import Client
from ramet.client.connection import Connection
from ramet.config.places import find_places
from ramet.config.settings import Settings
from ramet.daemon.wire.tokens import Tokens, read_key
from ramet.errors import Forbidden


class Parent:
    """A session at work, and what its agent can do."""

    def __init__(self, shop: CommandLine) -> None:
        self.shop = shop
        places = find_places(shop.environ, Settings())
        self.socket, self.agents_socket = str(places.socket), str(places.agents_socket)
        shop.configure({"spawn": {"drivers": ["shell"]}})
        shop.ok("project", "add", ".")
        (shop.cwd / "task").mkdir()
        task = self.rpc("db.task.upsert", dir_path=str(shop.cwd / "task"))["dir_path"]
        effort = self.rpc("db.effort.start", task_id=task, skill="do")["id"]
        self.id = self.rpc("db.session.start", task_id=task, effort_id=effort)["id"]

    def rpc(self, method: str, **params: Any) -> Any:
        with Connection(self.socket, PATIENCE_SECONDS) as connection:
            return connection.call(method, params)

    def spawn(self, parent_id: int) -> int:
        """A child that nobody waits for, as a user would spawn it."""
        child = self.rpc("spawn.agent", parent_session_id=parent_id, goal="true", driver="shell")
        return int(child["childSessionId"])

    def token(self, session_id: int) -> str:
        return Tokens(read_key(Path(self.shop.environ["RAMET_HOME"])), self.socket).make(session_id)

    @asynccontextmanager
    async def agent(self, mode: str = "auto", **environ: str) -> AsyncIterator[Client]:
        """The server that the session's agent has."""
        named = {"RAMET_SOCKET": self.agents_socket, "RAMET_TOKEN": self.token(self.id), **environ}
        kept = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE")}
        server = StdioServerParameters(
            command=sys.executable, args=["-P", "-m", "ramet.mcp"], env={**kept, **named}, cwd=self.shop.cwd
        )
        async with Client(server, mode=mode) as client:
            yield client

    def call(self, tool: str, given: dict[str, Any], mode: str = "auto", **environ: str) -> dict[str, Any]:
        async def perform() -> dict[str, Any]:
            async with self.agent(mode, **environ) as client:
                return read(await client.call_tool(tool, given))

        return anyio.run(perform)


def read(answer: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(answer.content[0].text)
    return document


@pytest.fixture
def parent(shop: CommandLine) -> Parent:
    return Parent(shop)


@pytest.mark.requirement("R107", "R110")
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_an_agent_spawns_a_child_waits_for_it_and_gets_its_result(parent: Parent, mode: str) -> None:
    child = parent.call("spawn_agent", {"goal": "echo counted: 7", "driver": "shell"}, mode)
    assert (child["outcome"], child["status"]) == ("success", "ended")
    assert "counted: 7" in child["notes"]
    session = parent.rpc("db.session.get", session_id=child["childSessionId"])
    assert (session["parent_session_id"], session["spawn_depth"]) == (parent.id, 1)


@pytest.mark.requirement("R121", "R137")
def test_one_childs_failure_is_its_result_and_the_others_keep_theirs(parent: Parent) -> None:
    goals = ["echo one", "echo broken >&2; exit 3", " ", "echo four"]
    agents = [{"goal": goal, "driver": "shell"} for goal in goals]
    results = parent.call("spawn_agent", {"agents": agents})["results"]
    assert [row["outcome"] for row in results] == ["success", "error", "error", "success"]
    assert [row["childSessionId"] is None for row in results] == [False, False, True, False]
    assert "broken" in results[1]["notes"]


@pytest.mark.requirement("R119")
def test_too_deep_a_session_is_refused_and_nothing_is_created(parent: Parent) -> None:
    session = parent.spawn(parent.spawn(parent.spawn(parent.id)))
    before = parent.rpc("db.counts")
    given = {"goal": "true", "context": {"spawnDepth": 0, "parentSessionId": parent.id}}
    refused = parent.call("spawn_agent", given, RAMET_TOKEN=parent.token(session))
    assert (refused["childSessionId"], refused["outcome"]) == (None, "error")
    assert refused["notes"].startswith("Max spawn depth exceeded")
    assert parent.rpc("db.counts") == before


def test_a_child_that_takes_too_long_for_a_call_is_collected_later(parent: Parent) -> None:
    go = parent.shop.cwd / "go"
    goal = _until(go)

    async def delegate() -> tuple[dict[str, Any], dict[str, Any]]:
        async with parent.agent(RAMET_TOOL_SECONDS="3") as client:
            first = read(await client.call_tool("spawn_agent", {"goal": goal, "driver": "shell"}))
            go.touch()
            ids = {"sessionIds": [first["childSessionId"]]}
            later = read(await client.call_tool("await_sessions", ids))
            while later["results"][0]["outcome"] is None:
                later = read(await client.call_tool("await_sessions", ids))
            return first, later["results"][0]

    first, later = anyio.run(delegate)
    assert (first["outcome"], first["status"]) == (None, "running")
    assert (later["childSessionId"], later["outcome"]) == (first["childSessionId"], "success")
    assert "at last" in later["notes"]


def test_a_cancelled_call_leaves_the_child_running(parent: Parent) -> None:
    go = parent.shop.cwd / "go"
    goal = _until(go)

    async def give_up() -> None:
        async with parent.agent() as client, anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "spawn_agent", {"goal": goal, "driver": "shell"})
            await anyio.to_thread.run_sync(wait_for, lambda: _children(parent, "running"), "the child to run")
            group.cancel_scope.cancel()

    anyio.run(give_up)
    (child,) = _children(parent)
    assert child["outcome"] is None
    go.touch()
    wait_for(lambda: _children(parent)[0]["outcome"] == "success", "the child's end")


def test_a_daemon_that_restarts_in_the_middle_is_waited_for(parent: Parent) -> None:
    go = parent.shop.cwd / "go"
    goal = _until(go)

    def restart() -> None:
        wait_for(lambda: _children(parent, "running"), "the child to run")
        parent.shop.ok("daemon", "stop")
        parent.shop.ok("daemon", "start")
        go.touch()

    async def delegate() -> dict[str, Any]:
        found: list[dict[str, Any]] = []
        async with parent.agent() as client:

            async def spawn() -> None:
                found.append(read(await client.call_tool("spawn_agent", {"goal": goal, "driver": "shell"})))

            async with anyio.create_task_group() as group:
                group.start_soon(spawn)
                await anyio.to_thread.run_sync(restart)
        return found[0]

    child = anyio.run(delegate)
    assert child["outcome"] == "success"
    assert len(_children(parent)) == 1


def test_a_childs_report_is_what_its_parent_receives(parent: Parent) -> None:
    child = parent.spawn(parent.id)
    report = {"summary": "Counted.", "artifacts": ["cart.py"], "failed_approaches": ["by hand"]}
    assert parent.call("report", report, RAMET_TOKEN=parent.token(child)) == {"status": "reported"}
    (result,) = parent.call("await_sessions", {"sessionIds": [child]})["results"]
    assert result["outcome"] == "success"
    assert "Counted." in result["notes"]
    assert (result["artifacts"], result["issues"]) == (["cart.py"], ["by hand"])


@pytest.mark.requirement("R333")
@pytest.mark.parametrize("driver", ["command", "claude"])
def test_a_driver_that_the_user_does_not_list_is_refused_to_the_tool(parent: Parent, driver: str) -> None:
    refused = parent.call("spawn_agent", {"goal": "id", "driver": driver, "workflowId": "do"})
    assert (refused["code"], refused["childSessionId"]) == ("forbidden", None)
    assert "spawn.drivers" in refused["notes"]


def test_an_agent_reads_the_output_of_another_effort(parent: Parent) -> None:
    child = parent.call("spawn_agent", {"goal": "echo the plan", "driver": "shell", "workflowId": "plan"})
    read_back = parent.call("read_output", {"effortId": child["effort_id"]})
    assert (read_back["skill"], read_back["outcome"]) == ("plan", "success")
    assert "the plan" in read_back["output"]


@pytest.mark.requirement("R249")
def test_an_agent_writes_into_the_log_of_its_own_effort_alone(parent: Parent) -> None:
    logged = parent.call("log", {"text": "found it"})
    assert logged["status"] == "logged"
    assert "found it" in Path(logged["path"]).read_text()
    child = parent.spawn(parent.id)
    other = parent.call("log", {"text": "me too"}, RAMET_TOKEN=parent.token(child))
    assert other["path"] != logged["path"]
    assert parent.call("log", {"text": ""})["error"]["code"] == "invalid_params"
    with Connection(parent.socket, PATIENCE_SECONDS) as connection:
        connection.call("daemon.hello", {"token": parent.token(child)})
        for name in ({"session_id": parent.id}, {"effort_id": 1}):
            with pytest.raises(Forbidden):
                connection.call("commands.log.append", {"text": "not mine", **name})


@pytest.mark.requirement("R249")
def test_a_program_that_a_person_started_has_the_tools_of_the_session_that_it_is(parent: Parent) -> None:
    hand_started = {"RAMET_TOKEN": "", "RAMET_SOCKET": "", "CLAUDE_CODE_SESSION_ID": "abc", **parent.shop.environ}
    assert parent.call("log", {"text": "found it"}, **hand_started)["error"]["code"] == "session_not_found"
    at = {"driver": "claude", "native_id": "abc", "cwd": str(parent.shop.cwd)}
    session = parent.rpc("hooks.sessionStart", **at)["session"]["id"]
    assert "found it" in Path(parent.call("log", {"text": "found it"}, **hand_started)["path"]).read_text()
    child = parent.call("spawn_agent", {"goal": "echo done", "driver": "shell"}, **hand_started)
    assert child["outcome"] == "success"
    assert parent.rpc("db.session.get", session_id=child["childSessionId"])["parent_session_id"] == session
    assert parent.call("report", {"summary": "done"}, **hand_started) == {"status": "reported"}
    assert parent.rpc("db.session.get", session_id=session)["report"]["summary"] == "done"


def test_such_a_program_asks_the_daemon_that_its_hooks_told_whatever_the_project_s_own_is(parent: Parent) -> None:
    hand_started = {"RAMET_TOKEN": "", "RAMET_SOCKET": "", "CLAUDE_CODE_SESSION_ID": "abc", **parent.shop.environ}
    parent.rpc("hooks.sessionStart", driver="claude", native_id="abc", cwd=str(parent.shop.cwd))
    other = parent.shop.cwd / "ramet.yaml"
    write_trusted(parent.shop.cwd, Path(parent.shop.environ["RAMET_HOME"]), "database: {path: other.db}")
    answer = parent.call("log", {"text": "found it"}, **hand_started)
    other.unlink()  # with it, no command here would find the daemon that the test has to stop
    assert "error" not in answer


def test_a_program_that_does_not_say_who_it_is_is_told_what_would_help(parent: Parent) -> None:
    error = parent.call("report", {"summary": "x"}, RAMET_TOKEN="", RAMET_SOCKET="")["error"]
    assert error["code"] == "forbidden"
    assert "`ramet add`, then `ramet work`" in error["fix"]
    assert "run `ramet init` and restart the agent" in error["fix"]


def test_a_token_goes_before_what_a_program_says_it_is(parent: Parent) -> None:
    logged = parent.call("log", {"text": "mine"}, CLAUDE_CODE_SESSION_ID="somebody else")
    assert logged["path"] == str(parent.shop.cwd / "task/1_DO_LOG.md")


@pytest.mark.requirement("R120")
def test_a_token_of_nobody_creates_nothing(parent: Parent) -> None:
    answer = parent.call("spawn_agent", {"goal": "true"}, RAMET_TOKEN=f"s{parent.id}.{'0' * 64}")
    assert (answer["childSessionId"], answer["code"]) == (None, "forbidden")
    assert _children(parent) == []


def test_an_agent_may_not_ask_for_a_session_that_is_not_below_it(parent: Parent) -> None:
    one, other = parent.spawn(parent.id), parent.spawn(parent.id)
    answer = parent.call("await_sessions", {"sessionIds": [one]}, RAMET_TOKEN=parent.token(other))
    assert answer["error"]["code"] == "forbidden"


def _until(go: Path) -> str:
    """A goal whose end is in the hands of the test; it does not outlive one that failed for long."""
    return f"n=0; until test -e {go} || test $((n += 1)) -gt 1000; do sleep 0.05; done; echo at last"


def _children(parent: Parent, status: str | None = None) -> list[dict[str, Any]]:
    items = parent.rpc("spawn.children", session_id=parent.id)["items"]
    return [row for row in items if status in (None, row["status"])]


@pytest.mark.requirement("R348")
def test_an_agent_enters_the_phases_of_its_own_effort_and_is_told_why_not(parent: Parent) -> None:
    effort = parent.rpc("db.effort.start", task_id=str(parent.shop.cwd / "task"), skill="explore", session_id=parent.id)
    entered = parent.call("phase", {"label": "1: Look"})
    assert entered == {"phase": "1: Look", "already": False, "next": "2: Report"}
    assert parent.call("phase", {"label": "1"})["already"]
    refused = parent.call("phase", {"label": "7: Sell"})
    assert "7: Sell" in json.dumps(refused)
    assert "2: Report" in json.dumps(refused)
    assert "effortId" in json.dumps(parent.call("phase", {"label": "2", "effortId": 1}))
    assert parent.rpc("db.effort.get", effort_id=effort["id"])["current_phase"] == "1: Look"
