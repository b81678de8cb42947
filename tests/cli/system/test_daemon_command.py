"""`ramet daemon`: start, stop, status, logs."""

import os
import subprocess
import threading

import pytest
from tests.cli.command_line import CommandLine


def test_start_returns_when_the_daemon_answers_and_a_second_start_says_that_one_runs(ramet: CommandLine) -> None:
    first = ramet.json("daemon", "start")
    second = ramet.json("daemon", "start")
    assert (first["already"], second["already"]) == (False, True)
    assert first["pid"] == second["pid"]
    assert "already running: pid" in ramet.ok("daemon", "start")


def test_status_says_what_the_daemon_is_and_starts_none(ramet: CommandLine) -> None:
    assert ramet("daemon", "status").returncode == 1
    ramet.ok("daemon", "start")
    status = ramet.json("daemon", "status")
    assert {"socket", "pid", "version", "store", "uptime_seconds"} <= set(status)
    assert status["socket"] == str(ramet.home / "ramet" / "run" / "ramet.sock")
    assert os.getsid(status["pid"]) == status["pid"]


def test_stop_returns_when_it_is_gone_and_without_one_says_so(ramet: CommandLine) -> None:
    ramet.ok("daemon", "start")
    assert ramet.json("daemon", "stop") == {"stopped": True}
    assert not (ramet.home / "ramet" / "run" / "ramet.sock").exists()
    assert ramet.ok("daemon", "stop") == "no daemon was running\n"


def test_a_command_starts_the_daemon_that_it_needs(ramet: CommandLine) -> None:
    assert ramet.json("ps") == {"items": [], "next": None, "parked_hosts": []}
    assert "uptime" in ramet.ok("daemon", "status")


@pytest.mark.parametrize("command", [("ps",), ("daemon", "start")])
def test_a_directory_in_place_of_the_socket_is_named_at_once(ramet: CommandLine, command: tuple[str, ...]) -> None:
    socket = ramet.home / "ramet" / "run" / "ramet.sock"
    socket.mkdir(parents=True)
    for folder in (socket, socket.parent, socket.parent.parent):
        folder.chmod(0o700)
    done = ramet(*command)
    assert (done.returncode, f"fix: remove it: rm -r {socket}" in done.stderr) == (1, True), done.stderr
    assert "in time" not in done.stderr
    assert not (ramet.home / "ramet" / "ramet.db").exists(), "a daemon was started"


def test_logs_show_the_last_lines(ramet: CommandLine) -> None:
    assert "the log is empty" in ramet.ok("daemon", "logs")
    ramet.ok("daemon", "start")
    ramet.ok("daemon", "stop")
    assert "daemon stopped" in ramet.ok("daemon", "logs", "-n", "1")
    assert len(ramet.json("daemon", "logs", "-n", "2")["items"]) == 2


@pytest.mark.parametrize("rotate", [False, True])
def test_logs_follow_what_is_written_also_after_a_rotation(ramet: CommandLine, rotate: bool) -> None:
    log = ramet.home / "ramet" / "logs" / "ramet.log"
    log.parent.mkdir(parents=True)
    log.write_text("old\n")
    command = [ramet.program, "daemon", "logs", "--follow"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=ramet.environ, cwd=ramet.cwd, text=True) as process:
        timer = threading.Timer(30, process.kill)
        timer.start()
        assert process.stdout is not None
        assert process.stdout.readline() == "old\n"
        if rotate:
            log.rename(log.with_suffix(".1"))
        with log.open("a") as file:
            file.write("new \x1b[2Jline\n")
        assert process.stdout.readline() == "new line\n"
        process.kill()
        timer.cancel()


def test_another_database_has_another_daemon(ramet: CommandLine) -> None:
    ramet.configure(f"database: {{path: {ramet.cwd}/own.db}}")
    own = ramet.json("daemon", "start")
    default = ramet.json("--set", f"database.path={ramet.home}/ramet/ramet.db", "daemon", "start")
    assert own["pid"] != default["pid"]
    assert own["store"] == f"sqlite {ramet.cwd}/own.db"
    ramet.ok("--set", f"database.path={ramet.home}/ramet/ramet.db", "daemon", "stop")


def test_a_home_too_deep_for_a_socket_works_all_the_same(ramet: CommandLine) -> None:
    deep = ramet.home / ("d" * 120)
    status = ramet.json("--home", str(deep), "daemon", "start")
    assert status["socket"].startswith(f"/tmp/ramet-{os.getuid()}/")
    assert ramet.json("--home", str(deep), "ps")["items"] == []
    ramet.ok("--home", str(deep), "daemon", "stop")
