"""The table of operations is complete, and describes itself."""

import json

import msgspec
import pytest

from ramet.engine.engine import COMPILING, HANDLERS
from ramet.errors import RametError
from ramet.protocol.describe import EVENT_PURPOSES, describe
from ramet.protocol.operations import OPERATIONS
from ramet.protocol.requests import Change, Request


@pytest.mark.requirement("R280", "R314")
def test_every_operation_of_the_engine_has_a_function_and_no_function_is_without_one() -> None:
    answered = [*HANDLERS, *COMPILING]
    of_the_engine = [name for name, operation in OPERATIONS.items() if operation.host == "engine"]
    assert sorted(answered) == sorted([*of_the_engine, "db.effort.validate"]), "the workplace adds to that one"
    shared = {"ai.generate", "ai.embed"}
    assert len(set(HANDLERS.values())) == len(set(HANDLERS) - shared) + 1


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
