"""What a person reads if the database cannot be used: the path, what is wrong with it, and what to do."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.cli.command_line import CommandLine

pytestmark = pytest.mark.requirement("R469")

PATIENCE_SECONDS = 120
READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
FULL = 'mount -t tmpfs -o size=300k none "$0" && exec "$@"'


class Refusal(NamedTuple):
    """What a command is refused with."""

    code: str
    says: str
    fix: str


def run_inside(ramet: CommandLine, before: list[str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*before, ramet.program, *arguments],
        cwd=ramet.cwd,
        env=ramet.environ,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def on_read_only_disk(ramet: CommandLine, place: Path) -> list[str]:
    return ["unshare", "--mount", "sh", "-c", READ_ONLY, str(place)]


def on_full_disk(ramet: CommandLine, place: Path) -> list[str]:
    return ["unshare", "--mount", "sh", "-c", FULL, str(place)]


def with_few_files(ramet: CommandLine, place: Path) -> list[str]:
    return ["prlimit", "--nofile=20:20", "--"]


FAULTS: dict[str, tuple[Callable[[CommandLine, Path], list[str]], str, Refusal]] = {
    "a read-only home": (
        on_read_only_disk,
        "",
        Refusal("daemon_failed", "the daemon cannot use {}/ramet.db.lock: Read-only", "set RAMET_HOME to a directory"),
    ),
    "a read-only database": (
        on_read_only_disk,
        "ramet.db",
        Refusal("daemon_failed", "the daemon cannot use {}/ramet.db: Read-only", "make the file system of"),
    ),
    "a read-only folder of sockets": (
        on_read_only_disk,
        "run",
        Refusal("daemon_failed", "the daemon cannot use {}/run/ramet.sock: Read-only", "make the file system of"),
    ),
    "a full disk": (
        on_full_disk,
        "",
        Refusal("daemon_failed", "the daemon cannot use {}: No space left on device", "free disk space: `df -h"),
    ),
    "too few descriptors": (
        with_few_files,
        "",
        Refusal("descriptors_exhausted", "the daemon can open no more files", "ulimit -n"),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_daemon_that_cannot_start_names_the_path_and_the_fix(ramet: CommandLine, fault: str) -> None:
    begin, name, refusal = FAULTS[fault]
    if sys.platform != "linux" or (begin is not with_few_files and os.geteuid() != 0) or not shutil.which("prlimit"):
        if os.environ.get("CI") == "true" and sys.platform == "linux" and os.geteuid() == 0:
            pytest.fail("the programs of util-linux are missing")
        pytest.skip("NOT TESTED: only root on Linux can mount a disk")
    home = Path(ramet.environ["RAMET_HOME"])
    ramet.ok("ps")
    ramet.ok("daemon", "stop")
    before = begin(ramet, home / name)
    done = run_inside(ramet, before, "ps")
    assert done.returncode == 1
    assert f"error: {refusal.says.format(home)}" in done.stderr
    assert refusal.fix in done.stderr
    told = json.loads(run_inside(ramet, before, "add", "do it", "--json").stderr)["error"]
    assert told["code"] == refusal.code
    assert told["message"].startswith(refusal.says.format(home))
    ramet.ok("ps")


def test_a_folder_that_belongs_to_somebody_else_is_named(ramet: CommandLine) -> None:
    if os.geteuid() == 0:
        pytest.skip("NOT TESTED: root may write everywhere; a read-only disk refuses root too, and is tested")
    home = Path(ramet.environ["RAMET_HOME"])
    home.mkdir(mode=0o500)
    done = ramet("ps")
    assert done.returncode == 1
    assert f"the daemon cannot use {home}" in done.stderr
    assert "Permission denied" in done.stderr
    assert "fix: set RAMET_HOME to a directory that you can write to" in done.stderr
    home.chmod(0o700)


def test_a_program_that_locks_the_database_stops_writes_alone(shop: CommandLine) -> None:
    assert shop("add", "before").returncode == 0
    foreign = sqlite3.connect(Path(shop.environ["RAMET_HOME"], "ramet.db"), isolation_level=None)
    foreign.execute("BEGIN EXCLUSIVE")
    done = shop("add", "meanwhile")
    assert done.returncode == 5
    assert "error: another process is writing to the database file" in done.stderr
    assert "fix: end the program that holds the lock, then try again" in done.stderr
    assert "before" in shop("queue").stdout
    foreign.execute("ROLLBACK")
    foreign.close()
    assert shop("add", "afterwards").returncode == 0
    queued = shop("queue").stdout
    assert "afterwards" in queued
    assert "meanwhile" not in queued
