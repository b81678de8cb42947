"""Which efforts belong to an agent's session: those below its own, and those that its own is based on."""

from collections import deque

from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile

_sql = QueryFile("spawn/rings")


def list_own(db: Connection, effort_id: int) -> set[int]:
    """An effort, and every one that was spawned from it, be it over several steps."""
    return {row[0] for row in db.all(_sql.own_efforts, effort_id=effort_id)}


def list_chain(db: Connection, effort_id: int, project_id: int) -> set[int]:
    """The efforts of its run, and those of its project that it is based on or waits for, be it over several steps."""
    found = {row[0] for row in db.all(_sql.run_efforts, effort_id=effort_id)}
    seen, waiting = {effort_id}, deque([effort_id])
    while waiting:
        needs = {row[0] for row in db.all(_sql.needs, effort_id=waiting.popleft(), project_id=project_id)}
        waiting.extend(needs - seen)
        seen |= needs
    return found | seen


def list_branches(db: Connection, effort_id: int) -> list[str]:
    """The branches of an effort's sessions."""
    return [row[0] for row in db.all(_sql.branches, effort_id=effort_id)]
