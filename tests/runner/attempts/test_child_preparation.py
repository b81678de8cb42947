"""What the runner does for a child before it begins: its prompt, its place, and its tools."""

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.conformance import queue_worker
from tests.runner.desk import Desk

from ramet.config.settings import WorkSettings
from ramet.errors import InvalidParams, PathOutside, WorktreeError
from ramet.runner.spawn import child_setup
from ramet.runner.spawn.child_setup import Spawned
from ramet.vendors import registry

PLAN = "1. mend cart.py, 2. test it"


def parent(desk: Desk, **begun: Any) -> int:
    """A session at work that has said something."""
    claimed = queue_worker.claim(desk.world, effort_id=desk.add("plan").id)
    attempt = queue_worker.begin(desk.world, claimed, **begun)
    queue_worker.report(desk.world, attempt, queue_worker.text(PLAN))
    session_id: int = attempt.session.id
    return session_id


def spawn(desk: Desk, parent_session_id: int, **order: Any) -> Any:
    """The effort of a child."""
    order = {"goal": "build what is planned", "parent_session_id": parent_session_id, **order}
    return desk.world.call("work.get", effort_id=desk.world.call("spawn.agent", **order).effort_id)


@pytest.mark.parametrize("inherit", ["full_clone", "head_snapshot"])
@pytest.mark.requirement("R288")
def test_a_plan_in_the_parents_history_reaches_the_child_that_inherits_it(desk: Desk, inherit: str) -> None:
    child = spawn(desk, parent(desk), workflowId="implement", inherit=inherit)
    prompt = desk.prompt(child)
    assert prompt.prompt.count(PLAN) == 1
    assert prompt.prompt.count("build what is planned") == 1
    assert prompt.instruction == "build what is planned"


@pytest.mark.requirement("R104", "R288")
def test_the_plan_of_a_planning_child_reaches_the_implementing_one_through_compile_and_through_no_file(
    desk: Desk,
) -> None:
    """Its report is collapsed into the parent's history; a rewrite there is what the next child is told."""
    above = parent(desk, prompt="Open the shop.")
    planned = spawn(desk, above, workflowId="plan", goal="plan the till")
    attempt = queue_worker.claim(desk.world, "host/2", effort_id=planned.id)
    queue_worker.begin(desk.world, attempt, instance=queue_worker.OTHER_KEEPER)
    queue_worker.complete(desk.world, attempt, output_content="THE TILL COUNTS TWICE")
    branch = desk.world.call("db.session.get", session_id=above).branch
    collapsed = desk.world.call("history.log", branch=branch, limit=1).items[0]
    first = spawn(desk, above, workflowId="implement", inherit="full_clone")
    assert desk.prompt(first).prompt.count("THE TILL COUNTS TWICE") == 1
    desk.world.call("history.edit", branch=branch, target=collapsed.hash, text="THE TILL COUNTS THRICE")
    second = spawn(desk, above, workflowId="implement", inherit="full_clone")
    shutil.rmtree(desk.project)
    told = desk.prompt(second).prompt
    assert ("THE TILL COUNTS THRICE" in told, "THE TILL COUNTS TWICE" in told) == (True, False)


def test_a_child_that_inherits_nothing_is_told_nothing_of_what_came_before(desk: Desk) -> None:
    prompt = desk.prompt(spawn(desk, parent(desk), context={"where": "cart.py"}))
    assert PLAN not in prompt.prompt
    assert '"where": "cart.py"' in prompt.context


def test_a_later_attempt_inherits_the_same(desk: Desk) -> None:
    child = spawn(desk, parent(desk), inherit="full_clone")
    first = desk.prompt(child)
    claimed = queue_worker.claim(desk.world, "host/2", effort_id=child.id)
    attempt = queue_worker.begin(desk.world, claimed, instance=queue_worker.OTHER_KEEPER, prompt=first.prompt)
    queue_worker.report(desk.world, attempt, queue_worker.text("half of it"), instance=queue_worker.OTHER_KEEPER)
    assert desk.prompt(child) == first


def test_a_child_works_where_its_parent_does(desk: Desk) -> None:
    worktree = desk.machine.places.worktrees / "shop" / "e1"
    (worktree / "src").mkdir(parents=True)
    session = parent(desk, worktree=str(worktree), git_branch="ramet/e1", git_base="0" * 40)
    for order, expected in (({}, worktree), ({"workspacePath": "src"}, worktree / "src")):
        child = spawn(desk, session, **order)
        assert child_setup.find_workspace(desk.machine, child, str(desk.project)) == str(expected)


def test_a_workspace_behind_a_symbolic_link_is_refused(desk: Desk, tmp_path: Path) -> None:
    (desk.project / "way").symlink_to(tmp_path)
    (tmp_path / "out").mkdir()
    child = spawn(desk, parent(desk), workspacePath="way/out")
    with pytest.raises(PathOutside, match="symbolic link"):
        child_setup.find_workspace(desk.machine, child, str(desk.project))


def test_a_workspace_that_is_gone_says_so(desk: Desk) -> None:
    child = spawn(desk, parent(desk), workspacePath="vanished")
    with pytest.raises(WorktreeError, match="no longer exists"):
        child_setup.find_workspace(desk.machine, child, str(desk.project))


def test_a_workspace_outside_of_everything_is_refused_here_too(desk: Desk, tmp_path: Path) -> None:
    child = replace(spawn(desk, parent(desk)), workspace=str(tmp_path))
    with pytest.raises(PathOutside):
        child_setup.find_workspace(desk.machine, child, str(desk.project))


@pytest.mark.requirement("R142")
def test_tools_are_confined_or_refused_and_never_ignored(desk: Desk) -> None:
    spawned = child_setup.read(spawn(desk, parent(desk), allowedTools=["Read"]))
    assert spawned.allowed_tools == ["Read"]
    child_setup.require_confinement(registry.find_driver("claude"), spawned)
    for name in ("codex", "shell", "command"):
        with pytest.raises(InvalidParams, match="cannot be restricted"):
            child_setup.require_confinement(registry.find_driver(name), spawned)
        child_setup.require_confinement(registry.find_driver(name), Spawned())


@pytest.mark.requirement("R107")
def test_programs_that_take_tools_are_given_ours_unless_they_are_off() -> None:
    given = child_setup.tool_server(registry.find_driver("claude"), WorkSettings(), 600)
    assert given is not None
    assert [given.command, *given.arguments] == [sys.executable, "-P", "-m", "ramet.mcp"]
    assert (given.seconds, "RAMET_TOKEN" in given.variables) == (600, True)
    assert child_setup.tool_server(registry.find_driver("shell"), WorkSettings(), None) is None
    assert child_setup.tool_server(registry.find_driver("codex"), WorkSettings(tools=False), None) is None
