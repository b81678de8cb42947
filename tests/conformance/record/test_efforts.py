"""Efforts: skills applied to tasks, numbered without a gap."""

from typing import Any, get_args

import pytest
from tests.world import World

from ramet.errors import (
    EffortFinished,
    EffortNotFound,
    SessionEnded,
    StoreError,
    TaskNotFound,
    UnknownSkill,
    WrongTask,
)
from ramet.model.record.effort import Outcome

TASK = "/shop/tasks/cart"


@pytest.mark.requirement("R192", "R209", "R223")
def test_starting_an_effort_gives_its_row_and_the_prefix_of_its_files(world: World) -> None:
    world.task()
    metadata = {"scope": ["cart", "till"], "depth": 2, "nested": {"a": None}}
    effort = world.call("db.effort.start", task_id=TASK, skill="plan", mode="focused", metadata=metadata)
    assert (effort.task_id, effort.skill, effort.mode, effort.metadata) == (TASK, "plan", "focused", metadata)
    assert (effort.ordinal, effort.lifecycle, effort.outcome) == (1, "active", None)
    assert (effort.current_phase, effort.finished_at) == (None, None)
    assert effort.artifact_prefix == "1_PLAN"


@pytest.mark.requirement("R209")
def test_artifact_prefixes_are_the_ordinal_and_the_skill_in_upper_snake(world: World) -> None:
    """C10: `implement` writes IMPLEMENTATION files."""
    for name in ("brainstorm", "write-docs", "fix.it now"):
        world.skill(name, [])
    skills = ("brainstorm", "implement", "brainstorm", "write-docs", "fix.it now")
    prefixes = [world.effort(skill).artifact_prefix for skill in skills]
    assert prefixes == ["1_BRAINSTORM", "2_IMPLEMENTATION", "3_BRAINSTORM", "4_WRITE_DOCS", "5_FIX_IT_NOW"]


@pytest.mark.requirement("R207", "R208", "R227")
def test_a_task_takes_the_same_skill_twice_and_several_efforts_at_once(world: World) -> None:
    started = [world.effort(skill) for skill in ("plan", "implement", "plan")]
    other = world.effort("plan", "/shop/tasks/till")
    assert [effort.ordinal for effort in started] == [1, 2, 3]
    assert [effort.lifecycle for effort in started] == ["active"] * 3
    assert other.ordinal == 1
    assert world.call("db.effort.list", task_id=TASK).items == started


@pytest.mark.requirement("R218", "R194")
def test_the_same_skill_again_has_a_phase_history_of_its_own(world: World) -> None:
    first, between, second = world.effort("plan"), world.effort("implement"), world.effort("plan")
    for effort, label in ((first, "1"), (between, "1"), (first, "2"), (second, "1")):
        world.call("db.effort.phase", effort_id=effort.id, label=label)
    history = world.sql("SELECT effort_id, phase_label FROM phase_history ORDER BY effort_id, id")
    assert history == [
        (first.id, "1: Understand"),
        (first.id, "2: Draft"),
        (between.id, "1: Prepare"),
        (second.id, "1: Understand"),
    ]


@pytest.mark.requirement("R224", "R254")
def test_finishing_an_effort_twice_leaves_it_as_the_first_time(world: World) -> None:
    """C9: the second time is a success that says so."""
    effort = world.effort()
    finished = world.call("db.effort.finish", effort_id=effort.id, outcome="stuck")
    assert (finished.lifecycle, finished.outcome, finished.already) == ("finished", "stuck", False)
    before = world.dump()
    world.clock.advance(60)
    again = world.call("db.effort.finish", effort_id=effort.id, outcome="success", keywords="late")
    assert (again.finished_at, again.outcome, again.already) == (finished.finished_at, "stuck", True)
    assert world.dump() == before


@pytest.mark.requirement("R224")
@pytest.mark.parametrize("outcome", get_args(Outcome))
def test_an_effort_finishes_with_any_outcome_of_the_closed_set(world: World, outcome: str) -> None:
    assert world.call("db.effort.finish", effort_id=world.effort().id, outcome=outcome).outcome == outcome


@pytest.mark.requirement("R224")
def test_keywords_of_a_finished_effort_join_those_of_its_task(world: World) -> None:
    effort = world.effort()
    world.call("db.task.upsert", dir_path=TASK, keywords="cart, Money")
    world.call("db.effort.finish", effort_id=effort.id, keywords="money,tax , ,VAT")
    assert world.call("db.task.list").items[0].keywords == "cart, Money, tax, VAT"
    assert world.events()[-2:] == ["effort.finished", "task.changed"]


@pytest.mark.requirement("R223", "R253")
def test_an_unknown_skill_is_refused_and_the_known_ones_are_named(world: World) -> None:
    world.skill("paint", [])
    with pytest.raises(UnknownSkill) as refusal:
        world.effort("sing")
    assert (refusal.value.field, refusal.value.value) == ("skill", "sing")
    for known in ("paint", "implement", "shell"):
        assert known in refusal.value.fix


@pytest.mark.requirement("R223", "R253")
def test_an_effort_needs_a_task_that_is_there(world: World) -> None:
    for name, params in (("db.effort.start", {"skill": "do"}), ("db.effort.list", {})):
        with pytest.raises(TaskNotFound) as refusal:
            world.call(name, task_id="/shop/tasks/none", **params)
        assert (refusal.value.field, refusal.value.value) == ("task_id", "/shop/tasks/none")


