"""Refusals whose fix helps: it names what would be accepted at the place of the mistake."""

from typing import Any

import pytest
from tests.conformance import family
from tests.world import World

from ramet.errors import InvalidParams


@pytest.mark.requirement("R304")
@pytest.mark.parametrize(
    ("name", "params", "field", "fix"),
    [
        (
            "history.commit",
            {"branch": "main", "content": {"content_type": "session", "session_type": "zzz", "summary": "x"}},
            "content.session_type",
            "use one of: start, end, handoff, checkpoint",
        ),
        (
            "history.commit",
            {"branch": "main", "content": {"content_type": "dialogue", "role": "zzz", "text": "x"}},
            "content.role",
            "use one of: user, assistant, system",
        ),
        (
            "history.commit",
            {"branch": "main", "content": {"content_type": "instruction"}},
            "content",
            "the fields of instruction are: text, name",
        ),
        (
            "history.spawn",
            {"parent": "main", "child": "kid", "purpose": "x", "filter": {"content_types": ["artifact"]}},
            "filter.content_types",
            "the parameters of filter are: types, tags, last_turns",
        ),
        (
            "spawn.agents",
            {"agents": [{"goal": "x", "inherit": "all"}]},
            "agents[0].inherit",
            "use one of: full_clone, head_snapshot, none, selective",
        ),
        (
            "spawn.agents",
            {"agents": [{}]},
            "agents[0].goal",
            "give agents[0].goal; the parameters of agents[0] are: goal, workflowId, ",
        ),
    ],
)
def test_a_fix_names_what_is_accepted_where_the_mistake_is(
    world: World, name: str, params: dict[str, Any], field: str, fix: str
) -> None:
    with pytest.raises(InvalidParams) as refusal:
        world.call(name, **params)
    assert (refusal.value.field or "").replace("[...]", "[0]") == field
    assert (refusal.value.fix or "").replace("[...]", "[0]").startswith(fix)


@pytest.mark.requirement("R304")
def test_a_child_that_is_refused_says_what_to_do(world: World) -> None:
    above = family.parent(world)
    order = {"goal": "look", "workflowId": "nosuch"}
    (result,) = world.call("spawn.agents", parent_session_id=above.session.id, agents=[order]).results
    assert result.notes.startswith("there is no skill 'nosuch'; ")
    assert "implement" in result.notes
