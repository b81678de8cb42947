"""What people see of the sessions of real programs: their first tools, the program's own messages, short hook commands,
copies and names.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.agents.hooked import WINDOW, Hooked
from tests.agents.project import Project
from tests.agents.scripts import SCRIPTS
from tests.agents.stage import PATIENCE_SECONDS, Stage, a_stage, wait_for
from tests.agents.terminal_agent import TerminalAgent

from ramet.config.settings import DriverSettings
from ramet.vendors import selection

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300), pytest.mark.requirement("R461")]

each_agent = pytest.mark.parametrize("agent", ["claude", "codex"])
OWN_MESSAGES = {
    "claude": ["the model failed (529); retrying", "API Error: 529 Overloaded"],
    "codex": ["unexpected status 529"],
}
"""What each program says by itself if its model is overloaded."""
SHORT_COMMAND = "~/.local/share/ramet/hook claude # ramet hooks"
_SLOW = '#!/bin/sh\nsleep 3\nexec {command} "$@"\n'


@pytest.fixture
def stage(real_agents: None, agent: str) -> Iterator[Stage]:
    with a_stage(agent, SCRIPTS) as made:
        yield made


@pytest.fixture
def hooked(stage: Stage) -> Iterator[Hooked]:
    made = Hooked(stage)
    yield made
    made.close()


@pytest.fixture
def project(stage: Stage) -> Iterator[Project]:
    made = Project(stage)
    yield made
    made("daemon", "stop")


def slow_down(file: Path) -> None:
    """Let our server take longer than a program takes to its first turn, as on a busy machine."""
    settings = json.loads(file.read_text())
    server = settings["mcpServers"]["ramet"]
    slow = file.with_name("slow")
    slow.write_text(_SLOW.format(command=server["command"]))
    slow.chmod(0o700)
    server["command"] = str(slow)
    file.write_text(json.dumps(settings))


@pytest.mark.parametrize("agent", ["claude"])
def test_the_first_turn_of_claude_has_the_tools_of_the_project_even_if_they_start_slowly(hooked: Hooked) -> None:
    hooked.ok("init", "--agent", "claude", "--scope", "project")
    slow_down(hooked.stage.directory / ".mcp.json")
    hooked.run("Which colour? [[answer]]", native_id=WINDOW)
    first = next(request for request in hooked.stage.model.requests() if request["script"] == "answer")
    tools = {tool["name"] for tool in first["body"]["tools"]}
    assert {"mcp__ramet__log", "mcp__ramet__report", "mcp__ramet__spawn_agent"} <= tools


@each_agent
def test_what_a_program_says_of_its_model_is_no_output_of_a_tool(project: Project, agent: str) -> None:
    project.ok("add", "Go. [[overloaded]]")
    assert project("work", "--once").returncode == 1
    messages = project.ok("session", "log", "s1").removeprefix("--- ").split("\n--- ")
    own = [message for message in messages if "529" in message]
    assert [message.split()[0] for message in own] == ["system"] * len(OWN_MESSAGES[agent])
    assert all(text in message for text, message in zip(OWN_MESSAGES[agent], own, strict=True))


@pytest.mark.parametrize("agent", ["claude"])
def test_claudes_screen_shows_a_short_hook_command_and_rename_names_the_session(hooked: Hooked) -> None:
    with TerminalAgent(hooked, "Which colour? [[answer]]") as program:
        program.wait_for("It is blue.")
        wait_for(lambda: is_waiting(hooked), "the end of the turn")
        program.enter("/rename cart")
        wait_for(lambda: hooked.json("show", "s1")["title"] == "cart", "the session's name")
        program.enter("/compact")
        wait_for(lambda: hooked.stage.has_kept("PostCompact [", times=1), "the end of the compaction")
        program.wait_for(f"PreCompact [{SHORT_COMMAND}] completed successfully", redraws=True)
        assert "RAMET_HOM" not in program.screen
    assert "cart" in hooked.ok("show", "s1")
    assert "[cart]" in hooked.ok("tree", "s1")


def is_waiting(hooked: Hooked) -> bool:
    return any(row["status"] == "waiting_person" for row in hooked.json("ps")["items"])


@each_agent
def test_a_fork_names_the_session_that_it_is_a_copy_of(hooked: Hooked, agent: str) -> None:
    first = hooked.run("Which colour? [[answer]]", **({"native_id": WINDOW} if agent == "claude" else {}))
    hooked.settle()
    fork(hooked, first.native_id)
    hooked.settle()
    origin, copy = (hooked.json("show", name) for name in ("s1", "s2"))
    assert (origin["native_id"], origin["forked_from_session_id"]) == (first.native_id, None)
    assert copy["native_id"] != first.native_id
    assert copy["forked_from_session_id"] == 1
    assert [row["forked_from_session_id"] for row in hooked.json("tree", "s2")["items"]] == [1]
    assert "(fork of s1)" in hooked.ok("tree", "s2")


def fork(hooked: Hooked, native_id: str) -> None:
    """As a person does it: `claude --resume ID --fork-session`, `codex exec fork ID`."""
    if hooked.stage.driver.name == "claude":
        hooked.run("And now? [[again]]", native_id=native_id, forks=True)
        return
    program = selection.resolve("codex", DriverSettings(), {"PATH": os.environ["PATH"]}).program
    subprocess.run(
        [*hooked.stage.model.wrapper, *program, "exec", "fork", *hooked.trust(), native_id, "And now? [[again]]"],
        env=hooked.stage.environment("gpt-5.5"),
        cwd=hooked.stage.directory,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        timeout=PATIENCE_SECONDS,
    )
