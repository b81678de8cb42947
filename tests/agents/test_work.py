"""The whole way: `ramet add`, `ramet work`, and a real agent CLI at the end of it, against the scripted model."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import psutil
import pytest
from tests.agents.project import Project
from tests.agents.scripted_model import CACHED_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS
from tests.agents.scripts import RESETS_AT, SCRIPTS
from tests.agents.stage import a_stage, wait_for

pytestmark = [pytest.mark.agents, pytest.mark.timeout(180)]

each_agent = pytest.mark.parametrize("agent", ["claude", "codex"])
TOLD_TOKENS = {"claude": INPUT_TOKENS + CACHED_TOKENS, "codex": INPUT_TOKENS}
"""What the model says that it read for one answer: OpenAI counts what was cached as a part of the input."""
PROMPTS = {
    "claude": {"write": "[[write]]", "hold": "[[hold]]", "limit": "[[limit]]"},
    "codex": {"write": "[[patch]]", "hold": "[[pause]]", "limit": "[[plan]]"},
}


@pytest.fixture
def project(real_agents: None, agent: str) -> Iterator[Project]:
    key_name = "CLAUDE_CODE_OAUTH_TOKEN" if agent == "claude" else "ANTHROPIC_API_KEY"
    with a_stage(agent, SCRIPTS, key_name=key_name) as stage:
        made = Project(stage)
        try:
            yield made
        finally:
            made("kill", "e1")
            made("daemon", "stop")


@each_agent
def test_an_agent_writes_a_file_that_is_committed_in_its_worktree(project: Project, agent: str) -> None:
    project.ok("add", f"Write it down. {PROMPTS[agent]['write']}")
    project.ok("work", "--once")
    effort = project.effort()
    assert (effort["outcome"], effort["attempts"]) == ("success", 1)
    assert project.git("show", f"{effort['git_branch']}:note.txt") == "blue\n"
    assert effort["changes"]["files"] == ["note.txt"]
    assert effort["usage"]["output_tokens"] == 2 * OUTPUT_TOKENS
    assert "Write it down." in json.dumps(project.stage.model.requests()[0]["body"])


@each_agent
def test_what_an_agent_says_and_does_is_in_its_sessions_history(project: Project, agent: str) -> None:
    project.ok("add", f"Write it down. {PROMPTS[agent]['write']}")
    project.ok("work", "--once")
    (session,) = project.effort()["sessions"]
    assert session["driver"] == agent
    said = project.json("rpc", "call", "db.messages.list", json.dumps({"session_id": session["id"]}))["items"]
    assert said[0]["role"] == "user"
    assert "Write it down." in said[0]["content"]
    assert any(message["tool_name"] in ("Write", "file_change") for message in said)
    assert said[-1]["content"] in ("It is written.", "The file is there.")


@pytest.mark.requirement("R360")
@pytest.mark.parametrize("agent", ["claude"])
def test_a_background_task_does_not_hold_the_slot_of_a_finished_agent(project: Project) -> None:
    project.environ["RAMET_WORK_LINGERING_SECONDS"] = "2"
    project.ok("add", "Serve it. [[serve]]", "--skill", "do")
    project.ok("work", "--once")
    effort = project.effort()
    assert (effort["outcome"], effort["output_content"]) == ("success", "It is served.")
    said = project.json("rpc", "call", "db.messages.list", json.dumps({"session_id": 1}))["items"]
    assert "still ran 2 seconds later" in said[-1]["content"]
    assert not [process for process in psutil.process_iter(["cmdline"]) if "617" in (process.info["cmdline"] or [])]


@each_agent
def test_an_agent_that_was_killed_goes_on_in_its_own_context_window(project: Project, agent: str) -> None:
    project.ok("add", "--skill", "do", f"Begin. {PROMPTS[agent]['hold']}")
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
    # One answer before it was killed and two after: both programs go on counting, each in its own way.
    assert effort["usage"]["input_tokens"] + effort["usage"]["cache_read_tokens"] == 3 * TOLD_TOKENS[agent]


@pytest.mark.requirement("R364")
@each_agent
def test_a_wrong_key_parks_the_program_and_burns_no_task(project: Project, agent: str) -> None:
    for number in range(3):
        project.ok("add", f"Go. [[key]] {number}")
    project("work", "--once")
    assert {project.json("show", f"e{number}")["lifecycle"] for number in (1, 2, 3)} == {"queued"}
    assert [row["driver"] for row in project.json("rpc", "call", "drivers.parked", "{}")["items"]] == [agent]
    (notice,) = project.json("notices")["items"]
    assert f"{agent} cannot use its account" in notice["text"]
    assert project.ok("drivers", "release", agent) == f"{agent} is used again; can start: e1 e2 e3\n"


@each_agent
def test_a_usage_limit_puts_an_effort_off_until_it_ends(project: Project, agent: str) -> None:
    project.ok("add", f"Go. {PROMPTS[agent]['limit']}")
    project("work", "--once")
    effort = project.effort()
    assert (effort["lifecycle"], effort["outcome"]) == ("queued", None)
    assert effort["agent_failures"] == 0
    assert abs(datetime.fromisoformat(effort["not_before"]).timestamp() - RESETS_AT) < 60


@each_agent
def test_an_error_for_good_is_not_tried_again_and_leaves_a_notice(project: Project, agent: str) -> None:
    project.ok("add", "Go. [[wrong]]")
    assert project("work", "--once").returncode == 1
    effort = project.effort()
    assert (effort["outcome"], effort["failure"], effort["attempts"]) == ("error", "permanent", 1)
    assert "no such model" in effort["reason"]
    assert len(project.json("notices")["items"]) == 1


@each_agent
def test_an_error_in_passing_is_tried_again_within_bounds(project: Project, agent: str) -> None:
    project.ok("add", "Go. [[overloaded]]")
    assert project("work", "--once").returncode == 1
    effort = project.effort()
    assert (effort["failure"], effort["attempts"], effort["agent_failures"]) == ("transient", 3, 3)
    assert len(project.json("notices")["items"]) == 1


@pytest.mark.requirement("R368")
@pytest.mark.parametrize("agent", ["claude"])
@pytest.mark.parametrize("has_hooks", [False, True])
def test_a_sub_agent_of_a_queued_agent_is_a_child_session(project: Project, has_hooks: bool) -> None:
    if has_hooks:
        project.ok("hooks", "install", "--agent", "claude", "--scope", "user", "--yes")
    project.ok("add", "Ask another. [[agents]]", "--skill", "do")
    project.ok("work", "--once")
    own, child = project.json("rpc", "call", "spawn.tree", json.dumps({"effort_id": 1}))["items"]
    assert (child["parent_session_id"], child["outcome"]) == (own["id"], "success")
    said = {
        row["id"]: [
            message["content"]
            for message in project.json("rpc", "call", "db.messages.list", json.dumps({"session_id": row["id"]}))[
                "items"
            ]
        ]
        for row in (own, child)
    }
    asked, call, *rest = said[child["id"]]
    assert (asked, rest) == ("Look. [[sub]]", ["two", "There are two files."])
    assert '"echo two"' in call
    assert not any(text == "two" or "echo two" in text for text in said[own["id"]])
    assert said[own["id"]][-1] == "The other one found two files."
    assert own["total_cost_usd"] == own["cost_usd"]


@pytest.mark.requirement("R371")
@pytest.mark.parametrize("agent", ["codex"])
def test_a_queued_codex_has_a_cost_and_a_context_while_it_works(project: Project) -> None:
    project.ok("add", "Begin. [[pause]]", "--skill", "do")
    work = subprocess.Popen([project.program, "work", "--once"], cwd=project.cwd, env=project.environ)
    try:
        wait_for(lambda: bool(_fleet(project)) and _fleet(project)[0]["cost_usd"] is not None, "the cost")
        (member,) = _fleet(project)
        assert (member["is_cost_estimated"], 0 < member["context_usage"] < 1) == (True, True)
    finally:
        project("kill", "e1")
        work.wait(120)


def _fleet(project: Project) -> list[Any]:
    return list(project.json("ps")["items"])
