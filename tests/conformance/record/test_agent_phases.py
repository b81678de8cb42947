"""An agent that Ramet runs goes through the phases of its own effort, and of no other."""

from typing import Any

import pytest
from tests.conformance import hook_calls, queue_worker
from tests.world import World

from ramet.errors import Forbidden, InvalidProof, PhaseNotSequential, RametError, UnknownPhase
from ramet.model.principal import of_session

PHASES = ["1: Prime", {"label": "2: Paint", "proof": {"coats": "number"}, "heartbeat": True}, "3: Dry"]


class Painter:
    """An attempt at an effort with phases, and its agent's token."""

    def __init__(self, world: World) -> None:
        self.world = world
        world.skill("paint", PHASES)
        effort = queue_worker.add(world, "the cart", skill="paint", task="/shop/tasks/cart")
        claimed = queue_worker.claim(world, "host/1", effort_id=effort.id)
        self.session = queue_worker.begin(world, claimed, driver="claude", native_id="native-1").session
        self.effort_id = effort.id

    def enter(self, label: str, **params: Any) -> Any:
        asked = {"effort_id": None, "label": label, **params}
        return self.world.call_as(of_session(self.session.id), "db.effort.phase", **asked)


@pytest.fixture
def painter(world: World) -> Painter:
    return Painter(world)


@pytest.mark.requirement("R348")
def test_an_agent_enters_the_phases_of_its_effort_by_its_token_alone(painter: Painter) -> None:
    entered = painter.enter("1")
    assert (entered.id, entered.current_phase, entered.next_phase) == (painter.effort_id, "1: Prime", "2: Paint")
    assert painter.enter("1: Prime", effort_id=painter.effort_id).already
    assert painter.enter("2", proof={"coats": 2}).recorded.proof == {"coats": 2}
    assert painter.enter("3: Dry").next_phase is None
    assert painter.enter("1", reason="a drip").current_phase == "1: Prime"
    assert painter.world.events().count("effort.phase") == 4


@pytest.mark.requirement("R348")
@pytest.mark.parametrize(
    ("label", "proof", "error"),
    [
        ("3: Dry", None, PhaseNotSequential),
        ("2: Paint", None, PhaseNotSequential),
        ("7: Sell", None, UnknownPhase),
        ("Sing", None, UnknownPhase),
    ],
)
def test_a_refused_phase_has_a_fix_and_changes_nothing(
    painter: Painter, label: str, proof: dict[str, object] | None, error: type[RametError]
) -> None:
    before = painter.world.dump()
    with pytest.raises(error) as caught:
        painter.enter(label, proof=proof)
    assert "1: Prime" in (caught.value.fix or "")
    assert painter.world.dump() == before


@pytest.mark.requirement("R348")
@pytest.mark.parametrize("proof", [None, {}, {"coats": "two"}, {"coats": True}, {"coats": None}, {"layers": 2}])
def test_a_proof_that_does_not_validate_is_refused_and_changes_nothing(
    painter: Painter, proof: dict[str, object] | None
) -> None:
    painter.enter("1")
    before = painter.world.dump()
    with pytest.raises(InvalidProof) as caught:
        painter.enter("2", proof=proof)
    assert "number" in (caught.value.fix or "")
    assert painter.world.dump() == before


@pytest.mark.requirement("R348")
def test_behind_the_last_phase_the_fix_names_no_phase_that_does_not_exist(painter: Painter) -> None:
    for label, proof in (("1", None), ("2", {"coats": 1}), ("3", None)):
        painter.enter(label, proof=proof)
    with pytest.raises(PhaseNotSequential) as caught:
        painter.enter("2", proof={"coats": 1})
    assert caught.value.fix == "finish the effort, or give a reason"


@pytest.mark.requirement("R348")
def test_the_phase_of_another_effort_is_refused_even_of_a_child(painter: Painter) -> None:
    world = painter.world
    other = queue_worker.add(world, "the till", skill="paint", task="/shop/tasks/till")
    child = world.call_as(of_session(painter.session.id), "spawn.agent", goal="the lid", workflowId="paint")
    theirs = world.call("db.session.get", session_id=child.child_session_id).effort_id
    before = world.dump()
    for effort_id in (other.id, theirs):
        with pytest.raises(Forbidden, match=f"cannot access effort {effort_id}"):
            painter.enter("1", effort_id=effort_id)
    with pytest.raises(Forbidden):
        painter.enter("1", session_id=child.child_session_id)
    assert world.dump() == before


@pytest.mark.requirement("R348")
def test_a_person_enters_the_phase_of_a_session_s_effort_or_has_to_name_one(painter: Painter) -> None:
    world = painter.world
    assert (
        world.call("db.effort.phase", effort_id=None, session_id="claude:native-1", label="1").current_phase
        == "1: Prime"
    )
    with pytest.raises(RametError) as caught:
        world.call("db.effort.phase", effort_id=None, label="2")
    assert (caught.value.code, caught.value.field) == ("invalid_params", "effort_id")


@pytest.mark.requirement("R348")
def test_the_fleet_and_the_status_line_show_the_phase_of_an_agent_that_ramet_runs(painter: Painter) -> None:
    world = painter.world
    hook_calls.hook(world, "session_start", session=painter.session.id)
    painter.enter("1")
    (member,) = [row for row in world.call("fleet.status").items if row.effort_id == painter.effort_id]
    assert member.current_phase == "1: Prime"
    assert hook_calls.hook(world, "status_line", session=painter.session.id).answer.notice == "[paint:P1]"


@pytest.mark.requirement("R348")
def test_a_phase_turns_on_the_heartbeat_gate_of_an_agent_that_ramet_runs(painter: Painter) -> None:
    world = painter.world
    hook_calls.hook(world, "session_start", session=painter.session.id)
    hook_calls.hook(world, "user_prompt", prompt="the cart", prompt_id="p1")
    painter.enter("1")
    hook_calls.use(world, times=12)
    assert not hook_calls.hook(world, "pre_tool_use", tool="Bash").answer.is_blocked
    painter.enter("2", proof={"coats": 1})
    assert not hook_calls.hook(world, "pre_tool_use", tool="Bash").answer.is_blocked
    hook_calls.use(world, times=10)
    assert hook_calls.hook(world, "pre_tool_use", tool="Bash").answer.is_blocked
    painter.enter("3")
    assert not hook_calls.hook(world, "pre_tool_use", tool="Bash").answer.is_blocked
