"""What `ramet ps` says of real programs while they work: who needs a person, how full its context is, its cost."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.agents.hooked import Hooked
from tests.agents.scripts import SCRIPTS
from tests.agents.stage import a_stage, wait_for
from tests.agents.terminal_agent import TerminalAgent

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]

each_agent = pytest.mark.parametrize("agent", ["claude", "codex"])
ASKING: dict[str, Any] = {
    "claude": {"tool": "Bash", "input": {"command": "touch asked.txt", "description": "Make a file"}},
    "codex": {
        "tool": "exec_command",
        "input": {
            "cmd": "touch asked.txt",
            "sandbox_permissions": "require_escalated",
            "justification": "May I make a file?",
        },
    },
}
DIALOG = {"claude": "Do you want to proceed", "codex": "Would you like to run"}
ANSWER = "It is touched."


@pytest.fixture
def user(real_agents: None, agent: str) -> Iterator[Hooked]:
    scripts = {**SCRIPTS, "ask": [[ASKING[agent]], [{"text": ANSWER}]]}
    with a_stage(agent, scripts) as stage:
        made = Hooked(stage)
        try:
            yield made
        finally:
            made.close()


def member(user: Hooked) -> dict[str, Any]:
    """The agent in `ps`; empty if there is none yet."""
    return dict(next(iter(user.json("ps")["items"]), {}))


@pytest.mark.requirement("R370")
@pytest.mark.requirement("R371")
@each_agent
def test_a_program_at_a_permission_dialog_needs_approval_until_it_is_answered(user: Hooked, agent: str) -> None:
    with TerminalAgent(user, "Touch it. [[ask]]") as program:
        program.wait_for(DIALOG[agent])
        shown = time.monotonic()
        wait_for(lambda: member(user).get("status") == "waiting_approval", "the status")
        print(f"{agent}: {time.monotonic() - shown:.1f} s after the dialog")
        assert "needs approval" in user.ok("ps")
        program.press("\r")
        program.wait_for(ANSWER)
        wait_for(lambda: member(user)["status"] == "waiting_person", "the end of the turn")
        wait_for(lambda: member(user)["cost_usd"] is not None, "the cost")
        found = member(user)
        assert (found["is_cost_estimated"], 0 < found["context_usage"] < 1) == (True, True)
        assert "~" in user.ok("ps")
    assert (user.stage.directory / "asked.txt").exists()


@pytest.mark.requirement("R371")
@each_agent
def test_an_agent_that_ends_without_a_cost_has_an_estimate(user: Hooked, agent: str) -> None:
    user.run({"claude": "[[tools]]", "codex": "[[command]]"}[agent])
    user.settle()
    ((cost, context, model),) = user.query(
        "SELECT sum(coalesce(u.cost_usd, u.estimated_usd)), s.context_usage, s.model FROM usage u"
        " JOIN sessions s ON s.id = u.session_id GROUP BY s.id, s.context_usage, s.model"
    )
    assert cost > 0
    assert 0 < context < 1
    assert model.startswith({"claude": "claude-", "codex": "gpt-5.5"}[agent])
