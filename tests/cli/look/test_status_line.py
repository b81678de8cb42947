"""`ramet status-line`, and the same through the hook's program: what an agent is at, below its prompt."""

import json
import subprocess
from typing import Any

import pytest
from tests.cli.command_line import CommandLine

USED = {"cost": {"total_cost_usd": 0.25}, "context_window": {"context_window_size": 200_000, "used_percentage": 42}}


def payload(at: CommandLine, **more: Any) -> str:
    return json.dumps({"session_id": "abc", "cwd": str(at.cwd), **more})


@pytest.fixture
def agent(shop: CommandLine) -> CommandLine:
    """An agent that somebody has started, which holds the second effort of a task, in its third phase."""
    shop.ok("project", "add", ".")
    shop.ok("skill", "add", "impl", "--phase", "1: Look", "--phase", "2: Sketch", "--phase", "3: Build")
    shop.ok("task", "add", "login")
    shop.begin_effort("login", "impl")
    shop.ok("effort", "finish", "e1")
    shop.begin_effort("login", "impl")
    for phase in ("1: Look", "2: Sketch", "3: Build"):
        shop.ok("effort", "phase", "e2", phase)
    shop.ok("agent", "register", "blue")
    shop.ok("agent", "assign", "blue", "e2")
    shop.environ["RAMET_AGENT"] = "blue"
    return shop


@pytest.mark.requirement("R271")
def test_it_says_effort_skill_and_phase_and_tells_what_was_used(agent: CommandLine) -> None:
    assert agent.ok("status-line", stdin=payload(agent, **USED)) == "[2:impl:P3]\n"
    row = agent.json("ps")["items"][0]
    assert (row["agent"], row["context_usage"], row["cost_usd"]) == ("blue", 0.42, 0.25)
    heading, line = agent.ok("ps").splitlines()
    assert {"CTX", "COST", "PHASE", "AGE"} <= set(heading.split())
    assert "42%" in line
    assert "$0.25" in line


@pytest.mark.requirement("R271")
def test_the_settings_have_a_command_that_prints_the_same(agent: CommandLine) -> None:
    agent.ok("hooks", "install", "--agent", "claude", "--status-line", "--yes")
    command = json.loads((agent.cwd / ".claude/settings.json").read_text())["statusLine"]["command"]
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        input=payload(agent, **USED),
        env=agent.environ,
        capture_output=True,
        text=True,
        check=True,
        timeout=10,
    )
    assert done.stdout == "[2:impl:P3]\n"


@pytest.mark.parametrize("text", ["", "nonsense", "[]", "{}", '{"session_id": 7}'])
def test_what_it_does_not_understand_it_says_nothing_about(ramet: CommandLine, text: str) -> None:
    assert ramet.ok("status-line", stdin=text) == "\n"


def test_it_starts_no_daemon(offline: CommandLine) -> None:
    assert offline.ok("status-line", stdin=payload(offline, **USED)) == "\n"
    assert not (offline.home / "ramet" / "run").exists()
