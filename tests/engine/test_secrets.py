"""No field of any request is exempt from redaction: generated for every operation that the engine answers."""

from typing import Any

import msgspec
import pytest
from msgspec import Struct
from tests.model.redaction.planted import Maker

from ramet.engine import secrets
from ramet.model.redaction import Redactor
from ramet.protocol.operations import OPERATIONS

SECRET = Maker(338).expand("ghp_{a36}")


def fill(kind: msgspec.inspect.Type) -> Any:
    """A value of a type, with the secret in every text that can be chosen freely."""
    match kind:
        case msgspec.inspect.StrType():
            return SECRET
        case msgspec.inspect.UnionType():
            kinds = sorted(kind.types, key=lambda each: not isinstance(each, msgspec.inspect.StructType))
            filled = [value for value in map(fill, kinds) if value is not None]
            return next((value for value in filled if value not in ({}, [])), filled[0] if filled else None)
        case msgspec.inspect.StructType():
            return make(kind.cls)
        case msgspec.inspect.ListType():
            return [fill(kind.item_type)]
        case msgspec.inspect.DictType():
            return {SECRET: SECRET, "deep": [{"deeper": f"x {SECRET}"}]}
        case msgspec.inspect.AnyType():
            return {"any": [SECRET]}
        case msgspec.inspect.LiteralType():
            return kind.values[0]
    return None


def make(kind: type[Struct]) -> Struct:
    """A struct of which every text has the secret; nothing checks whether it would be accepted."""
    described = msgspec.inspect.type_info(kind)
    assert isinstance(described, msgspec.inspect.StructType)
    return kind(**{field.name: fill(field.type) for field in described.fields})


def without_prepared(part: Any) -> Any:
    """A struct as plain values, without the fields that its preparation redacts."""
    if isinstance(part, Struct):
        left = secrets.PREPARED.get(type(part), ())
        return {name: without_prepared(getattr(part, name)) for name in part.__struct_fields__ if name not in left}
    if isinstance(part, list | tuple):
        return [without_prepared(each) for each in part]
    return part


@pytest.mark.requirement("R341")
@pytest.mark.parametrize("name", [name for name, each in OPERATIONS.items() if each.host == "engine"])
def test_no_text_of_any_request_reaches_the_engine_with_its_secret(name: str) -> None:
    request = make(OPERATIONS[name].request)
    if isinstance(request, secrets.UNSTORED):
        pytest.skip("nothing of it is stored")
    assert SECRET not in repr(without_prepared(secrets.redact(request, Redactor())))
