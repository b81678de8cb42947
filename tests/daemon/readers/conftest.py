"""A real daemon on either database, and queries that take as long as a test needs."""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psutil
import pytest
from tests.daemon.harness import PATIENCE_SECONDS, Client
from tests.daemon.process import Home

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
"""A query that computes until it is stopped, on SQLite."""
ASLEEP = "SELECT pg_sleep(600)"
"""The same on PostgreSQL, which would write that one to its disk."""


class ReadingDaemon:
    """A daemon that answers long reads, and its processes."""

    def __init__(self, home: Home, url: str | None, **daemon: Any) -> None:
        self.home = home
        self.url = url
        self.endless = ENDLESS if url is None else ASLEEP
        home.settings["query"] = {"timeout_seconds": 600, "max_bytes": 2**30}
        if url is not None:
            home.settings["database"] = {"type": "postgres", "url": url}
        self.process = home.serve(**{"drain_seconds": 600, **daemon})

    def connect(self) -> Client:
        return self.home.connect()

    def ask_endless(self) -> Client:
        """A client that waits for a reply that does not come."""
        client = self.connect()
        client.ask("db.query", sql=self.endless)
        return client

    def query(self, sql: str = "SELECT 1") -> object:
        """The rows of a query of another client."""
        return self.connect().call("db.query", sql=sql)["result"]["rows"]

    def family(self) -> list[psutil.Process]:
        """Every process below the daemon."""
        return psutil.Process(self.process.pid).children(recursive=True)

    def readers(self) -> list[psutil.Process]:
        """The processes that read."""
        found = []
        for process in self.family():
            with suppress(psutil.NoSuchProcess):
                if process.name() == "ramet reader":
                    found.append(process)
        return found

    def fork_server(self) -> psutil.Process:
        """The process that forks them."""
        (found,) = [each for each in psutil.Process(self.process.pid).children() if each.name() == "ramet readers"]
        return found

    def busy_reader(self) -> psutil.Process:
        """The one process that reads, once there is one."""
        wait_for(lambda: bool(self.readers()))
        (reader,) = self.readers()
        return reader


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until something is the case."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def are_gone(processes: list[psutil.Process]) -> Callable[[], bool]:
    """Whether all of them have ended."""
    return lambda: not any(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in processes)


@pytest.fixture
def daemon(home: Home, database_url: str | None) -> ReadingDaemon:
    return ReadingDaemon(home, database_url)


@pytest.fixture
def sqlite_daemon(home: Home) -> ReadingDaemon:
    return ReadingDaemon(home, None)


@pytest.fixture
def home_with_short_reads(home: Home) -> ReadingDaemon:
    return ReadingDaemon(home, None, read_timeout_seconds=1)
