"""Several daemons are started at once on one database: one lives, and the others say so."""

import os
import stat
import time

import pytest
from tests.crash.audit import Audit, check_whole
from tests.crash.daemons import PATIENCE_SECONDS, Daemon, Home
from tests.crash.hands import Crew

AT_ONCE = 3


def wait_for_one(daemons: list[Daemon]) -> Daemon:
    """The only one that is left when the others have given up."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while sum(daemon.is_alive for daemon in daemons) > 1:
        assert time.monotonic() < deadline, "more than one daemon lives"
        time.sleep(0.005)
    return next(daemon for daemon in daemons if daemon.is_alive).wait_until_it_answers()


def race(home: Home, rounds: int) -> None:
    crew = Crew(2)
    audit = Audit(crew)
    for number in range(rounds):
        daemons = [home.launch() for _ in range(AT_ONCE)]
        winner = wait_for_one(daemons)
        refusals = {daemon.failure().code for daemon in daemons if daemon is not winner}
        # One that loses before the winner has written its pid file can only say that the database is held.
        assert refusals <= {"daemon_running", "database_held"}
        with winner.connect() as connection:
            if number == 0:
                crew.prepare(connection)
            audit.settle(connection)
            for hand in crew.hands:
                hand.step(connection)
        assert home.launch().failure().code == "daemon_running"
        winner.kill()
    with home.start().connect() as connection:
        assert check_whole(connection, crew) == crew.acknowledged() == 2 * rounds


@pytest.mark.requirement("R264")
def test_of_daemons_started_at_once_one_lives(sqlite_home: Home) -> None:
    race(sqlite_home, 3)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.requirement("R264")
def test_of_daemons_started_at_once_one_lives_however_often(sqlite_home: Home) -> None:
    race(sqlite_home, 40)


@pytest.mark.requirement("R264")
def test_what_a_killed_daemon_leaves_is_replaced(sqlite_home: Home) -> None:
    first = sqlite_home.start()
    first.kill()
    places = sqlite_home.places
    assert places.socket.exists()
    assert int(places.pid_file.read_text()) == first.pid
    second = sqlite_home.start()
    assert int(places.pid_file.read_text()) == second.pid
    assert stat.S_IMODE(places.socket.stat().st_mode) == 0o600


@pytest.mark.requirement("R264")
def test_a_stale_pid_that_names_another_process_holds_nobody_up(sqlite_home: Home) -> None:
    sqlite_home.start().kill()
    sqlite_home.places.pid_file.write_text(f"{os.getpid()}\n")
    with sqlite_home.start().connect() as connection:
        assert connection.call("daemon.ping") == {"pong": True}
