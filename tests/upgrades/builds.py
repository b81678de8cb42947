"""Other builds of Ramet, and the command line of each: real trees of earlier commits, and copies of this one."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import ramet

SOURCE = Path(ramet.__file__).parent
ROOT = SOURCE.parent.parent
AGENT = Path(__file__).parent.parent / "crash" / "beating_agent.py"
PATIENCE_SECONDS = 90
_START = "from ramet.cli.main import main; raise SystemExit(main())"

# What landed on the main branch, from old to new.
SCHEMA_3 = "b5be0a133386"
SCHEMA_8 = "16faa78ae719"
SCHEMA_24 = "ab0395bd3b27"
BEFORE_BUILDS = "c846fe44aa24"
"""The last one whose daemon does not say its build."""


def extract(commit: str, folder: Path) -> Path:
    """The sources of a commit. A clone that leaves out the history skips the test; else a build without it fails."""
    command = ["git", "-C", str(ROOT), "archive", commit, "src"]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode != 0:
        message = (
            f"UPGRADES ARE NOT TESTED: no commit {commit} here ({done.stderr.decode().strip()}); clone the history"
        )
        if os.environ.get("CI", "").lower() in ("1", "true") and not _is_shallow():
            pytest.fail(message)
        pytest.skip(message)
    with tarfile.open(fileobj=BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


def _is_shallow() -> bool:
    asked = ["git", "-C", str(ROOT), "rev-parse", "--is-shallow-repository"]
    return subprocess.run(asked, capture_output=True, check=False).stdout.strip() == b"true"


def copy(folder: Path, built_at: int, **changes: tuple[str, str]) -> Path:
    """This build as if its commit were of another time, with changes to files: what is found, and what replaces it."""
    source = folder / "src"
    shutil.copytree(SOURCE, source / "ramet")  # with its bytecode, which is valid: the times are copied too
    built_from = ("version", r'BUILT_FROM = ".*"', f'BUILT_FROM = "{built_at} {built_at:040x}"')
    for name, found, replacement in [built_from, *((name, *change) for name, change in changes.items())]:
        file = source / "ramet" / f"{name.replace('__', '/')}.py"
        text, count = re.subn(found, replacement, file.read_text())
        assert count, f"{file} has no {found}"
        file.write_text(text)
    return source


class Installation:
    """One build with its command line, in the world of a test."""

    def __init__(
        self, source: Path, world: Path, started: "list[subprocess.Popen[str]]", python: str = sys.executable
    ) -> None:
        self.source = source
        self._python = python
        self.world = world
        self._started = started
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(world / "user"),
            "RAMET_HOME": str(world / "r"),
            "PYTHONPATH": str(source),
        }

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [self._python, "-P", "-c", _START, *arguments],
            cwd=self.world / "p",
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(process)
        return process

    def __call__(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        process = self.start(*arguments)
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def ok(self, *arguments: str) -> str:
        """What it prints, if it succeeds and says nothing else."""
        done = self(*arguments)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def json(self, *arguments: str) -> Any:
        return json.loads(self.ok(*arguments, "--json"))

    def pid(self) -> int:
        """The daemon's process."""
        return int((self.world / "r" / "run" / "ramet.pid").read_text())

    def hello(self) -> dict[str, Any]:
        reply: dict[str, Any] = json.loads(self.ok("rpc", "call", "daemon.hello", "{}"))
        return reply


def make_world(path: Path, beats: int) -> None:
    """A repository, and a program as agent: it notes that it was started, and lives for so many tenths of a second."""
    notes, user = path / "notes", path / "user" / ".config" / "ramet"
    for folder in (path / "p", notes, user):
        folder.mkdir(parents=True)
    program = [sys.executable, "-I", "-S", str(AGENT), str(notes), str(beats)]
    drivers = {"default": "beating", "profiles": {"beating": {"driver": "command", "program": program}}}
    (user / "config.yaml").write_text(json.dumps({"drivers": drivers}))
    git = ["git", "-C", str(path / "p"), "-c", "user.name=n", "-c", "user.email=e@x"]
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "m"], check=True)


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait for a fact."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)
