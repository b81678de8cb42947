"""The table of operations is complete, and describes itself."""

import json
from collections.abc import Callable
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
import pytest

from ramet.daemon.hooks.calling_sessions import CallingSessions
from ramet.daemon.hooks.service import HookService
from ramet.daemon.server import Server
from ramet.daemon.wire.answers import Later, find_answers
from ramet.daemon.work_calls import WorkCalls
from ramet.engine.answers import load
from ramet.errors import RametError
from ramet.protocol.answers import Answers
from ramet.protocol.operation import Audience, Change, Request, reply_kinds
from ramet.protocol.operations import OPERATIONS
from ramet.protocol.system.daemon import Ping
from ramet.protocol.wire.describe import EVENT_PURPOSES, describe
from ramet.protocol.work.queue import AddWork
from ramet.runner import operations as machine_operations
from ramet.store.database.operations import answers as store_answers

HOSTS: dict[str, dict[type[Request[Any]], Callable[..., Any]]] = {
    "engine": load().all(),
    "machine": machine_operations.answers.all(),
    "store": store_answers.all(),
    "daemon": {
        **find_answers(Server),
        **find_answers(WorkCalls),
        **find_answers(HookService),
        **find_answers(CallingSessions),
    },
}
"""The functions of each host, by the request that they answer."""


@pytest.mark.requirement("R280", "R314", "R319")
def test_every_operation_has_one_function_and_no_function_is_without_one() -> None:
    for host, functions in HOSTS.items():
        declared = {operation.request for operation in OPERATIONS.values() if operation.host == host}
        assert set(functions) == declared
        assert len(set(functions.values())) == len(functions), "no function answers two operations"


def asked_type(annotation: Any) -> set[Any]:
    """The requests that a parameter may be: itself, one of a union, or the one that was made ready before."""
    kinds = set(reply_kinds(annotation))
    prepared = {get_origin(kind) or kind for kind in kinds}
    for kind in prepared & {kind for kind in prepared if isinstance(kind, type) and "request" in get_type_hints(kind)}:
        kinds |= {*get_args(annotation), get_type_hints(kind)["request"]}
    return kinds


def given_type(annotation: Any) -> Any:
    """The reply of a function, also of one that gives it later."""
    return get_args(annotation)[0] if get_origin(annotation) is Later else annotation


@pytest.mark.requirement("R319")
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_function_takes_the_request_and_returns_its_reply(name: str) -> None:
    operation = OPERATIONS[name]
    function = HOSTS[operation.host][operation.request]
    hints = get_type_hints(function)
    returned = hints.pop("return")
    assert operation.request in asked_type(list(hints.values())[1]), function
    assert given_type(returned) == operation.reply, function


@pytest.mark.requirement("R319")
def test_an_operation_is_declared_on_its_request_alone() -> None:
    for name, operation in OPERATIONS.items():
        assert operation.request.op is operation
        assert operation.purpose.endswith("."), name
        assert operation.audience in get_args(Audience)


@pytest.mark.requirement("R319")
def test_a_second_function_for_an_operation_is_refused() -> None:
    with pytest.raises(TypeError, match=r"daemon\.ping"):
        Answers("engine")(Ping)(print)
    twice = Answers[None]("engine")
    twice(AddWork)(print)
    with pytest.raises(TypeError, match=r"work\.add"):
        twice(AddWork)(repr)


@pytest.mark.requirement("R280", "R314")
def test_the_description_has_every_operation_with_its_schema_and_errors() -> None:
    described = {entry["name"]: entry for entry in json.loads(msgspec.json.encode(describe()))}
    assert list(described) == list(OPERATIONS)
    for name, entry in described.items():
        assert entry["purpose"].endswith("."), name
        assert entry["params"]["type"] == "object", name
        assert ("idempotency_key" in entry["params"]["properties"]) is OPERATIONS[name].changes


@pytest.mark.requirement("R253")
@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_knows_its_parameters_and_its_errors(name: str) -> None:
    operation = OPERATIONS[name]
    assert operation.name == name
    assert issubclass(operation.request, Change if operation.changes else Request)
    assert operation.request.__struct_config__.forbid_unknown_fields
    assert all(issubclass(error, RametError) for error in operation.errors)
    assert len(set(operation.errors)) == len(operation.errors)


SEED_OPERATIONS = """
db.project.upsert db.task.upsert db.task.find db.task.list db.effort.start db.effort.finish db.effort.phase
db.effort.list db.effort.validate db.session.start db.session.finish db.session.heartbeat
db.session.updateContextUsage db.session.updateLoadedFiles db.session.find db.skills.upsert db.skills.get
db.skills.list db.skills.delete db.skills.find db.messages.append db.messages.list db.agents.register db.agents.get
db.agents.list
"""


@pytest.mark.requirement("R278", "R280")
def test_every_db_operation_of_the_seed_is_there_under_its_name() -> None:
    assert set(SEED_OPERATIONS.split()) <= set(OPERATIONS)


@pytest.mark.requirement("R314")
def test_every_kind_of_event_says_what_it_means() -> None:
    assert all(purpose.endswith(".") for purpose in EVENT_PURPOSES.values())
