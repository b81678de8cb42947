"""The database is away for longer than a lease. What was finished meanwhile is reported, and never run again."""

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.crash.daemons import Daemon, Home, ask
from tests.crash.waits import wait_for
from tests.postgres_server import PostgresServer
from tests.project_settings import write_trusted

from ramet.client.connection import Connection
from ramet.config.settings import WorkSettings

LEASE_SECONDS = 16
AWAY_SECONDS = LEASE_SECONDS + 3
HEAD_START_SECONDS = 7
"""Workers look for efforts every five seconds; the grace for holders lasts for a lease."""
AGENT = """name=$(tail -n 1); echo S >> {ledger}/$name
while [ ! -e {gate} ]; do sleep 0.1; done; echo E >> {ledger}/$name; echo "$name is done" """


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    folder = Path(tempfile.mkdtemp(prefix="ramet-pg-"))
    made = PostgresServer(folder, "fsync = off")
    try:
        yield made
    finally:
        made.close()
        shutil.rmtree(folder, ignore_errors=True)


class Fleet:
    """Hosts whose agents run until a gate opens, and write down when they start and end."""

    def __init__(self, place: Path, url: str, efforts: int) -> None:
        self.efforts = efforts
        self.gate, self.ledger = place / "gate", place / "ledger"
        self.ledger.mkdir()
        self.project = place / "shop"
        self.project.mkdir()
        self.homes = [self._make_home(place, url, name) for name in ("north", "south")]
        self.daemons: list[Daemon] = []
        self.working: list[Connection] = []

    def _make_home(self, place: Path, url: str, name: str) -> Home:
        home = Home(place / name, url)
        work = WorkSettings(host=name, lease_seconds=LEASE_SECONDS, backoff_seconds=0, grace_seconds=1)
        home.settings = replace(home.settings, work=work)
        program = ["sh", "-c", AGENT.format(ledger=self.ledger, gate=self.gate)]
        profiles = {"gated": {"driver": "command", "program": program}}
        write_trusted(self.project, home.path, {"drivers": {"default": "gated", "profiles": profiles}})
        return home

    def start(self) -> None:
        """Let one host run all efforts at once, and another one have as many workers that would take them over."""
        for home in self.homes:
            daemon = home.start()
            self.daemons.append(daemon)
            with daemon.connect() as connection:
                connection.call("db.project.upsert", {"path": str(self.project), "host": home.settings.work.host})
        with self.daemons[0].connect() as connection:
            for number in range(self.efforts):
                task = str(self.project / f"t{number}")
                connection.call("work.add", {"prompt": f"agent{number}", "skill": "do", "task": task})
        for daemon in self.daemons:
            self.working.append(daemon.connect())
            self.working[-1].send_raw("work.run", b'{"workers":%d}' % self.efforts)
            assert wait_for(lambda: len(list(self.ledger.iterdir())) == self.efforts)

    def runs(self) -> dict[str, list[str]]:
        return {path.name: path.read_text().split() for path in self.ledger.iterdir()}

    def close(self) -> None:
        self.gate.touch()
        for connection in self.working:
            connection.close()
        for home in self.homes:
            home.close()


@pytest.mark.timeout(240)
@pytest.mark.requirement("R466")
@pytest.mark.parametrize(
    ("is_stopped", "efforts"),
    [(True, 4), pytest.param(True, 12, marks=pytest.mark.slow), pytest.param(False, 12, marks=pytest.mark.slow)],
)
def test_what_was_finished_while_the_server_was_away_is_not_run_again(
    place: Path, server: PostgresServer, *, is_stopped: bool, efforts: int
) -> None:
    fleet = Fleet(place, server.url, efforts)
    try:
        fleet.start()
        server.stop() if is_stopped else server.freeze()
        away_until = time.monotonic() + AWAY_SECONDS
        fleet.gate.touch()
        assert wait_for(lambda: all(run[-1] == "E" for run in fleet.runs().values()))
        assert wait_for(lambda: time.monotonic() > away_until)
        os.kill(fleet.daemons[0].pid, signal.SIGSTOP)  # the holder is the last to learn that the server is back
        server.start() if is_stopped else server.thaw()
        head_start_until = time.monotonic() + HEAD_START_SECONDS
        assert wait_for(lambda: time.monotonic() > head_start_until)
        os.kill(fleet.daemons[0].pid, signal.SIGCONT)
        with fleet.daemons[1].connect() as connection:
            unfinished = "SELECT count(*) FROM efforts WHERE lifecycle <> 'finished'"
            assert wait_for(lambda: ask(connection, unfinished) == [[0]])
            rows = ask(connection, "SELECT prompt, outcome, attempts, reason FROM efforts")
        assert fleet.runs() == {row[0]: ["S", "E"] for row in rows}
        assert {(outcome, attempts) for _, outcome, attempts, _ in rows} == {("success", 1)}, rows
    finally:
        fleet.close()
