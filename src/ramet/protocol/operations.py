"""The table of operations: every request class that declares one, by name.

The RPC server, the library, the generated reference and the completeness tests read this table. Importing it imports
every subject; code that needs one operation imports the class of its request instead.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from ramet import protocol
from ramet.protocol.operation import Operation, Request

__all__ = ["OPERATIONS", "Operation"]

_PARTS = ("system", "history", "record", "runs", "spawn", "work", "landing", "hooks", "memory")
"""The folders in which requests are declared: one for each subject, and `system` for the rest."""


def _declared(kind: type[Request[Any]]) -> list[Operation]:
    own = [kind.op] if "op" in kind.__dict__ else []
    return own + [operation for below in kind.__subclasses__() for operation in _declared(below)]


def _collect() -> dict[str, Operation]:
    for part in _PARTS:
        package = import_module(f"{protocol.__name__}.{part}")
        for module in iter_modules(getattr(package, "__path__", ())):
            import_module(f"{package.__name__}.{module.name}")
    return {operation.name: operation for operation in sorted(_declared(Request), key=lambda each: each.name)}


OPERATIONS: dict[str, Operation] = _collect()
