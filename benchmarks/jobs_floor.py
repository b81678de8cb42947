"""The floor of a claim and a completion: the same rows written raw, one transaction each, with nothing around it.

Claiming gives the next queued effort an owner, a generation and an expiry, and reads it whole; completing gives it an
outcome and an output. Each writes its event. Nothing is decoded, checked, redacted or answered.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from benchmarks.daemons import places_in
from benchmarks.jobs import Site, store_settings
from ramet.clock import SystemClock
from ramet.faults import Faults
from ramet.store import open_store

Execute = Callable[..., Any]

_AT = "2026-01-05T08:00:00.000Z"
_ADD = (
    "INSERT INTO efforts (task_id, skill, ordinal, lifecycle, prompt)"
    " VALUES ('/bench/task', 'implement', {0}, 'queued', 'nothing') RETURNING id"
)
_CLAIM = (
    "UPDATE efforts SET lifecycle = 'active', attempts = attempts + 1, lease_owner = 'worker',"
    " lease_generation = lease_generation + 1, lease_expires_at = {0}"
    " WHERE id = (SELECT id FROM efforts WHERE lifecycle = 'queued' ORDER BY priority DESC, id LIMIT 1{skip_locked})"
    " RETURNING *"
)
_COMPLETE = (
    "UPDATE efforts SET lifecycle = 'finished', finished_at = {0}, outcome = 'success', output_content = 'nothing',"
    " lease_owner = NULL, lease_expires_at = NULL WHERE id = {1} RETURNING *"
)
_EVENT = (
    "INSERT INTO events (kind, at_ms, project_id, task_id, effort_id, data)"
    " VALUES ({0}, {1}, 1, '/bench/task', {2}, '{{\"generation\":1}}')"
)


class Floor:
    """A database of ours that is written to raw."""

    def __init__(self, execute: Execute, marks: list[str], skip_locked: str, begin: str) -> None:
        self._execute = execute
        self._begin = begin
        self._add, self._claim, self._complete, self._event = (
            statement.format(*marks, skip_locked=skip_locked) for statement in (_ADD, _CLAIM, _COMPLETE, _EVENT)
        )
        self._ordinal = 0
        execute("INSERT INTO projects (path) VALUES ('/bench')")
        execute("INSERT INTO tasks (dir_path, project_id) VALUES ('/bench/task', 1)")

    def add(self) -> None:
        """Put one more into the queue."""
        self._ordinal += 1
        self._change("effort.queued", self._add, self._ordinal)

    def work_off(self, count: int) -> None:
        """Claim and complete so many, one by one."""
        for _ in range(count):
            effort_id = self._change("effort.claimed", self._claim, _AT)
            self._change("effort.finished", self._complete, _AT, effort_id)

    def _change(self, kind: str, statement: str, *params: object) -> int:
        self._execute(self._begin)
        effort_id = self._execute(statement, params).fetchone()[0]
        self._execute(self._event, (kind, time.time_ns() // 1_000_000, effort_id))
        self._execute("COMMIT")
        return int(effort_id)


@contextmanager
def floor(site: Site) -> Iterator[Floor]:
    """On our own tables, with their indexes."""
    store = open_store(store_settings(site), places_in(site.folder), clock=SystemClock(), faults=Faults())
    try:
        database = store.connect().database  # type: ignore[attr-defined]
        if site.url is None:
            yield Floor(database.cursor().execute, ["?1", "?2", "?3"], "", "BEGIN IMMEDIATE")
        else:
            with database:
                yield Floor(_prepared(database.cursor()), ["%s"] * 3, " FOR UPDATE SKIP LOCKED", "BEGIN")
    finally:
        store.close()


def _prepared(cursor: "psycopg.Cursor[Any]") -> Execute:
    return lambda statement, params=None: cursor.execute(statement.encode(), params, prepare=True)
