"""Ramet: the durable memory and the supervisor of a fleet of coding agents.

`ramet.open(path)` runs on a database file in this process; `ramet.connect()` goes through the daemon. Both give
the same typed object. They are imported when first used, so that `import ramet` costs nothing.
"""

from typing import TYPE_CHECKING, Any

from ramet.version import __version__

if TYPE_CHECKING:
    from ramet.library import Ramet, connect, open  # noqa: A004

__all__ = ["Ramet", "__version__", "connect", "open"]


def __getattr__(name: str) -> Any:
    if name in ("Ramet", "connect", "open"):
        from ramet import library  # noqa: PLC0415

        return getattr(library, name)
    raise AttributeError(f"module 'ramet' has no attribute {name!r}")
