"""What an agent reaches with its token: every operation that agents have, with every subject that is not its own.

The operations and their fields come from the protocol, so a new one is tried as soon as it exists; a field that may
name a subject has to be listed here, and so has one that does not.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from tests.conformance import family, queue_worker, run_steps
from tests.conformance.run_steps import line
from tests.protocol.least_params import least_params
from tests.world import World

from ramet.errors import Forbidden, RametError
from ramet.model.principal import of_session
from ramet.protocol.operations import OPERATIONS

ENGINES = sorted(name for name, row in OPERATIONS.items() if row.ring != "user" and row.host == "engine")
CHAIN = sorted(name for name in ENGINES if OPERATIONS[name].ring == "chain")

SUBJECTS = {
    "session": ("session_id", "parent_session_id", "session"),
    "sessions": ("session_ids",),
    "effort": ("effort_id",),
    "branch": ("branch",),
    "commit": ("hash", "since"),
    "run": ("run_id",),
    "task": ("task_id",),
    "agent": ("agent_id", "agent"),
    "event": ("event",),
    "path": ("workspacePath",),
    "transcript": ("path",),
    "project": ("project", "project_id", "near"),
}
"""The fields that may name somebody else's."""
NEUTRAL = {
    *(
        "idempotency_key",
        "open",
        "archived",
        "cursor",
        "limit",
        "all",
        "uncommitted",
        "summary",
        "decisions",
        "failed_approaches",
    ),
    *("next_steps", "required_files", "max_tokens", "format", "window", "text", "tool", "args", "tool_use_id", "facts"),
    *("result", "reason", "subagent_id", "subagent_type", "prompt", "prompt_id", "pid", "goal", "workflowId"),
    *("context", "inherit", "filter", "driver", "model", "limits", "allowedTools", "wait", "timeout_seconds"),
    *("query", "mode", "is_hint", "max_bytes"),
    *("agents", "children", "is_expected", "report", "below", "host", "prefix", "label", "proof", "only_registered"),
    *("query", "kind", "role", "source_type", "all_projects"),
}
"""The fields that say something about the subject, or about the asker."""

NARROWING = [("db.session.find", field) for field in ("task_id", "effort_id", "agent_id")]
NARROWING += [("ingest.list", "path")]
NARROWING += [("memory.search", field) for field in ("agent", "path", "since", "session")]
NARROWING += [("hooks.record", field) for field in ("session", "agent")]
"""Where a stranger's name narrows a list of the agent's own, or is not looked at for an agent."""
MARKS = ("NEIGHBOUR", "FOREIGNER", "RUNNING")
"""What strangers have said."""

pytestmark = pytest.mark.requirement("R335")


def fields(name: str) -> list[str]:
    return [field.encode_name for field in msgspec.structs.fields(OPERATIONS[name].request)]


def subject_fields(name: str) -> Iterator[tuple[str, str]]:
    """The fields of an operation that may name a subject, and its kind."""
    kinds = {field: kind for kind, names in SUBJECTS.items() for field in names}
    return ((field, kinds[field]) for field in fields(name) if field in kinds)


NAMING = ("session_id", "parent_session_id", "session_ids")
CASES = [(name, field, kind) for name in ENGINES for field, kind in subject_fields(name)]


@pytest.mark.parametrize("name", ENGINES)
def test_each_field_of_an_agent_s_operation_is_known_to_name_a_subject_or_not(name: str) -> None:
    listed = {field for names in SUBJECTS.values() for field in names}
    assert set(fields(name)) <= listed | NEUTRAL


