"""Skills: the recipes of a project, with built-in ones always there."""

from typing import Any

import pytest
from tests.world import World

from ramet.errors import ProjectNotFound, SkillNotFound
from ramet.model.record.skill import BUILT_IN


@pytest.mark.requirement("R190", "R235")
def test_a_skill_is_registered_and_got_back_with_all_its_parts(world: World) -> None:
    world.task()
    parts: dict[str, Any] = {
        "phases": ["1: Look", {"label": "2: Draw", "proof": ["seen"]}],
        "modes": {"quick": {"steps": [1, None]}},
        "templates": {"plan": "a.md"},
        "cmd_dependencies": ["CMD_A.md"],
        "next_skills": ["review"],
        "directives": ["TESTING"],
    }
    saved = world.call("db.skills.upsert", name="paint", project_id=1, **parts)
    assert {name: getattr(saved, name) for name in parts} == parts
    assert world.call("db.skills.get", name="paint", project_id=1) == saved


@pytest.mark.requirement("R235", "R254")
def test_registering_a_skill_again_replaces_only_what_is_given(world: World) -> None:
    world.task()
    first = world.call("db.skills.upsert", name="paint", project_id=1, phases=["1: Look"], next_skills=["do"])
    world.clock.advance(60)
    second = world.call("db.skills.upsert", name="paint", project_id=1, next_skills=[])
    assert (second.id, second.phases, second.next_skills) == (first.id, ["1: Look"], [])
    assert second.updated_at > first.updated_at
    assert world.sql("SELECT count(*) FROM skills") == [(1,)]


@pytest.mark.requirement("R190", "R235")
def test_each_project_has_skills_of_its_own(world: World) -> None:
    shop = world.skill("paint", ["1: Look"], "/shop/tasks/cart")
    mill = world.skill("paint", ["1: Grind"], "/mill/tasks/wheel")
    assert world.call("db.skills.get", name="paint", project_id=shop).phases == ["1: Look"]
    assert world.call("db.skills.get", name="paint", project_id=mill).phases == ["1: Grind"]


@pytest.mark.requirement("R235")
def test_the_built_in_skills_are_in_every_project_and_can_be_replaced(world: World) -> None:
    project_id = world.skill("plan", ["1: Dream"])
    listed = world.call("db.skills.list", project_id=project_id).items
    assert [skill.name for skill in listed] == sorted(BUILT_IN)
    assert world.call("db.skills.get", name="plan", project_id=project_id).phases == ["1: Dream"]
    assert world.call("db.skills.delete", name="plan", project_id=project_id).deleted
    assert world.call("db.skills.get", name="plan", project_id=project_id).phases == list(BUILT_IN["plan"].phases)


@pytest.mark.requirement("R235", "R254")
def test_deleting_a_skill_twice_says_that_there_was_nothing(world: World) -> None:
    project_id = world.skill("paint", [])
    assert world.call("db.skills.delete", name="paint", project_id=project_id).deleted
    before = world.dump()
    assert not world.call("db.skills.delete", name="paint", project_id=project_id).deleted
    assert world.dump() == before


@pytest.mark.requirement("R235", "R253")
def test_a_skill_that_is_not_there_is_refused_and_the_others_are_named(world: World) -> None:
    project_id = world.skill("paint", [])
    with pytest.raises(SkillNotFound) as refusal:
        world.call("db.skills.get", name="sing", project_id=project_id)
    assert (refusal.value.field, refusal.value.value) == ("name", "sing")
    assert "paint" in refusal.value.fix


@pytest.mark.requirement("R235", "R253")
@pytest.mark.parametrize("name", ["upsert", "get", "list", "delete", "find"])
def test_skills_of_a_project_that_is_not_there_are_refused(world: World, name: str) -> None:
    params = {"list": {}, "find": {"query": "x"}}.get(name, {"name": "paint"})
    with pytest.raises(ProjectNotFound) as refusal:
        world.call(f"db.skills.{name}", project_id=99, **params)
    assert (refusal.value.field, refusal.value.value) == ("project_id", 99)


@pytest.mark.requirement("R235")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("paint", ["Repaint", "paint"]),
        ("PAINT", ["Repaint", "paint"]),
        ("varnish", ["Repaint"]),
        ("n_", []),
        ("%", []),
        ("Über", ["paint"]),
    ],
)
def test_skills_are_found_by_name_or_content(world: World, query: str, found: list[str]) -> None:
    shop = world.skill("paint", ["1: Look", "2: Über"], "/shop/tasks/cart")
    world.skill("Repaint", ["1: Varnish"], "/mill/tasks/wheel")
    assert [skill.name for skill in world.call("db.skills.find", query=query).items] == found
    here = [skill.name for skill in world.call("db.skills.find", query=query, project_id=shop).items]
    assert here == [name for name in found if name == "paint"]
