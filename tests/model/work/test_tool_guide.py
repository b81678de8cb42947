"""What agents are told about the tools that Ramet gives them."""

import pytest

from ramet.mcp.tools import TOOLS
from ramet.model.work import tool_guide


@pytest.mark.requirement("R115", "R116")
def test_an_agent_is_told_when_to_delegate_what_comes_back_and_what_it_costs() -> None:
    text = tool_guide.compose(spawn_depth=1, max_depth=3)
    for tool in TOOLS:
        assert f"`{tool.name}`" in text
    for words in (tool_guide.WHEN, tool_guide.RETURNS, tool_guide.CLOCK, tool_guide.ZOMBIES):
        assert words in text
    assert "You are at depth 1 of 3: you can have 2 more levels of agents below you." in text


@pytest.mark.requirement("R116")
def test_the_description_of_the_tool_says_the_same_to_agents_without_the_guidance() -> None:
    description = TOOLS[0].description
    for words in (
        tool_guide.WHEN,
        tool_guide.RETURNS,
        tool_guide.CLOCK,
        tool_guide.ZOMBIES,
        "Max spawn depth exceeded",
    ):
        assert words in description


@pytest.mark.requirement("R116")
@pytest.mark.parametrize(
    ("depth", "words"),
    [(0, "3 more levels"), (2, "one more level of agents"), (3, "you cannot spawn"), (9, "you cannot spawn")],
)
def test_an_agent_is_told_how_deep_it_is(depth: int, words: str) -> None:
    assert words in tool_guide.compose(spawn_depth=depth, max_depth=3)
