"""DBOS: a workflow that does nothing, put on a queue many times over and worked off by the queue's own workers.

It keeps its tables in SQLite or in PostgreSQL. Its queue claims all that waits in one transaction, and writes each
outcome in one more. It looks for work every ten milliseconds here instead of every second. How many threads it works
with decides how fast it is: 64 as it comes; 2 were the fastest on SQLite, 16 on PostgreSQL.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Any

import psycopg
from dbos import DBOS, DBOSConfig

from benchmarks.jobs import Site, Worked, measure, wait_until

_QUEUE = "bench"
_SCHEMA = "dbos"
_POLL_SECONDS = 0.01
_AS_IT_COMES = 64

Count = Callable[[], int]
"""How many workflows have succeeded."""


@DBOS.workflow()
def nothing(number: int) -> int:
    return number


def on_sqlite(site: Site, count: int, threads: int = _AS_IT_COMES) -> Worked:
    """On a file of its own in WAL mode, which is faster than what it would use; each commit is flushed."""
    file = site.folder / "dbos.sqlite"
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        assert database.execute("PRAGMA synchronous").fetchone() == (2,)
        counting = partial(_count, database, "workflow_status")
        return _work({"name": "bench", "system_database_url": f"sqlite:///{file}"}, counting, count, threads)


def on_postgres(site: Site, count: int, threads: int = _AS_IT_COMES) -> Worked:
    """In a schema of its own, which is gone afterwards."""
    assert site.url is not None
    url = site.url.replace("postgresql://", "postgresql+psycopg://")
    with psycopg.connect(site.url, autocommit=True) as database:
        try:
            counting = partial(_count, database, f"{_SCHEMA}.workflow_status")
            return _work({"name": "bench", "system_database_url": url}, counting, count, threads)
        finally:
            database.execute("SET client_min_messages = warning")
            database.execute(f"DROP SCHEMA {_SCHEMA} CASCADE".encode())


def tuned_on_sqlite(site: Site, count: int) -> Worked:
    """With the number of threads that suits it."""
    return on_sqlite(site, count, threads=2)


def tuned_on_postgres(site: Site, count: int) -> Worked:
    """With the number of threads that suits it."""
    return on_postgres(site, count, threads=16)


def _count(database: Any, table: str) -> int:
    return int(database.execute(f"SELECT count(*) FROM {table} WHERE status = 'SUCCESS'").fetchone()[0])


def _work(config: DBOSConfig, counting: Count, count: int, threads: int) -> Worked:
    DBOS(config=config | {"log_level": "ERROR", "max_executor_threads": threads})
    DBOS.launch()
    try:
        queue = DBOS.register_queue(_QUEUE, polling_interval_sec=_POLL_SECONDS)
        _add(threads)
        wait_until(lambda: counting() == threads)
        # Its threads run and its connections are open. Now it takes no more until all the work is there.
        queue.set_worker_concurrency(0)
        return measure(count, lambda: _add(count), lambda: _work_off(queue, lambda: counting() == threads + count))
    finally:
        DBOS.destroy()


def _work_off(queue: Any, is_done: Callable[[], bool]) -> None:
    queue.set_worker_concurrency(None)
    wait_until(is_done)


def _add(count: int) -> None:
    for number in range(count):
        DBOS.enqueue_workflow(_QUEUE, nothing, number)