class Stranger:
    """Somebody at work, all of whose words have a mark."""

    def __init__(self, world: World, project: str, worker: str, mark: str) -> None:
        self.mark = mark
        task = f"{project}/tasks/{worker.replace('/', '-')}"
        project_id = world.call("db.project.upsert", path=project).id
        effort = world.call("work.add", prompt=f"build {mark}", skill="do", task=task)
        claimed = queue_worker.claim(world, worker, effort_id=effort.id)
        attempt = queue_worker.begin(
            world,
            claimed,
            driver="claude",
            native_id=f"native-{mark}",
            prompt=f"go {mark}",
            instance=f"keeper{mark.lower()}",
        )
        queue_worker.report(world, attempt, queue_worker.text(f"said {mark}"), instance=f"keeper{mark.lower()}")
        session = attempt.session
        path = f"/transcripts/{mark}.jsonl"
        world.call("ingest.add", session_id=session.id, path=path, offset=0, entries=[])
        commit = world.call("history.log", branch=session.branch).items[0].hash
        event = {"vendor": "claude", "moment": "stop", "name": "Stop", "native_id": session.native_id}
        self.session, self.effort_id = session.id, effort.id
        self.subjects: dict[str, list[Any]] = {
            "session": [session.id, f"claude:{session.native_id}"],
            "sessions": [[session.id]],
            "effort": [effort.id],
            "branch": [session.branch],
            "commit": [commit, commit[:12]],
            "run": [],
            "task": [task],
            "agent": [worker],
            "event": [event],
            "transcript": [path],
            "path": [task] if project == "/bank" else ["/shop-else", "/etc"],
            "project": [project_id] if project == "/bank" else [],
        }


class Fleet:
    """An agent with a child and a chain, and strangers: of its project and of another, one of them with a run."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.neighbour = Stranger(world, "/shop", "host/7", "NEIGHBOUR")
        self.foreigner = Stranger(world, "/bank", "host/8", "FOREIGNER")
        plan = queue_worker.add(world, "plan PLANNED", task="/shop/tasks/mine")
        self.plan = queue_worker.begin(world, queue_worker.claim(world, "host/2", effort_id=plan.id), driver="claude")
        queue_worker.complete(world, self.plan)
        effort = world.call("work.add", prompt="build OWN", skill="do", based_on=plan.id)
        claimed = queue_worker.claim(world, "host/3", effort_id=effort.id)
        self.own = queue_worker.begin(world, claimed, driver="claude", instance="keeper03")
        self.child = self.ask("spawn.agent", goal="look into it")
        run = run_steps.record(world, line("1", text="do RUNNING"), task="/shop/tasks/run")
        self.neighbour.subjects["run"].append(run.id)
        self.strangers = (self.neighbour, self.foreigner)

    def ask(self, name: str, /, **params: Any) -> Any:
        """What the agent asks with its token."""
        return self.world.call_as(of_session(self.own.session.id), name, **params)

    def try_to(self, name: str, params: dict[str, Any]) -> Any:
        """The reply, or the refusal."""
        try:
            return self.ask(name, **params)
        except RametError as error:
            self.world.db.rollback()
            return error


@pytest.fixture
def fleet(world: World) -> Fleet:
    return Fleet(world)


@pytest.mark.parametrize(("name", "field", "kind"), CASES)
def test_what_is_not_its_own_is_refused_or_left_out(fleet: Fleet, name: str, field: str, kind: str) -> None:
    before = fleet.world.dump()
    for stranger in fleet.strangers:
        for subject in stranger.subjects[kind]:
            params = least_params(OPERATIONS[name], **_others(name, field, fleet), **{field: subject})
            reply = fleet.try_to(name, params)
            said = str(reply) if isinstance(reply, RametError) else msgspec.json.encode(reply).decode()
            assert not [mark for mark in MARKS if mark in said], (name, params)
            is_refused = isinstance(reply, RametError) and reply.code in ("forbidden", "path_outside")
            assert is_refused or (name, field) in NARROWING, f"{name} accepted {field}={subject!r}: {said}"
    assert fleet.world.dump() == before


def _others(name: str, field: str, fleet: Fleet) -> dict[str, Any]:
    """What an operation needs besides, of the agent's own."""
    return {"branch": fleet.own.session.branch} if field == "since" and "branch" in fields(name) else {}


@pytest.mark.requirement("R413")
def test_an_operation_that_names_nobody_says_nothing_of_others(fleet: Fleet) -> None:
    for name in ENGINES:
        reply = fleet.try_to(name, least_params(OPERATIONS[name]))
        said = str(reply) if isinstance(reply, RametError) else msgspec.json.encode(reply).decode()
        assert not [mark for mark in MARKS if mark in said], name


