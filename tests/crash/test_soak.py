"""A daemon that is used without a break: hooks of thirty sessions, subscribers, collections and backups. It answers
everything, and neither its memory nor its descriptors nor its log grow with the time.
"""

import json
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest
from tests.crash.daemons import Daemon, Home

from ramet.errors import RametError

SECONDS = 45
SESSIONS = 30
EACH_PER_SECOND = 3.0
ROUNDS = 6
GROWTH_BYTES = 40 * 1024 * 1024
"""What the daemon may grow by after its first round: caches fill up to their bounds."""
MORE_DESCRIPTORS = 12


class Size(NamedTuple):
    """What a daemon takes of the machine."""

    memory: int
    descriptors: int
    log: int


def size_of(daemon: Daemon, home: Home) -> Size:
    process = psutil.Process(daemon.pid)
    assert home.places.database is not None
    log = home.places.database.with_name(home.places.database.name + "-wal")
    return Size(process.memory_info().rss, process.num_fds(), log.stat().st_size)


class Subscriber(threading.Thread):
    """Notes the ids of the events that it is sent, until its daemon is gone."""

    def __init__(self, daemon: Daemon) -> None:
        super().__init__()
        self.ids: list[int] = []
        self._connection = daemon.connect()
        self._connection.set_timeout(None)

    def run(self) -> None:
        with suppress(RametError), self._connection as connection:
            self.ids.extend(event["id"] for event in connection.subscribe(0))


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.requirement("R292")
def test_a_daemon_that_is_used_without_a_break_grows_in_nothing(sqlite_home: Home, place: Path) -> None:
    daemon = sqlite_home.start()
    project = place / "project"
    project.mkdir()
    with daemon.connect() as connection:
        connection.call("db.project.upsert", {"path": str(project)})
    deaf = daemon.connect()
    deaf.call("events.subscribe", {"after": 0})  # and never reads
    subscribers = [Subscriber(daemon) for _ in range(3)]
    for subscriber in subscribers:
        subscriber.start()
    command = [sys.executable, "-m", "benchmarks.hooks_load", str(daemon.socket), str(project)]
    load = subprocess.Popen(
        [*command, str(SESSIONS), str(SECONDS), str(EACH_PER_SECOND)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    sizes = []
    with daemon.connect() as connection:
        for number in range(ROUNDS):
            with suppress(subprocess.TimeoutExpired):
                load.wait(SECONDS / ROUNDS)
            connection.call("history.gc", {})
            connection.call("db.backup", {"path": str(place / f"backup-{number}.db")})
            sizes.append(size_of(daemon, sqlite_home))
        said = json.loads(load.communicate(timeout=300)[0])
        assert connection.call("db.check")["findings"] == []
        newest = connection.call("db.query", {"sql": "SELECT max(id) FROM events"})["rows"][0][0]
    daemon.kill()
    for subscriber in subscribers:
        subscriber.join()
        assert subscriber.ids == list(range(1, newest + 1)), "an event is missing, twice or out of order"
    deaf.close()
    print(f"{said}; {newest} events; {sizes[0]} to {sizes[-1]}")
    assert said["errors"] == 0
    assert newest > SESSIONS * 2
    assert sizes[-1].memory < sizes[0].memory + GROWTH_BYTES
    assert sizes[-1].descriptors <= sizes[0].descriptors + MORE_DESCRIPTORS
    assert max(size.log for size in sizes) < 64 * 1024 * 1024
