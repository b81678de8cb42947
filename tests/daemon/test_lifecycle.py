"""A daemon's life, in a process of its own on a real database: start, second start, stop, crash, restart."""

import json
import os
import shutil
import signal
import stat
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.daemon.harness import PATIENCE_SECONDS
from tests.daemon.process import Home, finish

from ramet.store.database.lock import DatabaseLock


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _code(complaint: str) -> str:
    assert complaint.count("\n") == 1
    return str(json.loads(complaint)["data"]["code"])


def test_it_answers_when_it_lets_go_of_its_starter(home: Home) -> None:
    daemon = home.serve()
    status = home.connect().call("daemon.status")["result"]
    assert status["pid"] == daemon.pid == int(home.pid_file.read_text())
    assert status["store"] == f"sqlite {home.database}"


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc to see another process's files")
def test_it_holds_none_of_its_starters_descriptors(home: Home) -> None:
    daemon = psutil.Process(home.serve().pid)
    held = [Path(f"/proc/{daemon.pid}/fd/{number}").readlink() for number in range(3)]
    assert held == [Path(os.devnull)] * 3
    assert daemon.cwd() == "/"


@pytest.mark.requirement("R264")
def test_everything_it_makes_is_private(home: Home) -> None:
    home.serve()
    assert _mode(home.socket) == _mode(home.pid_file) == _mode(home.log_file) == _mode(home.database) == 0o600
    assert _mode(home.socket.parent) == _mode(home.log_file.parent) == 0o700


@pytest.mark.requirement("R264")
def test_a_second_start_is_refused_and_says_who_runs(home: Home) -> None:
    first = home.serve()
    status, _, complaint = finish(home.start())
    assert (status, _code(complaint)) == (1, "daemon_running")
    assert f"pid {first.pid}" in complaint
    assert home.connect().call("daemon.ping")["result"] == {"pong": True}


def test_a_program_that_has_the_database_open_is_not_called_a_daemon(home: Home) -> None:
    home.pid_file.parent.mkdir()
    home.pid_file.write_text(f"{os.getppid()}\n")
    lock = DatabaseLock(home.path / "ramet.lock")
    try:
        status, _, complaint = finish(home.start())
    finally:
        lock.release()
    assert (status, _code(complaint)) == (5, "database_held")
    assert str(os.getpid()) in complaint


@pytest.mark.requirement("R264")
def test_what_a_killed_daemon_left_behind_is_cleaned_up(home: Home) -> None:
    killed = home.serve()
    killed.kill()
    killed.wait(PATIENCE_SECONDS)
    assert home.socket.exists()
    assert home.pid_file.exists()
    second = home.serve()
    assert home.connect().call("daemon.status")["result"]["pid"] == second.pid
    assert int(home.pid_file.read_text()) == second.pid


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, "daemon.stop"])
def test_a_stopped_daemon_leaves_nothing_behind(home: Home, how: signal.Signals | str) -> None:
    daemon = home.serve()
    client = home.connect()
    client.call("db.agents.register", id="a")
    if isinstance(how, str):
        assert client.call(how)["result"] == {"stopping": True}
    else:
        daemon.send_signal(how)
    assert daemon.wait(PATIENCE_SECONDS) == 0
    assert not home.socket.exists()
    assert not home.pid_file.exists()
    assert not home.database.with_name("ramet.db-wal").exists()
    log = home.log_file.read_text()
    assert f"INFO daemon started pid={daemon.pid} store=sqlite {home.database}\n" in log
    assert f"INFO daemon stopped pid={daemon.pid}\n" in log


def test_what_was_acknowledged_is_there_after_a_kill(home: Home) -> None:
    killed = home.serve()
    assert "result" in home.connect().call("db.agents.register", id="a", label="kept")
    killed.kill()
    killed.wait(PATIENCE_SECONDS)
    home.serve()
    assert home.connect().call("db.agents.get", id="a")["result"]["label"] == "kept"


def test_events_are_told_as_they_are_committed(home: Home) -> None:
    home.serve()
    subscriber, client = home.connect(), home.connect()
    after = subscriber.call("events.subscribe")["result"]["after"]
    for number in range(20):
        client.call("db.agents.register", id=f"agent-{number}")
    told = [subscriber.receive()["params"] for _ in range(20)]
    assert [event["id"] for event in told] == list(range(after + 1, after + 21))
    assert [event["agent_id"] for event in told] == [f"agent-{number}" for number in range(20)]


def test_settings_that_make_no_sense_are_refused(home: Home) -> None:
    status, _, complaint = finish(home.start(drain_seconds="soon"))
    assert (status, _code(complaint)) == (2, "invalid_setting")
    assert "drain_seconds" in complaint


def test_a_command_that_does_not_exist_is_refused(home: Home) -> None:
    status, _, complaint = finish(home.start("dance"))
    assert (status, _code(complaint)) == (2, "invalid_setting")


def test_a_fault_that_does_not_exist_is_refused(home: Home) -> None:
    status, _, complaint = finish(home.start(faults="at_lunch:1"))
    assert (status, _code(complaint)) == (2, "invalid_setting")


