"""Going on: which session is the last of an agent or a task."""

import pytest
from tests.conformance.hook_calls import hook, session, start
from tests.world import World

from ramet.errors import SessionNotFound

MANY = 30


@pytest.mark.requirement("R285")
@pytest.mark.parametrize("field", ["task_id", "agent_id"])
def test_however_many_sub_agents_a_session_had_it_is_the_one_that_goes_on(world: World, field: str) -> None:
    above = start(world)
    for number in range(MANY):
        hook(world, "subagent_start", agent_id=f"a{number}")
    named = {field: getattr(session(world, above), field)}
    assert world.call("db.session.continue", **named).session.prev_session_id == above


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"task_id": "/shop/tasks/till"}, "there is no session in task '/shop/tasks/till'"),
        ({"agent_id": "bob"}, "there is no session of agent 'bob'"),
        ({"agent_id": "bob", "task_id": "/shop/till"}, "there is no session of agent 'bob' in task '/shop/till'"),
    ],
)
def test_where_nothing_goes_on_it_is_said_what_was_looked_for(world: World, named: dict[str, str], said: str) -> None:
    start(world)
    with pytest.raises(SessionNotFound, match=said):
        world.call("db.session.continue", **named)
