"""Refusals whose fix helps: it names what would be accepted at the place of the mistake."""

from typing import Any

import pytest
from tests.conformance import family
from tests.world import World

from ramet.errors import InvalidParams, PhaseNotSequential, UnknownPhase


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


@pytest.mark.requirement("R304")
@pytest.mark.parametrize(
    ("entered", "label", "fix"),
    [
        ([], "2: Paint", "enter '1: Look', or give a reason"),
        (["1", "2"], "1: Look", "finish the effort, or give a reason"),
    ],
)
def test_a_phase_out_of_order_is_answered_with_one_that_can_be_entered(
    world: World, entered: list[str], label: str, fix: str
) -> None:
    world.skill("paint", ["1: Look", "2: Paint"])
    effort = world.effort("paint")
    for past in entered:
        world.call("db.effort.phase", effort_id=effort.id, label=past)
    with pytest.raises(PhaseNotSequential) as refusal:
        world.call("db.effort.phase", effort_id=effort.id, label=label)
    assert (refusal.value.field, refusal.value.value) == ("label", label)
    assert refusal.value.fix == fix


@pytest.mark.requirement("R304")
def test_a_phase_that_the_skill_lacks_is_answered_with_those_that_it_has(world: World) -> None:
    world.skill("paint", ["1: Look", "2: Paint"])
    effort = world.effort("paint")
    with pytest.raises(UnknownPhase) as refusal:
        world.call("db.effort.phase", effort_id=effort.id, label="sing")
    assert (refusal.value.field, refusal.value.value) == ("label", "sing")
    assert "1: Look" in refusal.value.fix
    assert "2: Paint" in refusal.value.fix
