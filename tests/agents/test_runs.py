"""A task file through the real agent CLIs: what one task answers reaches the model that does the next one, even where
everything was killed in between and another program goes on.
"""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.agents.project import Project
from tests.agents.scripts import HELD_SECOND, SCRIPTS
from tests.agents.stage import a_stage, wait_for

pytestmark = [pytest.mark.agents, pytest.mark.timeout(180)]

TASKS = "- [ ] 1. Which colour is it? [[answer]]\n- [ ] 2. Write it down. [[second]]\n"
SECOND_PROMPT = """\
[User]
Which colour is it? [[answer]]

[Assistant]
It is blue.

[Current Task]
Write it down. [[second]]"""


@contextmanager
def a_project(scripts: dict[str, Any]) -> Iterator[Project]:
    """Claude Code does what names no agent; Codex is there, too."""
    with a_stage("claude", scripts) as stage:
        project = Project(stage)
        (project.cwd / "tasks.md").write_text(TASKS)
        try:
            yield project
        finally:
            for effort in ("e1", "e2"):
                project("kill", effort)
            project("daemon", "stop")


def asked(project: Project, script: str) -> list[dict[str, Any]]:
    """The requests that the model answered from a script."""
    return [request for request in project.stage.model.requests() if request["script"] == script]


def has_prompt(request: dict[str, Any], prompt: str) -> bool:
    """Whether the model was given exactly this text, on its own."""
    return json.dumps(prompt) in json.dumps(request["body"])


def kill_all(project: Project, command: "subprocess.Popen[bytes]") -> psutil.Process:
    """The command, the daemon and the keeper, without a word; the agent that is left behind."""
    daemon = project.json("daemon", "status")["pid"]
    (keeper,) = Path(project.environ["RAMET_HOME"], "keepers").glob("*/*/keeper.json")
    record = json.loads(keeper.read_text())
    agent = psutil.Process(record["agent_pid"])
    for pid in (command.pid, daemon, record["pid"]):
        os.kill(pid, signal.SIGKILL)
    command.wait()
    return agent


def kill_in_the_second_task(project: Project) -> psutil.Process:
    """Run the file until the model is asked for the second task, which it does not answer."""
    command = subprocess.Popen(
        [project.program, "run", "tasks.md"], cwd=project.cwd, env=project.environ, stdout=subprocess.DEVNULL
    )
    try:
        wait_for(lambda: bool(asked(project, "second")), "the second task")
        return kill_all(project, command)
    finally:
        command.kill()
        command.wait()


def has_ended(process: psutil.Process) -> bool:
    """Where nobody waits for orphans, a zombie is what is left of one."""
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def conversation(run: dict[str, Any]) -> list[tuple[str, str]]:
    return [(turn["role"], turn["content"]) for turn in run["conversation"]]


@pytest.fixture
def project(real_agents: None) -> Iterator[Project]:
    with a_project({**SCRIPTS, "second": SCRIPTS["write"]}) as made:
        yield made


@pytest.fixture
def held_project(real_agents: None) -> Iterator[Project]:
    with a_project({**SCRIPTS, "second": HELD_SECOND}) as made:
        yield made


@pytest.mark.requirement("R80", "R81", "R82")
def test_claude_is_asked_for_the_second_task_with_the_answer_to_the_first(project: Project) -> None:
    project.ok("run", "tasks.md")
    assert [(request["script"], request["step"]) for request in project.stage.model.requests()] == [
        ("answer", 0),
        ("second", 0),
        ("second", 1),
    ]
    assert has_prompt(asked(project, "answer")[0], "Which colour is it? [[answer]]")
    assert has_prompt(asked(project, "second")[0], SECOND_PROMPT)
    assert project.git("show", "ramet/r1:note.txt") == "blue\n"
    assert conversation(project.json("runs", "show", "r1")) == [
        ("user", "Which colour is it? [[answer]]"),
        ("assistant", "It is blue."),
        ("user", "Write it down. [[second]]"),
        ("assistant", "It is written."),
    ]


@pytest.mark.requirement("R92", "R93", "R94", "R98", "R104", "R284")
def test_codex_goes_on_with_what_claude_had_answered_before_everything_was_killed(held_project: Project) -> None:
    project = held_project
    left_behind = kill_in_the_second_task(project)
    told = project.ok("run", "--resume", "r1", "--driver", "codex")
    assert "Resuming r1 with 3 turns of context\n" in told
    assert "1 (" not in told
    assert has_ended(left_behind)
    assert len(asked(project, "answer")) == 1
    by_claude, *by_codex = asked(project, "second")
    assert by_claude["path"].startswith("/v1/messages")
    assert [(request["path"], request["step"]) for request in by_codex] == [("/v1/responses", 0), ("/v1/responses", 1)]
    assert has_prompt(by_codex[0], SECOND_PROMPT)
    run = project.json("runs", "show", "r1")
    assert [line["state"] for line in run["lines"]] == ["completed", "completed"]
    assert conversation(run)[1:] == [
        ("assistant", "It is blue."),
        ("user", "Write it down. [[second]]"),
        ("assistant", "The file is there."),
    ]
    assert project.git("show", "ramet/r1:note.txt") == "blue\n"