def test_an_armed_fault_kills_it_there(home: Home) -> None:
    process = home.start(faults="during_recovery:1")
    assert process.wait(PATIENCE_SECONDS) == -signal.SIGKILL


def test_a_daemon_whose_home_is_gone_exits_and_makes_it_no_more(home: Home) -> None:
    daemon = home.serve()
    shutil.rmtree(home.path)
    assert daemon.wait(2 * PATIENCE_SECONDS) == 0
    assert not home.path.exists()


def test_a_daemon_whose_home_is_gone_leaves_the_files_of_the_next_one(home: Home) -> None:
    old = home.serve()
    shutil.rmtree(home.path)
    home.path.mkdir(mode=0o700)
    new = home.serve()
    assert old.wait(2 * PATIENCE_SECONDS) == 0
    assert home.connect().call("daemon.status")["result"]["pid"] == new.pid == int(home.pid_file.read_text())


def test_a_log_that_is_a_link_is_refused_and_not_written_through(home: Home) -> None:
    theirs = home.path / "theirs"
    theirs.write_text("theirs\n")
    home.log_file.parent.mkdir(mode=0o700)
    home.log_file.symlink_to(theirs)
    status, _, complaint = finish(home.start())
    assert (status, _code(complaint)) == (1, "daemon_failed")
    assert f"rm {home.log_file}" in complaint
    assert theirs.read_text() == "theirs\n"


@pytest.mark.requirement("R296")
def test_the_log_has_nothing_that_the_users_own_patterns_match(home: Home) -> None:
    home.settings = {"redaction": {"patterns": [f"{home.database}"]}}
    home.serve()
    said = home.log_file.read_text()
    assert "daemon started" in said
    assert str(home.database) not in said


def test_a_socket_that_is_a_directory_is_named_with_the_fix(home: Home) -> None:
    home.socket.mkdir(parents=True, mode=0o700)
    home.socket.parent.chmod(0o700)
    status, _, complaint = finish(home.start())
    assert (status, _code(complaint)) == (1, "daemon_failed")
    assert f"rm -r {home.socket}" in complaint


def test_a_directory_that_others_may_write_in_is_refused(home: Home) -> None:
    home.socket.parent.mkdir()
    home.socket.parent.chmod(0o777)
    status, _, complaint = finish(home.start())
    assert (status, _code(complaint)) == (1, "socket_unsafe")
    assert f"reason=other users can write to {home.socket.parent}" in home.log_file.read_text()


@pytest.mark.parametrize("command", ["serve", "migrate"])
def test_a_home_that_is_a_file_is_named_with_the_fix(tmp_path: Path, command: str) -> None:
    taken = tmp_path / "taken"
    taken.write_text("not a directory")
    status, _, complaint = finish(Home(taken).start(command))
    assert (status, _code(complaint)) == (1, "daemon_failed")
    assert f"the daemon cannot use {taken}: it is not a directory" in complaint
    assert "set RAMET_HOME to a directory that you can write to" in complaint


def test_a_disk_that_cannot_be_written_to_is_named_with_the_fix() -> None:
    # The kernel refuses it to every user, also to the superuser.
    status, _, complaint = finish(Home(Path("/proc/ramet")).start())
    assert (status, _code(complaint)) == (1, "daemon_failed")
    assert "the daemon cannot use /proc/ramet" in complaint
    assert "set RAMET_HOME to a directory that you can write to" in complaint


def test_a_file_that_is_not_a_database_is_refused_and_left_alone(home: Home) -> None:
    home.database.write_bytes(b"somebody's novel, chapter one" * 100)
    status, _, complaint = finish(home.start())
    assert (status, _code(complaint)) == (5, "database_foreign")
    assert home.database.read_bytes().startswith(b"somebody's novel")


def test_migrate_says_what_it_did(home: Home) -> None:
    status, said, _ = finish(home.start("migrate"))
    first = json.loads(said)
    assert (status, first["from"], first["backup"]) == (0, 0, None)
    assert first["to"] == len(first["applied"]) > 0
    _, said, _ = finish(home.start("migrate"))
    nothing: dict[str, Any] = {"applied": [], "repaired": [], "backup": None, "differences": []}
    assert json.loads(said) == {"from": first["to"], "to": first["to"], **nothing}


def test_migrate_and_reset_are_refused_while_a_daemon_runs(home: Home) -> None:
    home.serve()
    for command in ("migrate", "reset"):
        status, _, complaint = finish(home.start(command))
        assert (status, _code(complaint)) == (1, "daemon_running")


def test_reset_empties_the_database_after_a_backup(home: Home) -> None:
    daemon = home.serve()
    client = home.connect()
    client.call("db.agents.register", id="a")
    client.call("daemon.stop")
    daemon.wait(PATIENCE_SECONDS)
    status, said, _ = finish(home.start("reset"))
    done = json.loads(said)
    assert (status, done["removed"]) == (0, str(home.database))
    assert Path(done["backup"]).exists()
    home.serve()
    assert home.connect().call("db.agents.list")["result"]["items"] == []


def test_it_listens_on_no_network_address(home: Home) -> None:
    daemon = psutil.Process(home.serve().pid)
    assert daemon.net_connections(kind="inet") == []
