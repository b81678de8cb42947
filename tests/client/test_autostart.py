"""The client starts the daemon where none runs, and stops it; with the real daemon."""

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import psutil
import pytest

from ramet.client.autostart import connect, ensure
from ramet.client.processes import run
from ramet.client.stop import stop
from ramet.client.target import Target
from ramet.config.places import find_places
from ramet.config.settings import DatabaseSettings, Settings
from ramet.errors import DaemonFailed, DaemonRunning, DaemonUnreachable, DatabaseForeign, DatabaseHeld, InvalidSetting


def target_of(home: Path, database: Path | None = None) -> Target:
    settings = Settings(database=DatabaseSettings(path=str(database) if database else None))
    places = find_places({"RAMET_HOME": str(home)}, settings)
    told, where = (msgspec.json.encode(value, enc_hook=str).decode() for value in (settings, places))
    return Target(str(places.socket), told, where)


@pytest.fixture
def target(directory: Path) -> Iterator[Target]:
    target = target_of(directory)
    yield target
    stop(target.socket, None, 20)


def start(target: Target) -> int:
    """The pid of the daemon that answers."""
    with ensure(target, autostart=True, start_timeout_seconds=60) as connection:
        pid: int = connection.call("daemon.status")["pid"]
        return pid


@pytest.mark.requirement("R262")
def test_where_none_runs_one_is_started_and_used_again(target: Target) -> None:
    pid = start(target)
    assert start(target) == pid
    assert os.getsid(pid) == pid != os.getsid(0)


@pytest.mark.requirement("R262")
def test_without_autostart_nothing_is_started(target: Target, directory: Path) -> None:
    with pytest.raises(DaemonUnreachable, match="no daemon answers at") as caught:
        ensure(target, autostart=False, start_timeout_seconds=60)
    assert caught.value.fix == "start it with `ramet daemon start`"
    assert list(directory.iterdir()) == []


def test_many_clients_at_once_end_up_with_one_daemon(target: Target) -> None:
    others = {child.pid for child in psutil.Process().children()}  # such as the one that the command line forks from
    pids: list[int] = []
    threads = [threading.Thread(target=lambda: pids.append(start(target))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(pids) == 6
    assert len(set(pids)) == 1
    stop(target.socket, None, 20)
    assert all(has_ended(child.pid) for child in psutil.Process().children() if child.pid not in others)
    assert not Path(target.socket).exists()


@pytest.mark.requirement("R264")
def test_what_a_killed_daemon_left_behind_is_no_hindrance(target: Target) -> None:
    killed = start(target)
    os.kill(killed, signal.SIGKILL)
    wait_until_refused(target.socket)
    assert Path(target.socket).exists()
    assert start(target) != killed


def wait_until_refused(path: str) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            connect(path).close()
        except DaemonUnreachable:
            return
    pytest.fail("the daemon still answers")


def test_stop_returns_when_the_daemon_is_gone(target: Target, directory: Path) -> None:
    pid = start(target)
    with connect(target.socket):
        assert stop(target.socket, None, 20) is True
    assert not Path(target.socket).exists()
    assert has_ended(pid)
    assert stop(target.socket, None, 20) is False


def has_ended(pid: int) -> bool:
    """Whether the process is gone; its end is seen a moment before the thread that waits for it has done so."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
    return False


def test_why_it_could_not_start_is_raised_as_the_error_that_it_is(directory: Path) -> None:
    (directory / "notes.txt").write_text("this is no database, " * 100)
    foreign = target_of(directory, directory / "notes.txt")
    with pytest.raises(DatabaseForeign):
        ensure(foreign, autostart=True, start_timeout_seconds=60)
    with pytest.raises(InvalidSetting):
        ensure(foreign._replace(settings="{}}"), autostart=True, start_timeout_seconds=60)


def test_a_database_that_a_program_holds_is_not_waited_for_all_the_time(target: Target, directory: Path) -> None:
    from ramet.store.database.lock import DatabaseLock

    lock = DatabaseLock(directory / "ramet.db.lock")
    begun = time.monotonic()
    with pytest.raises(DatabaseHeld, match=f"process {os.getpid()}"):
        ensure(target, autostart=True, start_timeout_seconds=60)
    lock.release()
    assert time.monotonic() - begun < 30


def test_a_daemon_that_never_answers_is_given_up(target: Target) -> None:
    Path(target.socket).parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(target.socket)
        deaf.listen()
        with pytest.raises((DaemonFailed, DaemonUnreachable)):
            ensure(target, autostart=False, start_timeout_seconds=0.2)


@pytest.mark.requirement("R296")
def test_no_setting_shows_in_the_list_of_processes(target: Target) -> None:
    pid = start(target)
    shown = Path(f"/proc/{pid}/cmdline")
    if not shown.exists():
        pytest.skip("there is no /proc here")
    assert shown.read_bytes().split(b"\0")[1:4] == [b"-m", b"ramet.daemon", b"serve"]


def test_a_task_in_the_foreground_reports_or_fails_as_the_error_that_it_is(target: Target) -> None:
    report = run("migrate", target)
    assert (report["from"], report["backup"]) == (0, None)
    start(target)
    with pytest.raises(DaemonRunning, match="already running"):
        run("migrate", target)
