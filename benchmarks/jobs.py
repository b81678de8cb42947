"""Jobs that do nothing: some are put into a queue one by one, then all are fetched and finished.

A contender gets a database of its own, empty, and says what the two took. Every commit of every contender is flushed.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import timed
from ramet.config.settings import DatabaseSettings


@dataclass(frozen=True)
class Worked:
    """What some jobs have cost."""

    count: int
    add_seconds: float
    work_seconds: float
    cpu_seconds: float | None = None
    """Of the work, in this process; None where it is done in others."""

    @property
    def added_per_second(self) -> float:
        return self.count / self.add_seconds

    @property
    def worked_per_second(self) -> float:
        return self.count / self.work_seconds


@dataclass(frozen=True)
class Site:
    """Where a contender keeps its queue: a folder with files of its own, and a PostgreSQL schema where there is one."""

    folder: Path
    url: str | None = None


def store_settings(site: Site) -> DatabaseSettings:
    """What our own store is opened with there."""
    return DatabaseSettings() if site.url is None else DatabaseSettings(type="postgres", url=site.url)


Contender = Callable[[Site, int], Worked]


def measure(count: int, add: Callable[[], object], work: Callable[[], object]) -> Worked:
    """Put the jobs into the queue, then work them off, in this process."""
    add_seconds, cpu_seconds = timed(add), time.process_time()
    work_seconds = timed(work)
    return Worked(count, add_seconds, work_seconds, time.process_time() - cpu_seconds)


def wait_until(is_true: Callable[[], bool], timeout_seconds: float = 120) -> None:
    """Look every few milliseconds, for so long."""
    deadline = time.monotonic() + timeout_seconds
    while not is_true():
        if time.monotonic() > deadline:
            raise TimeoutError("the jobs did not end in time")
        time.sleep(0.01)
