"""Shell commands of the owner's: their time, their logs, and the processes that they leave."""

import os
import time
from pathlib import Path

import psutil
import pytest

from ramet.model.redaction import Redactor
from ramet.runner.processes.shell_command import ShellCommand

PATIENCE_SECONDS = 60


def command(tmp_path: Path, text: str, seconds: float = PATIENCE_SECONDS) -> ShellCommand:
    return ShellCommand(
        text=text,
        directory=tmp_path,
        environ={"PATH": os.environ["PATH"], "SECRET_KEY": "hunter2hunter2"},
        log=tmp_path / "setup.log",
        timeout_seconds=seconds,
        grace_seconds=0.2,
        redactor=Redactor([], ["hunter2hunter2"]),
    )


def is_gone(pid_file: Path) -> bool:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            if psutil.Process(int(pid_file.read_text())).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.requirement("R458")
def test_a_command_that_fails_says_how_and_has_its_log_without_secrets(tmp_path: Path) -> None:
    trouble = command(tmp_path, "echo $SECRET_KEY; echo no network >&2; exit 3").run(lambda: False)
    assert trouble is not None
    assert trouble.text.startswith("failed with exit status 3: ")
    assert ("no network" in trouble.text, trouble.is_hosts) == (True, False)
    log = (tmp_path / "setup.log").read_text()
    assert "no network\n" in log
    assert "hunter2" not in log
    assert (tmp_path / "setup.log").stat().st_mode & 0o777 == 0o600


@pytest.mark.requirement("R462")
@pytest.mark.parametrize(
    "text", ["kill -KILL $$", "sh -c 'kill -KILL $$'; exit $?", "echo No space left on device; exit 1"]
)
def test_a_command_that_its_machine_ended_is_told_from_one_that_failed(tmp_path: Path, text: str) -> None:
    trouble = command(tmp_path, text).run(lambda: False)
    assert trouble is not None
    assert trouble.is_hosts


@pytest.mark.requirement("R458")
def test_a_command_that_hangs_is_ended_with_everything_that_it_started(tmp_path: Path) -> None:
    text = "(sh -c 'echo $$ > child; exec sleep 1000') & trap '' TERM; echo begun; while :; do sleep 1; done"
    assert command(tmp_path, text, seconds=1).run(lambda: False) == ("took longer than 1 seconds: begun", False)
    assert is_gone(tmp_path / "child")


@pytest.mark.requirement("R458")
def test_a_command_that_leaves_a_process_behind_succeeds_and_the_process_is_ended(tmp_path: Path) -> None:
    command(tmp_path, "setsid sh -c 'echo $$ > child; exec sleep 1000' & until [ -s child ]; do :; done").run(
        lambda: False
    )
    assert is_gone(tmp_path / "child")


@pytest.mark.requirement("R458")
def test_a_command_whose_effort_is_stopped_is_ended(tmp_path: Path) -> None:
    assert command(tmp_path, "sleep 1000").run(lambda: True) == ("was stopped", False)


def test_of_a_long_log_the_end_is_kept(tmp_path: Path) -> None:
    command(tmp_path, "i=0; while [ $i -lt 300 ]; do printf '%8000d\\n' $i; i=$((i+1)); done; echo last").run(
        lambda: False
    )
    log = (tmp_path / "setup.log").read_text()
    assert len(log) <= 1024 * 1024
    assert log.endswith("last\n")
