"""The library mirrors the table of operations."""

import inspect
import keyword
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec
import pytest

from ramet.library.ramet import Ramet
from ramet.library.transport import Namespace, Subscription
from ramet.protocol.operations import OPERATIONS as DECLARED
from ramet.protocol.operations import Operation

OPERATIONS = {name: operation for name, operation in DECLARED.items() if operation.audience != "internal"}
"""Those that other programs may rely on."""

POSITIONAL = {
    "history.commit": ["text"],
    "history.log": ["branch"],
    "history.compile": ["branch"],
    "history.branches": ["prefix"],
    "history.collapse": ["text"],
    "history.latest": ["prefix"],
}
"""The optional parameters that may be given by position, behind the required ones."""


class Asked(Exception):
    """There is no reply: what was asked is all that a test wants to know."""


class Recorder:
    """A transport that only remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.is_closed = False

    def call(self, operation: Operation, params: Mapping[str, Any]) -> Any:
        self.asked.append((operation.name, dict(params)))
        raise Asked

    def subscribe(self, operation: Operation, params: Mapping[str, Any]) -> Subscription:
        self.asked.append((operation.name, dict(params)))
        return Subscription(iter(()), lambda: None)

    def close(self) -> None:
        self.is_closed = True


def _spelled(name: str) -> str:
    """As Python can have it: `continue` is one of its own words."""
    return ".".join(f"{part}_" if keyword.iskeyword(part) else part for part in name.split("."))


def _method(r: Ramet, name: str) -> Any:
    found: Any = r
    for part in _spelled(name).split("."):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_method_takes_exactly_the_parameters_of_its_operation(name: str) -> None:
    fields = msgspec.structs.fields(OPERATIONS[name].request)
    parameters = inspect.signature(_method(Ramet(Recorder()), name)).parameters
    assert {name.removesuffix("_") for name in parameters} == {field.encode_name for field in fields}
    positional = [p.name.removesuffix("_") for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert positional == [*(field.encode_name for field in fields if field.required), *POSITIONAL.get(name, [])]


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_method_asks_for_its_own_operation(name: str) -> None:
    recorder = Recorder()
    required = [field for field in msgspec.structs.fields(OPERATIONS[name].request) if field.required]
    with suppress(Asked):
        _method(Ramet(recorder), name)(*range(len(required)))
    asked, params = recorder.asked[0]
    assert asked == name
    assert [params[field.encode_name] for field in required] == list(range(len(required)))


def test_what_is_not_given_has_the_default_of_the_request() -> None:
    recorder = Recorder()
    with suppress(Asked):
        Ramet(recorder).db.effort.finish(7)
    expected = {"effort_id": 7, "keywords": None, "outcome": "success", "idempotency_key": None}
    assert recorder.asked == [("db.effort.finish", expected)]


def test_every_changing_method_takes_an_idempotency_key() -> None:
    r = Ramet(Recorder())
    without = [
        name
        for name, operation in OPERATIONS.items()
        if operation.changes and "idempotency_key" not in inspect.signature(_method(r, name)).parameters
    ]
    assert without == []


def _has_one_list(operation: Operation) -> bool:
    return operation.pages is not None and len(operation.pages.items) == 1 and operation.name != "history.spawns"


def _public(node: Any, path: str = "") -> set[str]:
    """The dotted names of everything that may be called."""
    names: set[str] = set()
    for name in [name for name in dir(node) if not name.startswith("_")]:
        inner = getattr(node, name)
        names |= _public(inner, f"{path}{name}.") if isinstance(inner, Namespace) else {f"{path}{name}"}
    return names


@pytest.mark.requirement("R260", "R323")
def test_the_library_offers_the_operations_and_nothing_beside_them() -> None:
    offered = {name for name in _public(Ramet(Recorder())) if not name.rpartition(".")[2].startswith("iter_")}
    assert offered == {*map(_spelled, OPERATIONS), "close"}


@pytest.mark.requirement("R343")
@pytest.mark.parametrize("name", sorted(name for name, each in OPERATIONS.items() if _has_one_list(each)))
def test_a_list_in_pages_has_an_iterator_with_the_parameters_of_the_list(name: str) -> None:
    path, _, verb = name.rpartition(".")
    recorder = Recorder()
    method = _method(Ramet(recorder), f"{path}.iter_{verb}")
    listed = inspect.signature(_method(Ramet(recorder), name)).parameters
    assert list(inspect.signature(method).parameters) == [each for each in listed if each not in ("limit", "newest")]
    with suppress(Asked):
        next(method(*(each.name for each in listed.values() if each.default is each.empty)))
    asked, params = recorder.asked[0]
    pages = OPERATIONS[name].pages
    assert pages is not None
    assert (asked, params["limit"]) == (name, pages.size)


def test_leaving_the_block_closes() -> None:
    recorder = Recorder()
    with Ramet(recorder):
        assert not recorder.is_closed
    assert recorder.is_closed
