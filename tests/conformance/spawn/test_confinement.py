"""A child never has more than its parent, whoever asks for it and however."""

from typing import Any

import pytest
from tests.conformance import family, queue_worker
from tests.world import World

from ramet.config.settings import ProfileSettings
from ramet.errors import Forbidden

SANDBOXED = ProfileSettings(driver="claude", sandbox="workspace")
BOXED = ProfileSettings(driver="claude", wrapper=["box", "--"])
CAREFUL = ProfileSettings(driver="claude", permission_mode="plan")
BOLD = ProfileSettings(driver="claude", permission_mode="bypassPermissions")
SCRIPT = ProfileSettings(driver="command", program=["mine"])
PROFILES = {"sandboxed": SANDBOXED, "boxed": BOXED, "careful": CAREFUL, "bold": BOLD, "script": SCRIPT}

pytestmark = pytest.mark.requirement("R333")


def parent(world: World, profile: str, driver: str | None = None) -> Any:
    """A session whose agent runs under a profile."""
    known = PROFILES.get(profile, ProfileSettings()).driver
    return family.parent(world, driver=driver or known or profile, profile=profile)


def agent_spawns(world: World, above: Any, **params: Any) -> Any:
    """With its token, as the tool and the command line do."""
    return family.as_agent(world, above, "spawn.agent", goal="look into it", **params)


ASKERS = {"user": family.spawn, "agent": agent_spawns}


@pytest.mark.parametrize("asker", ASKERS)
@pytest.mark.parametrize("wanted", ["shell", "command", "script", "codex", "bold", "unheard-of"])
def test_a_driver_that_the_owner_does_not_list_is_refused(world: World, asker: str, wanted: str) -> None:
    family.bound(world, profiles=PROFILES)
    above = parent(world, "claude")
    before = world.dump()
    with pytest.raises(Forbidden) as refusal:
        ASKERS[asker](world, above, driver=wanted)
    assert (refusal.value.field, refusal.value.value) == ("driver", wanted)
    assert "spawn.drivers" in str(refusal.value.fix)
    assert world.dump() == before


@pytest.mark.parametrize("asker", ASKERS)
def test_a_skill_called_shell_is_no_way_to_a_shell(world: World, asker: str) -> None:
    family.bound(world, profiles=PROFILES)
    above = parent(world, "claude")
    project_id = world.call("db.task.find", query=above.session.task_id).items[0].project_id
    world.call("db.skills.upsert", name="shell", project_id=project_id, phases=[])
    with pytest.raises(Forbidden):
        ASKERS[asker](world, above, workflowId="shell")


def test_several_at_once_are_checked_one_by_one(world: World) -> None:
    family.bound(world, profiles=PROFILES)
    above = parent(world, "claude")
    orders = [{"goal": "id", "driver": "shell"}, {"goal": "look"}]
    refused, spawned = family.as_agent(world, above, "spawn.agents", agents=orders).results
    assert (refused.code, refused.child_session_id) == ("forbidden", None)
    assert family.effort(world, spawned).driver == "claude"


@pytest.mark.parametrize("profile", ["claude", "boxed", "careful", "codex"])
def test_a_child_has_the_profile_of_its_parent(world: World, profile: str) -> None:
    family.bound(world, profiles=PROFILES)
    above = parent(world, profile)
    for wanted in ({}, {"driver": profile}):
        assert family.effort(world, agent_spawns(world, above, **wanted)).driver == profile


def test_so_has_the_child_of_a_child(world: World) -> None:
    family.bound(world, profiles=PROFILES)
    child = agent_spawns(world, parent(world, "boxed"))
    begun = family.begin(world, child, driver="claude", profile="boxed")
    assert family.effort(world, agent_spawns(world, begun)).driver == "boxed"
    with pytest.raises(Forbidden):
        agent_spawns(world, begun, driver="claude")


