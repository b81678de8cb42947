"""Which fields a client, a daemon and a keeper of the build before may leave out: all but these.

`python -m tests.golden.required_fields > tests/golden/required_fields.json` records them at a release.
"""

import json
import re
import sys
import types
import typing
from typing import Any

from msgspec import inspect

from ramet.protocol.operations import OPERATIONS
from ramet.protocol.work.keepers import KeeperRecord, KeeperSpec, Spooled


def find() -> dict[str, list[str]]:
    """Of every structure on the wire, the fields without a default."""
    found: dict[str, list[str]] = {}
    for operation in OPERATIONS.values():
        _follow(operation.request, found)
        _follow(operation.reply, found)
    for kind in (KeeperSpec, KeeperRecord, Spooled):
        _follow(kind, found)
    return found


def _follow(kind: Any, found: dict[str, list[str]]) -> None:
    if typing.get_origin(kind) in (typing.Union, types.UnionType):  # whose parts only the operation tells apart
        for part in typing.get_args(kind):
            _follow(part, found)
    else:
        _walk(inspect.type_info(kind), found)


def _walk(kind: inspect.Type, found: dict[str, list[str]]) -> None:
    match kind:
        case inspect.StructType():
            name = re.sub(r"\w+\.", "", str(kind.cls)) if typing.get_args(kind.cls) else kind.cls.__name__
            if name not in found:
                found[name] = sorted(field.encode_name for field in kind.fields if field.required)
                for field in kind.fields:
                    _walk(field.type, found)
        case inspect.UnionType():
            for part in kind.types:
                _walk(part, found)
        case inspect.ListType() | inspect.VarTupleType() | inspect.SetType() | inspect.FrozenSetType():
            _walk(kind.item_type, found)
        case inspect.DictType():
            _walk(kind.value_type, found)
        case _:
            pass


if __name__ == "__main__":
    rows = (f"{json.dumps(name)}: {json.dumps(fields)}" for name, fields in sorted(find().items()))
    sys.stdout.write("{\n" + ",\n".join(rows) + "\n}\n")
