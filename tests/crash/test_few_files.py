"""A daemon that may open few files serves on: it keeps descriptors for what its connections ask for."""

import shutil
from pathlib import Path

import psutil
import pytest
from tests.crash.audit import check_whole
from tests.crash.daemons import Home
from tests.crash.hands import Crew

from ramet.client.connection import Connection
from ramet.errors import DescriptorsExhausted

FILES = 64
CONNECTIONS = 100


@pytest.mark.skipif(shutil.which("prlimit") is None, reason="only Linux has prlimit")
@pytest.mark.requirement("R469")
def test_a_daemon_with_few_descriptors_serves_on_and_says_why_it_refuses(place: Path) -> None:
    home = Home(place / "home", inside=("prlimit", f"--nofile={FILES}:{FILES}", "--"))
    daemon, crew = home.start(), Crew(1)
    waiting: list[Connection] = []
    with daemon.connect() as connection:
        crew.prepare(connection)
        connection.call("events.subscribe")

        def fill() -> None:
            for _ in range(CONNECTIONS):
                waiting.append(daemon.connect())
                waiting[-1].call("events.subscribe")  # so that it is not idle

        with pytest.raises(DescriptorsExhausted, match="limit of open files") as refused:
            fill()
        assert "ulimit -n" in refused.value.fix
        assert len(waiting) > FILES // 4
        assert psutil.Process(daemon.pid).num_fds() < FILES
        for _ in range(5):
            crew.hands[0].step(connection)
            assert connection.call("fleet.status") is not None
        for each in waiting:
            each.close()
        assert check_whole(connection, crew) == crew.acknowledged() == 5
    home.close()
