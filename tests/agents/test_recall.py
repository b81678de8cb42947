"""A real agent asks `recall` over MCP: the answer is in the next request to its model."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.agents.hooked import Hooked
from tests.agents.project import Project
from tests.agents.scripts import SCRIPTS
from tests.agents.stage import Stage, a_stage, wait_for

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]

KNOWN = "The webhook signature is computed over the raw body, before the proxy rewrites the charset."
ASKED = {"found": {"query": "webhook signature raw body"}, "nothing": {"query": "kubernetes operator reconciliation"}}


def _scripts(driver: str) -> dict[str, Any]:
    def tool(given: dict[str, Any]) -> dict[str, Any]:
        if driver == "codex":
            return {"tool": "recall", "namespace": "mcp__ramet", "input": given}
        return {"tool": "mcp__ramet__recall", "input": given}

    calls = [[tool(ASKED["found"])], [tool(ASKED["nothing"])], [{"text": "I know."}]]
    weather = [{"text": f"Report {number} of the weather speaks of clouds."} for number in range(30)]
    return {**SCRIPTS, "telling": [[{"text": KNOWN}, *weather]], "asking": calls, "plain": [[{"text": "Fine."}]]}


@pytest.fixture(params=["claude", "codex"])
def stage(request: pytest.FixtureRequest, real_agents: None) -> Iterator[Stage]:
    with a_stage(request.param, _scripts(request.param)) as made:
        yield made


@pytest.mark.requirement("R391")
def test_what_an_earlier_session_said_is_in_the_next_request_of_an_agent_that_asks(stage: Stage) -> None:
    project = Project(stage)
    try:
        project.ok("add", "Why do signatures fail? [[telling]]", "--skill", "do")
        project.ok("work", "--once", "--workers", "1")
        wait_for(lambda: project("recall", "webhook signature raw body").returncode == 0, "the answer of recall")
        project.ok("add", "Ask before you look. [[asking]]", "--skill", "do")
        project.ok("work", "--once", "--workers", "1")
        bodies = {
            each["step"]: json.dumps(each["body"]) for each in stage.model.requests() if each["script"] == "asking"
        }
        assert KNOWN not in bodies[0]
        assert f"> {KNOWN}" in bodies[1]
        assert "s1:" in bodies[1]
        assert len(bodies[2]) - len(bodies[1]) < 2000, "nothing relevant costs an agent nothing but its question"
    finally:
        project("daemon", "stop")


@pytest.mark.requirement("R455")
def test_a_prompt_of_a_person_gets_what_an_earlier_session_said(stage: Stage) -> None:
    hooked = Hooked(stage)
    try:
        hooked.run("Why do signatures fail? [[telling]]")
        hooked.settle()
        wait_for(lambda: hooked("recall", "-A", "webhook signature raw body").returncode == 0, "the answer of recall")
        hooked.run("Look at the webhook signature of the raw body. [[plain]]")
        assert "<ramet-recall>" in hooked.asked()
        assert f"> {KNOWN}" in hooked.asked()
        hooked.run("Paint the ceiling of the chapel. [[plain]]")
        assert "<ramet-recall>" not in hooked.asked()
        (injected,) = hooked.ask("events.list", kind="session.injected")["items"]
        assert injected["data"]["source"] == "recall"
    finally:
        hooked.close()