@pytest.mark.requirement("R217", "R210")
def test_a_session_goes_on_with_the_next_effort_of_its_task(world: World) -> None:
    """C13: one context window, two efforts; its agent goes with it."""
    session = world.session("plan", agent_id="ada")
    world.call("db.effort.finish", effort_id=session.effort_id)
    effort = world.call("db.effort.start", task_id=TASK, skill="implement", session_id=session.id)
    (row,) = world.call("db.session.find", task_id=TASK).items
    assert (row.id, row.effort_id, row.ended_at) == (session.id, effort.id, None)
    assert (effort.ordinal, world.call("db.agents.get", id="ada").effort_id) == (2, effort.id)
    assert world.events()[-3:] == ["effort.started", "agent.assigned", "session.bound"]


@pytest.mark.requirement("R255", "R279")
@pytest.mark.parametrize(
    ("session_of", "error"), [("another task", WrongTask), ("the past", SessionEnded), ("nobody", Exception)]
)
def test_an_effort_whose_session_cannot_follow_is_not_started_at_all(
    world: World, session_of: str, error: type[Exception]
) -> None:
    world.task()
    ref: Any = 99
    if session_of != "nobody":
        ref = world.session("do", "/shop/tasks/till" if session_of == "another task" else TASK).id
    if session_of == "the past":
        world.call("db.session.finish", session_id=ref)
    before = world.dump()
    with pytest.raises(error):
        world.call("db.effort.start", task_id=TASK, skill="do", session_id=ref)
    assert world.dump() == before


@pytest.mark.requirement("R228")
def test_validating_an_effort_passes_or_fails_each_check(world: World) -> None:
    world.skill("paint", [{"label": "1: Look", "proof": ["seen"]}, "2: Do"])
    session = world.session("paint")
    unproved = world.call("db.effort.checks", effort_id=session.effort_id)
    assert {check.name: check.passed for check in unproved.checks} == {
        "finished": False,
        "phases": False,
        "proofs": True,
        "sessions": False,
    }
    world.call("db.effort.phase", effort_id=session.effort_id, label="1", proof={"seen": "all"})
    world.call("db.effort.phase", effort_id=session.effort_id, label="2")
    world.call("db.session.finish", session_id=session.id)
    world.call("db.effort.finish", effort_id=session.effort_id)
    assert world.call("db.effort.checks", effort_id=session.effort_id).passed


@pytest.mark.requirement("R228", "R215")
def test_validating_sees_a_proof_that_the_skill_asks_for_since(world: World) -> None:
    project_id = world.skill("paint", ["1: Look"])
    effort = world.effort("paint")
    world.call("db.effort.phase", effort_id=effort.id, label="1")
    world.call("db.effort.finish", effort_id=effort.id)
    phases = [{"label": "1: Look", "proof": {"seen": "string"}}]
    world.call("db.skills.upsert", name="paint", project_id=project_id, phases=phases)
    report = world.call("db.effort.checks", effort_id=effort.id)
    assert [check.detail for check in report.checks if not check.passed] == ["not proved: 1: Look: seen"]


@pytest.mark.requirement("R279", "R253")
@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("db.effort.finish", {}),
        ("db.effort.phase", {"label": "1"}),
        ("db.effort.checks", {}),
        ("db.effort.get", {}),
        ("db.session.start", {"task_id": TASK}),
    ],
)
def test_an_effort_that_is_not_there_is_named_in_the_refusal(world: World, name: str, params: Any) -> None:
    world.task()
    with pytest.raises(EffortNotFound) as refusal:
        world.call(name, effort_id=7, **params)
    assert (refusal.value.field, refusal.value.value) == ("effort_id", 7)


@pytest.mark.requirement("R224", "R253")
def test_nothing_goes_on_with_a_finished_effort(world: World) -> None:
    session = world.session()
    world.call("db.effort.finish", effort_id=session.effort_id, outcome="error")
    other = world.session("do")
    world.call("db.agents.register", id="ada")
    before = world.dump()
    for name, params in (
        ("db.effort.phase", {"label": "1"}),
        ("db.session.start", {"task_id": TASK}),
        ("db.session.bindEffort", {"session_id": other.id}),
        ("db.agents.assign", {"id": "ada"}),
    ):
        with pytest.raises(EffortFinished, match="error"):
            world.call(name, effort_id=session.effort_id, **params)
    assert world.dump() == before


@pytest.mark.requirement("R214")
def test_what_an_effort_discovered_is_the_efforts_and_not_the_sessions(world: World) -> None:
    session = world.session()
    found = '["/shop/.directives/A.md"]'
    world.sql("UPDATE efforts SET discovered_directives = :found, discovered_directories = :found", found=found)
    (effort,) = world.call("db.effort.list", task_id=TASK).items
    assert effort.discovered_directives == effort.discovered_directories == ["/shop/.directives/A.md"]
    assert not hasattr(session, "discovered_directives")


@pytest.mark.requirement("R227", "R192")
def test_one_effort_is_got_by_its_id_with_its_history(world: World) -> None:
    effort = world.effort("plan")
    world.effort("do")
    world.call("db.effort.phase", effort_id=effort.id, label="1", proof={"seen": 1})
    got = world.call("db.effort.get", effort_id=effort.id)
    assert (got.id, got.skill, got.current_phase, got.artifact_prefix) == (effort.id, "plan", "1: Understand", "1_PLAN")
    assert [(record.phase_label, record.proof) for record in got.phases] == [("1: Understand", {"seen": 1})]


@pytest.mark.requirement("R279")
def test_a_damaged_column_of_a_part_is_named_in_the_error(world: World) -> None:
    effort = world.effort("plan")
    world.sql("UPDATE efforts SET changes = '{broken'")
    with pytest.raises(StoreError, match="the changes of a stored effort is damaged") as refusal:
        world.call("db.effort.get", effort_id=effort.id)
    assert (refusal.value.field, refusal.value.value) == ("changes", "{broken")
