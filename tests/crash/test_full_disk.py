"""A daemon whose disk is full says so, goes on reading, loses nothing, and writes again when there is room."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest
from tests.crash.audit import check_whole
from tests.crash.daemons import Daemon, Home
from tests.crash.hands import Crew, Hand

from ramet.client.connection import Connection
from ramet.errors import StorageFailed

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can take room from a running process")


@contextmanager
def no_room(daemon: Daemon, home: Home) -> Iterator[None]:
    """None of the daemon's files may grow beyond what the largest of them is now."""
    database = home.places.database
    assert database is not None
    largest = max(file.stat().st_size for file in database.parent.glob("ramet.db*"))
    process = psutil.Process(daemon.pid)
    process.rlimit(psutil.RLIMIT_FSIZE, (largest + 10_000, -1))
    yield
    process.rlimit(psutil.RLIMIT_FSIZE, (-1, -1))


def work_on(hand: Hand, connection: Connection) -> None:
    for _ in range(200):
        hand.step(connection)


def test_a_full_disk_is_a_typed_error_and_passes(sqlite_home: Home) -> None:
    crew = Crew(1)
    hand = crew.hands[0]
    daemon = sqlite_home.start()
    with daemon.connect() as connection:
        crew.prepare(connection)
        for _ in range(3):
            hand.step(connection)
        for _ in range(2):
            with no_room(daemon, sqlite_home), pytest.raises(StorageFailed, match="disk"):
                work_on(hand, connection)
        assert connection.call("db.check")["passed"]
        hand.repeat_pending(connection)
        for _ in range(20):
            hand.step(connection)
        assert check_whole(connection, crew) == crew.acknowledged()
    daemon.kill()
    with sqlite_home.start().connect() as connection:
        assert check_whole(connection, crew) == crew.acknowledged()