@pytest.mark.parametrize("name", CHAIN)
def test_what_its_effort_is_based_on_can_be_read(fleet: Fleet, name: str) -> None:
    plan = fleet.plan
    commit = fleet.world.call("history.log", branch=plan.session.branch).items[0].hash
    known = {"session_id": plan.session.id, "effort_id": plan.effort.id, "branch": plan.session.branch}
    named = {"hash": commit} if name == "history.show" else {key: known[key] for key in known if key in fields(name)}
    assert fleet.ask(name, **named) is not None


@pytest.mark.parametrize("name", [name for name, field, _ in CASES if field in NAMING and name not in CHAIN])
def test_what_its_effort_is_based_on_cannot_be_changed_or_spawned_from(fleet: Fleet, name: str) -> None:
    plan = fleet.plan
    ids = {"session_id": plan.session.id, "parent_session_id": plan.session.id, "session_ids": [plan.session.id]}
    named = {field: ids[field] for field in NAMING if field in fields(name)}
    with pytest.raises(Forbidden):
        fleet.ask(name, **least_params(OPERATIONS[name], **named))


def test_a_line_reads_the_other_lines_of_its_run_and_no_other_run(world: World) -> None:
    run = run_steps.start(world, line("1"), line("2"), mode="parallel")
    first, second = (queue_worker.begin(world, run_steps.claim(world, run, worker)) for worker in ("host/1", "host/2"))
    other = run_steps.start(world, line("1", text="do RUNNING"), task="/shop/tasks/other")
    foreign = world.call("work.list", run=other.id).items[0]
    assert family.as_agent(world, first, "work.get", effort_id=second.effort.id).id == second.effort.id
    for name in ("work.get", "work.chain", "db.effort.get"):
        with pytest.raises(Forbidden):
            family.as_agent(world, first, name, effort_id=foreign.id)
    with pytest.raises(Forbidden):
        family.as_agent(world, first, "spawn.tree", run_id=other.id)


def test_what_an_effort_of_another_project_was_based_on_is_out_of_reach(world: World) -> None:
    fleet = Fleet(world)
    world.sql(
        "UPDATE efforts SET based_on = :other WHERE id = :id", other=fleet.foreigner.effort_id, id=fleet.own.effort.id
    )
    with pytest.raises(Forbidden):
        fleet.ask("work.get", effort_id=fleet.foreigner.effort_id)
    assert fleet.foreigner.effort_id in fleet.ask("work.chain", effort_id=fleet.own.effort.id).missing


def test_a_child_reaches_less_than_its_parent(fleet: Fleet) -> None:
    child = family.begin(fleet.world, fleet.child, driver="claude")
    for effort_id in (fleet.own.effort.id, fleet.plan.effort.id):
        with pytest.raises(Forbidden):
            family.as_agent(fleet.world, child, "work.get", effort_id=effort_id)
    assert fleet.ask("work.get", effort_id=fleet.child.effort_id).id == fleet.child.effort_id


@pytest.mark.requirement("R336")
def test_the_token_of_a_session_that_has_ended_opens_nothing(fleet: Fleet) -> None:
    queue_worker.complete(fleet.world, fleet.own)
    before = fleet.world.dump()
    for name in ENGINES:
        with pytest.raises(Forbidden, match="has ended"):
            fleet.ask(name, **least_params(OPERATIONS[name]))
        fleet.world.db.rollback()
    assert fleet.world.dump() == before


def test_the_engine_itself_refuses_what_is_the_user_s(fleet: Fleet) -> None:
    users = [name for name, row in OPERATIONS.items() if row.ring == "user" and row.host == "engine"]
    before = fleet.world.dump()
    codes = {name: fleet.try_to(name, least_params(OPERATIONS[name])).code for name in users}
    assert set(codes.values()) == {"forbidden", "invalid_params"}  # where something is missing, that is said first
    assert [name for name, code in codes.items() if code != "forbidden"] == ["history.commit"]
    assert fleet.world.dump() == before
