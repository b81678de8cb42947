"""The real agent CLIs inside each sandbox: they commit, keep their session, and resume it."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from tests.agents.project import Project
from tests.agents.scripts import SCRIPTS
from tests.agents.stage import a_stage, wait_for

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]

PROMPTS = {
    "claude": {"commit": "[[commit]]", "hold": "[[hold]]", "fetch": "[[fetch]]"},
    "codex": {"commit": "[[commit-command]]", "hold": "[[pause]]", "fetch": "[[fetch-command]]"},
}
ARGUMENTS = {"claude": ["--allowedTools", "Bash"], "codex": []}
SESSIONS = {"claude": ".claude/projects/*/*.jsonl", "codex": ".codex/sessions/ramet/*/*/*/*/rollout-*.jsonl"}

REPORT = {"summary": "It is blue."}
REPORTS = {
    "report_claude": [[{"tool": "mcp__ramet__report", "input": REPORT}], [{"text": "I have told them."}]],
    "report_codex": [
        [{"tool": "report", "namespace": "mcp__ramet", "input": REPORT}],
        [{"text": "I have told them."}],
    ],
}

each_agent = pytest.mark.parametrize("agent", ["claude", "codex"])
each_sandbox = pytest.mark.parametrize("sandbox", ["workspace", "strict"])


@pytest.fixture
def project(real_agents: None, bwrap: None, agent: str, sandbox: str) -> Iterator[Project]:
    # A strict sandbox has a network namespace of its own, and its proxy has this machine's.
    with a_stage(agent, SCRIPTS | REPORTS, is_isolated=sandbox == "workspace") as stage:
        made = Project(stage, sandbox=sandbox, arguments=ARGUMENTS[agent])
        home = stage.folder / "home"
        for path, text in (
            (".ssh/id_test", "a secret"),
            (".claude/history.jsonl", "other"),
            (".codex/history.jsonl", "other"),
        ):
            (home / path).parent.mkdir(parents=True, exist_ok=True)
            (home / path).write_text(text)
        try:
            yield made
        finally:
            made("kill", "e1")
            made("daemon", "stop")


def run(project: Project, prompt: str) -> dict[str, Any]:
    project.ok("add", "--skill", "do", prompt)
    project("work", "--once")
    return project.effort()


@each_sandbox
@each_agent
@pytest.mark.requirement("R344")
def test_an_agent_commits_in_its_worktree_and_keeps_its_session(project: Project, agent: str, sandbox: str) -> None:
    effort = run(project, f"Write it down. {PROMPTS[agent]['commit']}")
    assert (effort["outcome"], effort["attempts"], effort["reason"]) == ("success", 1, None)
    assert project.git("show", f"{effort['git_branch']}:note.txt") == "blue\n"
    assert project.git("log", "-1", "--format=%s", effort["git_branch"]) == "A note\n"
    assert f"## {effort['git_branch']}" in json.dumps(project.stage.model.requests()[-1]["body"])
    (kept,) = (project.stage.folder / "home").glob(SESSIONS[agent])
    assert effort["sessions"][0]["native_id"] in kept.name


@each_sandbox
@each_agent
@pytest.mark.requirement("R344")
def test_an_agent_that_was_killed_resumes_its_session(project: Project, agent: str, sandbox: str) -> None:
    project.ok("add", "--skill", "do", f"Start. {PROMPTS[agent]['hold']}")
    work = subprocess.Popen(
        [project.program, "work", "--once"],
        cwd=project.cwd,
        env=project.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        wait_for(lambda: any(asked["step"] == 1 for asked in project.stage.model.requests()), "the second step")
        wait_for(lambda: project.stage.has_kept("begun", times=2), "the first step in the program's transcript")
        (first,) = project.effort()["sessions"]
        os.kill(first["pid"], signal.SIGKILL)
        told, _ = work.communicate(timeout=120)
    finally:
        work.kill()
        work.wait()
    assert work.returncode == 0, told
    effort = project.effort()
    assert (effort["outcome"], effort["attempts"], effort["output_content"]) == ("success", 2, "I am done.")
    assert {session["native_id"] for session in effort["sessions"]} == {first["native_id"]}
    assert "begun" in json.dumps(project.stage.model.requests()[-1]["body"])


@each_sandbox
@each_agent
@pytest.mark.requirement("R344")
def test_an_agent_calls_ramet_through_the_socket_for_agents(project: Project, agent: str, sandbox: str) -> None:
    effort = run(project, f"Say it. [[report_{agent}]]")
    assert effort["outcome"] == "success"
    (concluded,) = project.json("rpc", "call", "events.list", json.dumps({"kind": "session.concluded"}))["items"]
    assert concluded["session_id"] == effort["sessions"][0]["id"]


@pytest.mark.parametrize("sandbox", ["strict"])
@each_agent
@pytest.mark.requirement("R344")
def test_a_refused_host_is_recorded(project: Project, agent: str, sandbox: str) -> None:
    effort = run(project, f"Fetch it. {PROMPTS[agent]['fetch']}")
    assert effort["outcome"] == "success"
    assert "sandbox.allow_hosts" in json.dumps(project.stage.model.requests()[-1]["body"])
    events = project.json("rpc", "call", "events.list", json.dumps({"kind": "session.refused"}))["items"]
    refused = [event["data"] for event in events if event["data"]["name"] == "refused.example:80"]
    assert refused[-1]["rule"] == "add refused.example to sandbox.allow_hosts"
