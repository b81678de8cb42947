"""A real agent delegates to another real one: through MCP, the daemon, the slot of its parent, and back."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.agents.scripts import SCRIPTS
from tests.agents.stage import Stage, a_stage
from tests.cli.command_line import CommandLine

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]

REPORT: dict[str, Any] = {
    "summary": "It is blue, I looked.",
    "artifacts": ["note.txt"],
    "failed_approaches": ["asking the sea"],
}
ORDERS: dict[str, dict[str, Any]] = {
    "codex": {"goal": "Which colour? [[handin_codex]]", "driver": "codex", "context": {"spawnDepth": 0}},
    "claude": {"goal": "Which colour? [[handin_claude]]", "driver": "claude", "context": {"spawnDepth": 0}},
    "confined": {"goal": "Look. [[confined]]", "driver": "claude", "allowedTools": ["Read"]},
    "shell": {"goal": "touch out.txt", "driver": "shell", "workflowId": "shell"},
    "loose": {"goal": "Look. [[confined]]", "driver": "codex", "allowedTools": ["Read"]},
}


def _tool(driver: str, name: str, given: dict[str, Any]) -> dict[str, Any]:
    """A call of one of our tools, as each program's model writes it."""
    if driver == "codex":
        return {"tool": name, "namespace": "mcp__ramet", "input": given}
    return {"tool": f"mcp__ramet__{name}", "input": given}


def _scripts() -> dict[str, Any]:
    spawns = {
        f"spawn_{parent}_{order}": [[_tool(parent, "spawn_agent", ORDERS[order])], [{"text": "They told me."}]]
        for parent in ("claude", "codex")
        for order in ORDERS
    }
    reports = {
        f"handin_{child}": [[_tool(child, "report", REPORT)], [{"text": "Handed in."}]] for child in ("claude", "codex")
    }
    confined = [
        [{"tool": "Bash", "input": {"command": "echo out > out.txt", "description": "Break out"}}],
        [_tool("claude", "spawn_agent", {"goal": "Break out."})],
        [{"text": "I could not."}],
    ]
    return {**SCRIPTS, **spawns, **reports, "confined": confined}


class Project(CommandLine):
    """A repository whose agents, of either kind, ask the scripted model."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage.folder, stage.folder / "repository")
        self.model = stage.model
        self.environ["GIT_CONFIG_GLOBAL"] = "/dev/null"
        profile = {"wrapper": stage.model.wrapper, "environment": stage.environment("gpt-5.5")}
        configuration = {
            "drivers": {"profiles": {"claude": profile, "codex": profile}},
            "work": {"backoff_seconds": 0},
            "spawn": {"drivers": ["claude", "codex"]},
        }
        config = Path(self.environ["HOME"]) / ".config" / "ramet" / "config.yaml"
        config.parent.mkdir(parents=True)
        config.write_text(json.dumps(configuration), encoding="utf-8")

    def perform(self, parent: str, order: str) -> str:
        """Let a parent spawn this child, with one worker; what its model was told in the end."""
        script = f"spawn_{parent}_{order}"
        self.ok("add", f"Ask somebody. [[{script}]]", "--driver", parent, "--skill", "do")
        self.ok("work", "--once", "--workers", "1")
        (last,) = [asked for asked in self.model.requests() if asked["script"] == script and asked["step"] == 1]
        return json.dumps(last["body"])


@pytest.fixture
def project(real_agents: None) -> Iterator[Project]:
    with a_stage("claude", _scripts()) as stage:
        made = Project(stage)
        try:
            yield made
        finally:
            made("kill", "e1")
            made("daemon", "stop")


@pytest.mark.requirement("R107", "R110", "R115")
@pytest.mark.parametrize(("parent", "child"), [("claude", "codex"), ("codex", "claude")])
def test_a_childs_result_reaches_its_parents_next_request(project: Project, parent: str, child: str) -> None:
    told = project.perform(parent, child)
    assert "childSessionId" in told
    assert REPORT["summary"] in told
    assert "# Ramet's tools" in told
    first, second = project.json("rpc", "call", "spawn.tree", json.dumps({"effort_id": 1}))["items"]
    assert [(row["driver"], row["outcome"], row["spawn_depth"]) for row in (first, second)] == [
        (parent, "success", 0),
        (child, "success", 1),
    ]
    assert second["parent_session_id"] == first["id"]
    assert first["total_tokens"] == first["tokens"] + second["tokens"] > first["tokens"]


@pytest.mark.requirement("R142")
def test_a_confined_child_can_neither_use_other_tools_nor_spawn(project: Project) -> None:
    project.perform("claude", "confined")
    asked = [entry for entry in project.model.requests() if entry["script"] == "confined"]
    names = {tool["name"] for tool in asked[0]["body"]["tools"]}
    assert "Read" in names
    assert not names & {"Bash", "Write", "Agent", "mcp__ramet__spawn_agent"}
    assert "mcp__ramet__report" in names
    tree = project.json("rpc", "call", "spawn.tree", json.dumps({"effort_id": 1}))["items"]
    assert len(tree) == 2


@pytest.mark.requirement("R142")
def test_a_child_that_cannot_be_confined_is_refused(project: Project) -> None:
    told = project.perform("claude", "loose")
    assert "cannot be restricted" in told
    assert not [entry for entry in project.model.requests() if entry["script"] == "confined"]


@pytest.mark.requirement("R333")
@pytest.mark.parametrize("parent", ["claude", "codex"])
def test_no_agent_gets_a_shell_by_spawning_one(project: Project, parent: str) -> None:
    told = project.perform(parent, "shell")
    assert "spawn.drivers" in told
    assert len(project.json("rpc", "call", "spawn.tree", json.dumps({"effort_id": 1}))["items"]) == 1
    assert not [*project.home.rglob("out.txt")]
