"""The server as a process, spoken to line by line: both eras of the protocol, and what is on the wire."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from ramet.mcp.tools import TOOLS
from ramet.protocol.history.child_branches import Report
from ramet.protocol.history.inheritance import Filter, Inheritance
from ramet.protocol.spawn.children import ChildOrder

PATIENCE_SECONDS = 30
MODERN = "2026-07-28"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Wire:
    """Standard input and output of a server that belongs to no session."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "ramet.mcp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=folder,
            env={"PATH": os.environ["PATH"], **{k: v for k, v in os.environ.items() if k.startswith("COVERAGE")}},
        )
        self._next_id = 0

    def send(self, method: str, params: dict[str, Any], **more: Any) -> None:
        assert self.process.stdin is not None
        document = {"jsonrpc": "2.0", "method": method, "params": params, **more}
        self.process.stdin.write(json.dumps(document).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdout is not None
        self._next_id += 1
        self.send(method, params, id=self._next_id)
        reply: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert reply["id"] == self._next_id
        return reply

    def shake_hands(self) -> dict[str, Any]:
        client = {"name": "test", "version": "1"}
        reply = self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.send("notifications/initialized", {})
        return reply


@pytest.fixture
def wire(tmp_path: Path) -> Iterator[Wire]:
    """In a folder with a package that is called like the SDK: a project's own files are not imported."""
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "__init__.py").write_text("raise SystemExit('the wrong package')")
    made = Wire(tmp_path)
    yield made
    made.process.kill()
    made.process.communicate(timeout=PATIENCE_SECONDS)


def test_a_client_of_2025_shakes_hands_lists_and_calls(wire: Wire) -> None:
    reply = wire.shake_hands()["result"]
    assert (reply["protocolVersion"], reply["serverInfo"]["name"]) == ("2025-06-18", "ramet")
    assert [tool["name"] for tool in wire.ask("tools/list", {})["result"]["tools"]] == [tool.name for tool in TOOLS]
    called = wire.ask("tools/call", {"name": "spawn_agent", "arguments": {"goal": "Count"}})["result"]
    (block,) = called["content"]
    assert (called["isError"], block["type"], "structuredContent" in called) == (False, "text", False)
    assert json.loads(block["text"])["code"] == "forbidden"


def test_a_client_of_2026_discovers_lists_and_calls_without_a_handshake(wire: Wire) -> None:
    found = wire.ask("server/discover", {"_meta": ENVELOPE})["result"]
    assert MODERN in found["supportedVersions"]
    assert "tools" in found["capabilities"]
    assert len(wire.ask("tools/list", {"_meta": ENVELOPE})["result"]["tools"]) == len(TOOLS)
    arguments = {"name": "await_sessions", "arguments": {"sessionIds": [1]}, "_meta": ENVELOPE}
    called = wire.ask("tools/call", arguments)["result"]
    assert called["isError"] is True
    assert json.loads(called["content"][0]["text"])["error"]["code"] == "forbidden"


def test_a_client_of_2026_may_begin_with_a_call(wire: Wire) -> None:
    called = wire.ask("tools/call", {"name": "report", "arguments": {"summary": "x"}, "_meta": ENVELOPE})["result"]
    assert json.loads(called["content"][0]["text"])["error"]["code"] == "forbidden"


def test_a_line_that_is_no_request_ends_nothing(wire: Wire) -> None:
    wire.shake_hands()
    assert wire.process.stdin is not None
    wire.process.stdin.write(b"{nonsense\n\xff\n[]\n")
    assert len(wire.ask("tools/list", {})["result"]["tools"]) == len(TOOLS)


@pytest.mark.parametrize("how", ["it is told no more", "SIGINT", "SIGTERM"])
def test_it_ends_when_its_program_lets_it(wire: Wire, how: str) -> None:
    wire.shake_hands()
    assert wire.process.stdin is not None
    if how.startswith("SIG"):
        wire.process.send_signal(getattr(signal, how))
        assert wire.process.wait(PATIENCE_SECONDS) == -getattr(signal, how)
    else:
        wire.process.stdin.close()
        assert wire.process.wait(PATIENCE_SECONDS) == 0
        wire.process.stdin = None


# What it says of its tools.


@pytest.mark.requirement("R107", "R354")
def test_the_schema_of_spawn_agent_has_the_fields_of_a_child() -> None:
    schema = TOOLS[0].schema["properties"]
    known = {field.encode_name for field in msgspec.structs.fields(ChildOrder)}
    assert set(schema) - {"agents", "wait"} == known
    assert set(schema["agents"]["items"]["properties"]) == known
    assert schema["inherit"]["enum"] == list(get_args(Inheritance))
    assert tuple(schema["filter"]["properties"]) == Filter.__struct_fields__
    assert {"goal", "workflowId", "workspacePath", "context"} <= set(schema)


def test_the_schema_of_report_is_the_report() -> None:
    schema = next(tool.schema for tool in TOOLS if tool.name == "report")
    assert tuple(schema["properties"]) == Report.__struct_fields__
    assert schema["required"] == ["summary"]


def test_nothing_that_an_agent_may_say_names_its_session() -> None:
    said = {name for tool in TOOLS for name in tool.schema["properties"]}
    assert not said & {"session_id", "sessionId", "parent_session_id", "parentSessionId", "token", "spawnDepth"}


def test_the_tools_are_few_and_small() -> None:
    assert len(TOOLS) == 8
    assert sum(len(json.dumps([tool.description, tool.schema])) for tool in TOOLS) < 7300
    recall = next(tool for tool in TOOLS if tool.name == "recall")
    assert len(json.dumps([recall.description, recall.schema])) < 650, "one tool for recall, fix, how and files"
