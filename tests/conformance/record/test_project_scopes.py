"""Lists of one project: what an operation leaves out if it is asked for a project, and that each row says its own."""

from typing import Any

import pytest
from tests.conformance import queue_worker, run_steps
from tests.world import World

from ramet.errors import ProjectNotFound

pytestmark = pytest.mark.requirement("R413")


class Projects:
    """Two projects with the same things: an attempt that runs out of time, an effort that waits, a run."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.shop, self.bank = (self._fill(path) for path in ("/shop", "/bank"))

    def _fill(self, path: str) -> int:
        world, name = self.world, path[1:]
        project_id = int(world.call("db.project.upsert", path=path).id)
        late = world.call("work.add", prompt="mend it", skill="do", task=f"{path}/late")
        attempt = queue_worker.begin(
            world, queue_worker.claim(world, f"{name}/0", effort_id=late.id), instance=f"{name}keeper0"
        )
        queue_worker.complete(world, attempt, "timeout", failure="timeout", reason="it took too long")
        effort = world.call("work.add", prompt="build it", skill="do", task=f"{path}/build")
        claimed = queue_worker.claim(world, f"{name}/1", effort_id=effort.id)
        queue_worker.begin(world, claimed, instance=f"{name}keeper1")
        world.call("work.add", prompt="paint it", skill="do", task=f"{path}/paint")
        run_steps.record(world, "1", task=f"{path}/run")
        return project_id

    def list(self, name: str, **params: Any) -> list[int | None]:
        """The projects of the listed rows."""
        return [row.project_id for row in self.world.call(name, **params).items]


@pytest.fixture
def projects(world: World) -> Projects:
    return Projects(world)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("fleet.status", {}),
        ("fleet.notices", {}),
        ("fleet.notices", {"all": True}),
        ("work.list", {}),
        ("work.list", {"state": "queued"}),
        ("work.list", {"state": "active"}),
        ("work.list", {"state": "finished"}),
        ("run.list", {}),
        ("db.agents.list", {}),
        ("db.session.find", {}),
        ("db.session.find", {"open": True}),
        ("db.task.list", {}),
    ],
)
def test_a_list_of_a_project_has_its_own_rows_alone(projects: Projects, name: str, params: dict[str, Any]) -> None:
    everything = projects.list(name, **params)
    assert {projects.shop, projects.bank} <= set(everything) <= {projects.shop, projects.bank, None}
    own = [each for each in everything if each != projects.bank]
    assert projects.list(name, **params, project=projects.shop) == own


def test_a_list_of_a_task_or_a_run_in_another_project_is_empty(projects: Projects) -> None:
    (run,) = projects.world.call("run.list", project=projects.shop).items
    assert projects.list("work.list", run=run.id, project=projects.shop) == [projects.shop]
    assert projects.list("work.list", run=run.id, project=projects.bank) == []
    assert projects.list("work.list", task="/shop/paint", project=projects.bank) == []


def test_every_row_of_a_tree_and_a_budget_says_its_project(projects: Projects) -> None:
    (session,) = projects.world.call("db.session.find", open=True, project=projects.bank).items
    assert projects.list("spawn.tree", session_id=session.id) == [projects.bank]
    assert projects.world.call("budget.get", session_id=session.id).project_id == projects.bank


def test_an_effort_of_another_project_stays_in_the_queue(projects: Projects) -> None:
    world = projects.world
    assert world.call("work.next", project=projects.bank).task_id == "/bank/paint"
    assert queue_worker.claim(world, "host/9", project=projects.bank).task_id == "/bank/paint"
    assert world.call("work.next", project=projects.bank) is None
    assert queue_worker.claim(world, "host/10", project=projects.bank).refused == "missing"
    assert world.call("work.next", project=projects.shop).task_id == "/shop/paint"


def test_only_the_notices_of_a_project_are_dismissed(projects: Projects) -> None:
    dismissed = projects.world.call("fleet.dismiss", project=projects.shop).items
    assert [each.project_id for each in dismissed] == [projects.shop]
    assert projects.list("fleet.notices") == [projects.bank]


def test_only_the_old_runs_of_a_project_are_deleted(projects: Projects) -> None:
    world = projects.world
    for run in world.call("run.list").items:
        world.call("run.archive", run_id=run.id)
    world.clock.advance(3600 * 24)
    assert len(world.call("run.clean", days=0, project=projects.shop).run_ids) == 1
    assert projects.list("run.list", all=True) == [projects.bank]


@pytest.mark.parametrize(
    "name", ["fleet.status", "fleet.notices", "work.list", "run.list", "db.agents.list", "db.session.find"]
)
def test_an_unknown_project_is_an_error_and_not_an_empty_list(world: World, name: str) -> None:
    with pytest.raises(ProjectNotFound):
        world.call(name, project=99)
