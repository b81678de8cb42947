"""Ramet: the durable memory and the supervisor of a fleet of coding agents.

`ramet.open(path)` runs on a database file in this process; `ramet.connect()` goes through the daemon. Both give
the same typed object. Everything here is imported when it is first used, so that `import ramet` costs nothing.
"""

from typing import TYPE_CHECKING, Any

from ramet.version import __version__

if TYPE_CHECKING:
    from ramet.errors import SessionError, SpawnError
    from ramet.library import Ramet, connect, open  # noqa: A004
    from ramet.model.content import SessionContent
    from ramet.model.spawn import CollapseResult, SpawnInfo

__all__ = [
    "CollapseResult",
    "Ramet",
    "SessionContent",
    "SessionError",
    "SpawnError",
    "SpawnInfo",
    "__version__",
    "connect",
    "open",
]

_HOMES = {
    "CollapseResult": "ramet.model.spawn",
    "Ramet": "ramet.library",
    "SessionContent": "ramet.model.content",
    "SessionError": "ramet.errors",
    "SpawnError": "ramet.errors",
    "SpawnInfo": "ramet.model.spawn",
    "connect": "ramet.library",
    "open": "ramet.library",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ramet' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module(_HOMES[name]), name)
