"""Ramet: the durable memory and the supervisor of a fleet of coding agents.

`ramet.open(path)` runs on a database file in this process; `ramet.connect()` goes through the daemon. Both give
the same typed object. Everything here is imported when it is first used, so that `import ramet` costs nothing.
"""

from typing import TYPE_CHECKING, Any

from ramet.version import __version__

if TYPE_CHECKING:
    from ramet.errors import SessionError, SpawnError
    from ramet.library import Ramet, connect, open  # noqa: A004
    from ramet.library.sequential import (
        ContextAccumulator,
        SpawnResult,
        SpawnTask,
        spawn_parallel,
        spawn_sequential,
    )
    from ramet.library.task_store import (
        ConnectedTaskStore,
        PostgresTaskStore,
        SqliteTaskStore,
        Task,
        TaskStore,
    )
    from ramet.model.history.child_branch import CollapseResult, SpawnFamily, SpawnInfo, SpawnRecord
    from ramet.model.history.content import SessionContent
    from ramet.model.runs.conversation import Turn

__all__ = [
    "CollapseResult",
    "ConnectedTaskStore",
    "ContextAccumulator",
    "PostgresTaskStore",
    "Ramet",
    "SessionContent",
    "SessionError",
    "SpawnError",
    "SpawnFamily",
    "SpawnInfo",
    "SpawnRecord",
    "SpawnResult",
    "SpawnTask",
    "SqliteTaskStore",
    "Task",
    "TaskStore",
    "Turn",
    "__version__",
    "connect",
    "open",
    "spawn_parallel",
    "spawn_sequential",
]

_HOMES = {
    "CollapseResult": "ramet.model.history.child_branch",
    "ConnectedTaskStore": "ramet.library.task_store",
    "ContextAccumulator": "ramet.library.sequential",
    "PostgresTaskStore": "ramet.library.task_store",
    "Ramet": "ramet.library",
    "SessionContent": "ramet.model.history.content",
    "SessionError": "ramet.errors",
    "SpawnError": "ramet.errors",
    "SpawnFamily": "ramet.model.history.child_branch",
    "SpawnInfo": "ramet.model.history.child_branch",
    "SpawnRecord": "ramet.model.history.child_branch",
    "SpawnResult": "ramet.library.sequential",
    "SpawnTask": "ramet.library.sequential",
    "SqliteTaskStore": "ramet.library.task_store",
    "Task": "ramet.library.task_store",
    "TaskStore": "ramet.library.task_store",
    "Turn": "ramet.model.runs.conversation",
    "connect": "ramet.library",
    "open": "ramet.library",
    "spawn_parallel": "ramet.library.sequential",
    "spawn_sequential": "ramet.library.sequential",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ramet' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module(_HOMES[name]), name)
