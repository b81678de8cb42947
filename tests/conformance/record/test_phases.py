"""Phases: entered in order, with proofs; skipping and going back need a reason."""

from typing import Any

import pytest
from tests.world import World

from ramet.errors import InvalidParams, InvalidProof, PhaseNotSequential, StoreError, UnknownPhase

PHASES = ["1: Look", "2: Draw", "2.1: Sketch", "3: Paint"]


def enter(world: World, effort_id: int, *labels: str, **params: Any) -> Any:
    """Enter phases one after the other; the last reply."""
    replies = [world.call("db.effort.phase", effort_id=effort_id, label=label, **params) for label in labels]
    return replies[-1]


def history(world: World, effort_id: int) -> list[str]:
    rows = world.sql("SELECT phase_label FROM phase_history WHERE effort_id = :id ORDER BY id", id=effort_id)
    return [row[0] for row in rows]


@pytest.mark.requirement("R225", "R194")
def test_phases_are_entered_in_their_order(world: World) -> None:
    world.skill("paint", PHASES)
    effort = world.effort("paint")
    for label in PHASES:
        entered = enter(world, effort.id, label)
        assert (entered.current_phase, entered.recorded.phase_label, entered.already) == (label, label, False)
    assert history(world, effort.id) == PHASES


@pytest.mark.requirement("R225")
def test_a_number_alone_names_its_phase(world: World) -> None:
    world.skill("paint", PHASES)
    assert enter(world, world.effort("paint").id, "1", "2", "2.1", "3").current_phase == "3: Paint"


@pytest.mark.requirement("R225", "R254")
def test_the_same_phase_again_changes_nothing(world: World) -> None:
    world.skill("paint", PHASES)
    effort = world.effort("paint")
    enter(world, effort.id, "1: Look")
    before = world.dump()
    again = enter(world, effort.id, "1")
    assert (again.current_phase, again.recorded, again.already) == ("1: Look", None, True)
    assert world.dump() == before


@pytest.mark.requirement("R225", "R226")
@pytest.mark.parametrize(
    ("entered", "label"),
    [([], "2: Draw"), ([], "2.1: Sketch"), (["1"], "3: Paint"), (["1"], "2.1"), (["1", "2"], "1: Look")],
)
def test_skipping_or_going_back_without_a_reason_is_refused(world: World, entered: list[str], label: str) -> None:
    world.skill("paint", PHASES)
    effort = world.effort("paint")
    for past in entered:
        enter(world, effort.id, past)
    before = world.dump()
    for reason in (None, "", "  "):
        with pytest.raises(PhaseNotSequential) as refusal:
            enter(world, effort.id, label, reason=reason)
        assert refusal.value.field == "label"
        assert PHASES[len(entered)] in refusal.value.fix
    assert world.dump() == before


@pytest.mark.requirement("R226")
@pytest.mark.parametrize(("label", "phase"), [("3", "3: Paint"), ("1: Look", "1: Look")])
def test_with_a_reason_a_phase_is_skipped_or_gone_back_to_and_the_reason_is_recorded(
    world: World, label: str, phase: str
) -> None:
    world.skill("paint", PHASES)
    effort = world.effort("paint")
    enter(world, effort.id, "1", "2")
    moved = enter(world, effort.id, label, reason="the light is going")
    assert (moved.current_phase, moved.recorded.reason) == (phase, "the light is going")
    stored = world.sql("SELECT phase_label, reason FROM phase_history ORDER BY id DESC LIMIT 1")
    assert stored == [(phase, "the light is going")]


@pytest.mark.requirement("R225")
@pytest.mark.parametrize("label", ["2.2: Shade", "2.A: Shade", "2.5"])
def test_a_later_sub_phase_of_the_current_phase_needs_no_declaration(world: World, label: str) -> None:
    world.skill("paint", ["1: Look", "2: Draw", "3: Paint"])
    effort = world.effort("paint")
    enter(world, effort.id, "1", "2", label)
    assert enter(world, effort.id, "3").current_phase == "3: Paint"
    assert history(world, effort.id) == ["1: Look", "2: Draw", label, "3: Paint"]


