"""What is refused: a typed error that names the field, the value and the fix, and nothing has changed."""

from typing import Any

import pytest
from tests.world import World

from ramet import errors
from ramet.errors import RametError
from ramet.protocol.operations import OPERATIONS

TASK = "/shop/tasks/cart"
OTHER = "/shop/tasks/till"

Case = tuple[str, dict[str, Any], type[RametError], str | None, Any]

CASES: dict[str, Case] = {
    "an unknown operation": ("db.task.finish", {}, errors.UnknownMethod, "method", "db.task.finish"),
    "no operation": ("", {}, errors.UnknownMethod, "method", ""),
    "a wrong type": ("db.effort.finish", {"effort_id": "1"}, errors.InvalidParams, "effort_id", "1"),
    "a float for an id": ("db.effort.finish", {"effort_id": 1.5}, errors.InvalidParams, "effort_id", 1.5),
    "true for an id": ("db.effort.finish", {"effort_id": True}, errors.InvalidParams, "effort_id", True),
    "an id of zero": ("db.effort.finish", {"effort_id": 0}, errors.InvalidParams, "effort_id", 0),
    "an id beyond all": ("db.effort.finish", {"effort_id": 2**63}, errors.InvalidParams, "effort_id", None),
    "a missing field": ("db.effort.start", {"task_id": TASK}, errors.InvalidParams, "skill", None),
    "an unknown field": ("db.task.list", {"projct": 1}, errors.InvalidParams, "projct", 1),
    "an empty name": ("db.agents.register", {"id": ""}, errors.InvalidParams, "id", ""),
    "a list for an object": (
        "db.effort.start",
        {"task_id": TASK, "skill": "do", "metadata": [1]},
        errors.InvalidParams,
        "metadata",
        "[1]",
    ),
    "an unknown outcome": (
        "db.effort.finish",
        {"effort_id": 1, "outcome": "splendid"},
        errors.InvalidParams,
        "outcome",
        "splendid",
    ),
    "an unknown skill": ("db.effort.start", {"task_id": TASK, "skill": "sing"}, errors.UnknownSkill, "skill", "sing"),
    "a stolen effort": ("db.agents.assign", {"id": "bob", "effort_id": 1}, errors.EffortHeld, "effort_id", 1),
    "a skipped phase": (
        "db.effort.phase",
        {"effort_id": 1, "label": "3"},
        errors.PhaseNotSequential,
        "label",
        "3: Test",
    ),
    "an unknown phase": ("db.effort.phase", {"effort_id": 1, "label": "9"}, errors.UnknownPhase, "label", "9"),
    "a session of another task": (
        "db.effort.start",
        {"task_id": OTHER, "skill": "do", "session_id": 1},
        errors.WrongTask,
        "effort_id",
        None,
    ),
    "an effort of another task": (
        "db.session.start",
        {"task_id": OTHER, "effort_id": 1},
        errors.WrongTask,
        "effort_id",
        1,
    ),
    "a task that is not there": ("db.effort.list", {"task_id": "/shop/no"}, errors.TaskNotFound, "task_id", "/shop/no"),
    "a task by a relative path": ("db.effort.list", {"task_id": "no"}, errors.InvalidParams, "task_id", "no"),
    "an effort that is not there": ("db.effort.finish", {"effort_id": 99}, errors.EffortNotFound, "effort_id", 99),
    "a session that is not there": (
        "db.session.heartbeat",
        {"session_id": 99},
        errors.SessionNotFound,
        "session_id",
        99,
    ),
    "an agent that is not there": ("db.agents.get", {"id": "eve"}, errors.AgentNotFound, "id", "eve"),
    "a project that is not there": ("db.skills.list", {"project_id": 99}, errors.ProjectNotFound, "project_id", 99),
    "a backup over a file": ("db.backup", {"path": "relative.db"}, errors.InvalidParams, "path", "relative.db"),
}


@pytest.fixture
def busy(world: World) -> World:
    """Ada's session 1 serves effort 1 of the cart; bob is idle; the till is empty."""
    world.session(agent_id="ada")
    world.call("db.agents.register", id="bob")
    world.task(OTHER)
    return world


@pytest.mark.requirement("R253", "R279")
@pytest.mark.parametrize("what", CASES)
def test_bad_input_is_a_typed_error_that_names_field_value_and_fix_and_changes_nothing(busy: World, what: str) -> None:
    name, params, kind, field, value = CASES[what]
    before = busy.dump()
    with pytest.raises(kind) as refusal:
        busy.call(name, **params)
    assert type(refusal.value) is kind
    data = refusal.value.to_wire()["data"]
    assert (data["code"], data["field"]) == (kind.code, field)
    assert value is None or data["value"] == value
    assert data["fix"]
    assert refusal.value.message
    assert busy.dump() == before


@pytest.mark.requirement("R253")
@pytest.mark.parametrize("what", CASES)
def test_what_an_operation_refuses_is_in_its_row_of_the_table(what: str) -> None:
    name, _, kind, _, _ = CASES[what]
    if kind not in (errors.UnknownMethod, errors.InvalidParams):
        assert kind in OPERATIONS[name].errors


@pytest.mark.requirement("R253")
@pytest.mark.parametrize("name", [name for name, operation in OPERATIONS.items() if operation.host != "daemon"])
def test_every_operation_refuses_a_parameter_that_it_does_not_know(world: World, name: str) -> None:
    before = world.dump()
    with pytest.raises(errors.InvalidParams) as refusal:
        world.call(name, nonsense=1, sql="SELECT 1", path="/x", query="x", id="x", name="x")
    assert refusal.value.field is not None
    assert world.dump() == before


@pytest.mark.requirement("R279", "R254")
def test_a_task_without_efforts_answers_every_question(world: World) -> None:
    task = world.task()
    assert world.call("db.effort.list", task_id=task).items == []
    assert world.call("db.session.find", task_id=task).items == []
    assert world.call("db.task.list").items[0].effort_count == 0
    assert world.call("fleet.status").items == world.call("fleet.stale").items == []
    assert world.call("db.check").passed
    counts = world.call("db.counts")
    assert (counts.projects, counts.tasks, counts.efforts, counts.active_efforts) == (1, 1, 0, 0)


@pytest.mark.requirement("R206", "R268")
def test_the_counts_tell_what_there_is_and_what_is_going_on(busy: World) -> None:
    finished = busy.session("do", OTHER)
    busy.call("db.session.finish", session_id=finished.id)
    busy.call("db.effort.finish", effort_id=finished.effort_id)
    busy.call("db.messages.append", session_id=1, role="user", content="hi")
    counts = busy.call("db.counts")
    assert (counts.projects, counts.tasks, counts.efforts, counts.active_efforts) == (1, 2, 2, 1)
    assert (counts.sessions, counts.open_sessions, counts.messages, counts.agents) == (2, 1, 1, 2)
