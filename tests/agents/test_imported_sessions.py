"""Homes that the real Gemini CLI and opencode wrote, imported by the real command line."""

import hashlib
import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.agents.npm_programs import NpmAgent
from tests.agents.scripted_model import CACHED_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS
from tests.agents.stage import Model
from tests.cli.command_line import CommandLine

from ramet.model.hooks.transcript import Entry
from ramet.vendors import registry
from ramet.vendors.contract.stored_files.session_sources import Surroundings

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]


def script(tool: str) -> list[list[dict[str, Any]]]:
    return [
        [{"text": "I look at the till."}, {"tool": tool, "input": {"command": "echo 41 paid", "description": "look"}}],
        [{"tool": tool, "input": {"command": "exit 3", "description": "fail"}}],
        [{"text": "One is missing."}],
    ]


SCRIPTS = {
    "gemini": script("run_shell_command"),
    "opencode": script("bash"),
    "again": [[{"text": "It was order 42."}]],
    "family": [
        [{"tool": "task", "input": {"description": "look", "prompt": "Look. [[child]]", "subagent_type": "general"}}],
        [{"text": "The helper looked."}],
    ],
    "child": [[{"text": "I am the helper."}]],
}


class Desk:
    """One user's home, with one agent program and Ramet."""

    def __init__(self, folder: Path, model: Model) -> None:
        self.folder = folder
        self._model = model
        self.tree = folder / "tree"
        subprocess.run(["git", "init", "-q", str(self.tree)], check=True)
        self.ramet = CommandLine(folder, self.tree)
        self.ramet.environ |= {"HOME": str(folder / "home"), "GIT_CONFIG_GLOBAL": "/dev/null"}

    def agent(self, name: str) -> NpmAgent:
        return NpmAgent(name, self.folder, self._model, self.tree)

    def files(self) -> dict[str, str]:
        """Everything in the home but Ramet's own."""
        return {
            str(path): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in (self.folder / "home").rglob("*")
            if path.is_file() and "ramet" not in path.parts
        }

    def query(self, sql: str) -> list[Any]:
        return list(self.ramet.json("rpc", "call", "db.query", f'{{"sql": "{sql}"}}')["rows"])

    def read(self, name: str) -> list[Entry]:
        """What the program's first session says, as the reader has it."""
        sessions = registry.sessions()[name]
        source = next(sessions.find(Surroundings(self.folder / "home", {})))
        return [entry for piece in sessions.read(source, None) for entry in piece.entries]

    def said(self, session: int) -> list[tuple[str, str]]:
        """Who said what. opencode puts a prompt from its command line in quotes."""
        rows = self.ramet.json("rpc", "call", "db.messages.list", f'{{"session_id": {session}}}')["items"]
        return [(row["role"], row["content"].strip().strip('"')) for row in rows]


@pytest.fixture
def desk(npm_agents: None) -> Iterator[Desk]:
    with ExitStack() as stack:
        folder = tempfile.TemporaryDirectory(prefix="ramet-agents-", ignore_cleanup_errors=True)
        path = Path(stack.enter_context(folder))
        model = Model(path, SCRIPTS)
        stack.callback(model.close)
        made = Desk(path, model)
        stack.callback(made.ramet, "daemon", "stop")
        yield made


RUNS: dict[str, Callable[[NpmAgent, str], str]] = {
    "gemini": lambda agent, prompt: agent.run("-p", prompt, "--approval-mode", "yolo"),
    "opencode": lambda agent, prompt: agent.run("run", "--format", "json", prompt),
}
AGAIN: dict[str, Callable[[NpmAgent, str], str]] = {
    "gemini": lambda agent, prompt: agent.run("--resume", "latest", "-p", prompt, "--approval-mode", "yolo"),
    "opencode": lambda agent, prompt: agent.run("run", "--continue", "--format", "json", prompt),
}


@pytest.mark.requirement("R380", "R381", "R382")
@pytest.mark.parametrize("name", RUNS)
def test_a_home_that_the_real_program_wrote_gives_the_history_that_it_had(name: str, desk: Desk) -> None:
    agent = desk.agent(name)
    RUNS[name](agent, f"Count. [[{name}]]")
    before = desk.files()
    desk.ramet.json("import", name, "--yes")  # fails if a session could not be read
    assert desk.files() == before
    said = desk.said(1)
    assert [role for role, _ in said] == ["user", "assistant", "assistant", "tool", "assistant", "tool", "assistant"]
    assert [said[place][1] for place in (0, 1, 6)] == [
        f"Count. [[{name}]]",
        "I look at the till.",
        "One is missing.",
    ]
    assert [json.loads(said[place][1])["command"] for place in (2, 4)] == ["echo 41 paid", "exit 3"]
    assert "41 paid" in said[3][1]
    assert [entry.is_error for entry in desk.read(name) if entry.kind == "tool_result"] == [False, True]
    (row,) = desk.query("SELECT driver, ended_at IS NOT NULL FROM sessions")
    assert (row[0], bool(row[1])) == (name, True)
    calls = "SELECT count(*), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens) FROM usage"
    fresh = INPUT_TOKENS - CACHED_TOKENS
    assert desk.query(calls) == [[3, 3 * fresh, 3 * OUTPUT_TOKENS, 3 * CACHED_TOKENS]]

    AGAIN[name](agent, "Which? [[again]]")
    desk.ramet.json("import", name, "--yes")
    assert len(desk.query("SELECT id FROM sessions")) == 1
    assert desk.said(1) == [*said, ("user", "Which? [[again]]"), ("assistant", "It was order 42.")]
    assert desk.query(calls) == [[4, 4 * fresh, 4 * OUTPUT_TOKENS, 4 * CACHED_TOKENS]]
    desk.ramet.json("import", name, "--yes")
    assert len(desk.said(1)) == len(said) + 2


@pytest.mark.requirement("R382")
def test_a_sub_agent_of_the_real_opencode_is_a_child_with_what_it_said_and_cost(desk: Desk) -> None:
    desk.agent("opencode").run("run", "--format", "json", "Ask somebody. [[family]]")
    desk.ramet.json("import", "opencode", "--yes")
    rows = desk.query("SELECT id, parent_session_id FROM sessions ORDER BY id")
    assert [row[1] for row in rows] == [None, rows[0][0]]
    assert ("assistant", "I am the helper.") in desk.said(rows[1][0])
    assert ("assistant", "The helper looked.") in desk.said(rows[0][0])
    costs = desk.query("SELECT session_id, cost_usd > 0 FROM usage")
    assert {row[0] for row in costs if row[1]} == {row[0] for row in rows}