@pytest.mark.requirement("R225", "R226")
def test_letters_number_sub_phases_too(world: World) -> None:
    world.skill("paint", ["1: Look", "2: Draw", "2.A: Sketch", "2.B: Shade", "3: Paint"])
    effort = world.effort("paint")
    enter(world, effort.id, "1", "2")
    with pytest.raises(PhaseNotSequential, match=r"2\.B"):
        enter(world, effort.id, "2.B: Shade")
    assert enter(world, effort.id, "2.a", "2.B").current_phase == "2.B: Shade"


@pytest.mark.requirement("R225", "R226")
def test_an_undeclared_sub_phase_can_be_gone_back_to_with_a_reason(world: World) -> None:
    world.skill("paint", ["1: Look", "2: Draw"])
    effort = world.effort("paint")
    enter(world, effort.id, "1", "1.1: Squint", "2")
    with pytest.raises(PhaseNotSequential):
        enter(world, effort.id, "1.1: Squint")
    assert enter(world, effort.id, "1.1: Squint", reason="missed it").current_phase == "1.1: Squint"


@pytest.mark.requirement("R225", "R226")
def test_an_earlier_sub_phase_that_was_never_entered_is_unknown_whatever_the_reason(world: World) -> None:
    world.skill("paint", ["1: Look", "2: Draw"])
    effort = world.effort("paint")
    enter(world, effort.id, "1", "1.3: Blink")
    with pytest.raises(UnknownPhase):
        enter(world, effort.id, "1.1: Squint", reason="because")
    assert history(world, effort.id) == ["1: Look", "1.3: Blink"]


@pytest.mark.requirement("R225", "R253")
@pytest.mark.parametrize("label", ["9: Sing", "3.1: Frame", "Draw", "1: Other", "two", "1.1.1: Deep", "-1"])
def test_a_phase_that_the_skill_does_not_have_is_refused_and_its_phases_are_named(world: World, label: str) -> None:
    world.skill("paint", PHASES)
    effort = world.effort("paint")
    enter(world, effort.id, "1")
    before = world.dump()
    with pytest.raises(UnknownPhase) as refusal:
        enter(world, effort.id, label, reason="because")
    assert (refusal.value.field, refusal.value.value) == ("label", label)
    assert all(phase in refusal.value.fix for phase in PHASES)
    assert world.dump() == before


@pytest.mark.requirement("R225")
def test_a_skill_without_phases_takes_any(world: World) -> None:
    effort = world.effort("do")
    assert enter(world, effort.id, "anything", "3: At all", "anything").current_phase == "anything"
    assert history(world, effort.id) == ["anything", "3: At all", "anything"]


@pytest.mark.requirement("R225")
def test_phases_may_be_plain_names_in_their_order(world: World) -> None:
    world.skill("paint", ["Look", {"label": "Draw"}, "Paint"])
    effort = world.effort("paint")
    enter(world, effort.id, "Look")
    with pytest.raises(PhaseNotSequential, match="Draw"):
        enter(world, effort.id, "Paint")
    assert enter(world, effort.id, "Draw", "3").current_phase == "Paint"


@pytest.mark.requirement("R215", "R225")
def test_a_skill_that_changed_since_the_effort_began_counts_as_it_is_now(world: World) -> None:
    project_id = world.skill("paint", ["1: Look", "2: Draw"])
    effort = world.effort("paint")
    enter(world, effort.id, "1")
    world.call("db.skills.upsert", name="paint", project_id=project_id, phases=["1: Look", "2: Varnish"])
    with pytest.raises(UnknownPhase):
        enter(world, effort.id, "2: Draw")
    assert enter(world, effort.id, "2").current_phase == "2: Varnish"


@pytest.mark.requirement("R215", "R279")
def test_an_effort_whose_skill_has_vanished_goes_on_without_rules(world: World) -> None:
    project_id = world.skill("paint", PHASES)
    effort = world.effort("paint")
    world.call("db.skills.delete", name="paint", project_id=project_id)
    assert enter(world, effort.id, "7: Whatever").current_phase == "7: Whatever"
    assert not world.call("db.effort.checks", effort_id=effort.id).passed


