"""An agent's mistake is answered with what would be accepted, at its place."""

from collections.abc import Callable
from typing import Any

import pytest

from ramet.errors import InvalidParams
from ramet.mcp import arguments
from ramet.mcp.tools import TOOLS

CHECKS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "spawn_agent": arguments.check_spawn,
    "await_sessions": lambda given: arguments.check(arguments.AwaitSessions, given),
    "read_output": lambda given: arguments.check(arguments.ReadOutput, given),
}


@pytest.mark.requirement("R304")
@pytest.mark.parametrize(
    ("tool", "given", "field", "fix"),
    [
        ("spawn_agent", {"goal": "a", "inherit": "all"}, "inherit", "use one of: full_clone, head_snapshot, "),
        (
            "spawn_agent",
            {"agents": [{"goal": "a", "inherit": "all"}]},
            "agents[0].inherit",
            "use one of: full_clone, ",
        ),
        ("spawn_agent", {"goal": "a", "wait": "yes"}, "wait", "give true or false"),
        ("spawn_agent", {"goal": 7}, "goal", "give a string"),
        ("spawn_agent", {}, "goal", "give goal; the parameters are: goal, workflowId, "),
        ("spawn_agent", {"agents": [{"gaol": "a"}]}, "agents[0].gaol", "the parameters of agents[0] are: goal, "),
        ("spawn_agent", {"agents": [{"goal": "a"}], "goal": "b"}, "goal", "describe each child in `agents`, or "),
        ("await_sessions", {"sessionIds": ["s1"]}, "sessionIds[0]", "give an integer"),
        ("await_sessions", {"sessions": [1]}, "sessions", "the parameters are: sessionIds, timeoutSeconds"),
        ("read_output", {"effort": 1}, "effort", "the parameters are: effortId, offset"),
    ],
)
def test_a_refused_argument_is_named_with_what_is_accepted(
    tool: str, given: dict[str, Any], field: str, fix: str
) -> None:
    with pytest.raises(InvalidParams) as refusal:
        CHECKS[tool](given)
    assert refusal.value.field == field
    assert refusal.value.fix.startswith(fix)


@pytest.mark.requirement("R304")
def test_the_tool_promises_children_at_once_only_as_far_as_workers_are_free() -> None:
    (text,) = [tool.description for tool in TOOLS if tool.name == "spawn_agent"]
    assert "side by side" not in text
    assert "in parallel if workers are free" in text