@pytest.mark.parametrize(
    ("own", "wanted", "why"),
    [
        ("boxed", "claude", "wrapper"),
        ("boxed", "script", "wrapper"),
        ("boxed", "shell", "wrapper"),
        ("sandboxed", "claude", "sandbox"),
        ("sandboxed", "shell", "sandbox"),
        ("careful", "claude", "permission mode"),
        ("claude", "bold", "permission mode"),
        ("careful", "codex", "permission mode"),
    ],
)
def test_what_the_owner_lists_still_gives_a_child_no_more(world: World, own: str, wanted: str, why: str) -> None:
    family.bound(world, profiles=PROFILES, drivers=[wanted])
    with pytest.raises(Forbidden, match=why):
        agent_spawns(world, parent(world, own), driver=wanted)


@pytest.mark.parametrize(
    ("own", "wanted"),
    [("claude", "codex"), ("claude", "careful"), ("bold", "claude"), ("codex", "shell"), ("claude", "sandboxed")],
)
def test_what_the_owner_lists_can_be_had(world: World, own: str, wanted: str) -> None:
    family.bound(world, profiles=PROFILES, drivers=[wanted])
    assert family.effort(world, agent_spawns(world, parent(world, own), driver=wanted)).driver == wanted


def test_a_program_of_the_users_own_that_nothing_bounds_chooses_among_agents_only(world: World) -> None:
    family.bound(world, profiles=PROFILES)
    above = parent(world, "shell")
    assert family.effort(world, agent_spawns(world, above)).driver is None
    assert family.effort(world, agent_spawns(world, above, driver="codex")).driver == "codex"
    for wanted in ("shell", "script"):
        with pytest.raises(Forbidden):
            agent_spawns(world, above, driver=wanted)


def test_a_profile_that_the_daemon_does_not_know_is_never_left(world: World) -> None:
    family.bound(world, profiles=PROFILES, drivers=["codex"])
    above = parent(world, "of-its-project", driver="claude")
    assert family.effort(world, agent_spawns(world, above)).driver == "of-its-project"
    with pytest.raises(Forbidden):
        agent_spawns(world, above, driver="codex")


@pytest.mark.parametrize("driver", ["shell", "codex"])
def test_the_tools_of_a_session_that_a_person_started_are_bounded_as_well(world: World, driver: str) -> None:
    # Its MCP server speaks for its user, and names the session.
    task = world.task()
    effort = world.call("db.effort.start", task_id=task, skill="implement")
    session = world.call("db.session.start", task_id=task, effort_id=effort.id, driver="claude", native_id="two")
    with pytest.raises(Forbidden):
        world.call("spawn.agent", parent_session_id=session.id, goal="id", driver=driver)
    child = world.call("spawn.agent", parent_session_id=session.id, goal="look")
    assert family.effort(world, child).driver == "claude"


@pytest.mark.parametrize(
    ("parents", "asked", "given"),
    [
        (["Read", "Grep"], None, ["Read", "Grep"]),
        (["Read", "Grep"], ["Grep", "Bash"], ["Grep"]),
        ([], None, []),
        (None, ["Read"], ["Read"]),
        (None, None, None),
    ],
)
def test_tools_are_intersected(
    world: World, parents: list[str] | None, asked: list[str] | None, given: list[str] | None
) -> None:
    above = agent_spawns(world, parent(world, "claude"), **({} if parents is None else {"allowedTools": parents}))
    begun = family.begin(world, above, driver="claude")
    child = agent_spawns(world, begun, **({} if asked is None else {"allowedTools": asked}))
    assert family.effort(world, child).metadata["spawn"].get("allowed_tools") == given


def test_tools_that_a_parent_has_none_of_are_refused_by_name(world: World) -> None:
    above = agent_spawns(world, parent(world, "claude"), allowedTools=["Read"])
    with pytest.raises(Forbidden, match="Read") as refusal:
        agent_spawns(world, family.begin(world, above, driver="claude"), allowedTools=["Bash"])
    assert (refusal.value.field, refusal.value.value) == ("allowedTools", "Bash")


def test_what_is_written_in_context_changes_nothing(world: World) -> None:
    above = parent(world, "claude")
    child = agent_spawns(world, above, context={"driver": "shell", "allowed_tools": None, "spawn": {"driver": "shell"}})
    assert family.effort(world, child).driver == "claude"
    queue_worker.claim(world, "host/3", effort_id=child.effort_id)