@pytest.mark.requirement("R225")
@pytest.mark.parametrize(
    ("wanted", "proof"),
    [
        (["seen"], {"seen": None}),
        (["a", "b"], {"a": [1], "b": {"c": 2}, "more": True}),
        ({"n": "number", "s": "string"}, {"n": 1.5, "s": ""}),
        ({"b": "boolean", "l": "array", "o": "object", "x": "any"}, {"b": False, "l": [], "o": {}, "x": None}),
        ([], None),
    ],
)
def test_a_proof_with_everything_that_the_phase_wants_is_stored(world: World, wanted: Any, proof: Any) -> None:
    world.skill("paint", [{"label": "1: Look", "proof": wanted}])
    entered = enter(world, world.effort("paint").id, "1", proof=proof)
    assert entered.recorded.proof == proof


@pytest.mark.requirement("R225", "R253")
@pytest.mark.parametrize(
    ("wanted", "proof", "field"),
    [
        (["seen"], None, "proof.seen"),
        (["a", "b"], {"a": 1}, "proof.b"),
        ({"n": "number"}, {"n": "1"}, "proof.n"),
        ({"n": "number"}, {"n": True}, "proof.n"),
        ({"s": "string"}, {"s": None}, "proof.s"),
        ({"b": "boolean"}, {"b": 1}, "proof.b"),
        ({"l": "array"}, {"l": {}}, "proof.l"),
        ({"o": "object"}, {"o": []}, "proof.o"),
    ],
)
def test_a_proof_that_lacks_something_is_refused_and_the_field_is_named(
    world: World, wanted: Any, proof: Any, field: str
) -> None:
    world.skill("paint", [{"label": "1: Look", "proof": wanted}])
    effort = world.effort("paint")
    before = world.dump()
    with pytest.raises(InvalidProof) as refusal:
        enter(world, effort.id, "1", proof=proof)
    assert refusal.value.field == field
    assert world.dump() == before


@pytest.mark.requirement("R225")
def test_entering_a_phase_starts_the_heartbeats_of_its_open_sessions_anew(world: World) -> None:
    session = world.session()
    other = world.session("plan")
    for target in (session, session, other):
        world.call("db.session.heartbeat", session_id=target.id)
    world.clock.advance(60)
    enter(world, session.effort_id, "1")
    counters = {row.id: row.heartbeat_counter for row in world.call("db.session.find").items}
    assert counters == {session.id: 0, other.id: 1}


@pytest.mark.requirement("R190", "R235", "R253")
@pytest.mark.parametrize(
    ("phases", "field"),
    [
        (["2: Draw", "1: Look"], "phases[1]"),
        (["1: Look", "1: Draw"], "phases[1]"),
        (["1: Look", ""], "phases[1]"),
        ([{"name": "Look"}], "phases[0]"),
        ([7], "phases[0]"),
        ([{"label": "1: Look", "proof": {"n": "integer"}}], "phases[0].proof"),
        ([{"label": "1: Look", "proof": "seen"}], "phases[0].proof"),
        ([{"label": "1: Look", "proof": [1]}], "phases[0].proof"),
        ([{"label": "1: Look", "proof": [["nested"]]}], "phases[0].proof"),
        ([{"label": "1: Look", "proof": {"n": ["string"]}}], "phases[0].proof"),
    ],
)
def test_phases_that_cannot_be_used_are_refused_when_the_skill_is_registered(
    world: World, phases: list[Any], field: str
) -> None:
    world.task()
    with pytest.raises(InvalidParams) as refusal:
        world.call("db.skills.upsert", name="paint", project_id=1, phases=phases)
    assert refusal.value.field == field
    assert world.sql("SELECT count(*) FROM skills") == [(0,)]


@pytest.mark.requirement("R279")
def test_a_skill_whose_stored_phases_are_damaged_is_an_error_and_not_a_crash(world: World) -> None:
    world.skill("paint", PHASES)
    effort = world.effort("paint")
    world.sql("UPDATE skills SET phases = '[7]'")
    with pytest.raises(InvalidParams):
        enter(world, effort.id, "1")
    world.sql("UPDATE skills SET phases = '{broken'")
    with pytest.raises(StoreError, match="phases") as refusal:
        enter(world, effort.id, "1")
    assert (refusal.value.field, refusal.value.value) == ("phases", "{broken")
