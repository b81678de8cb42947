"""A home with the program that agents run at their hooks."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.hooks.listener import PATIENCE_SECONDS
from tests.pauses import check_logs

from ramet.config.places import find_places
from ramet.config.settings import DaemonSettings, HookSettings, Settings
from ramet.hooks.program import write_program


class Done(NamedTuple):
    """What a hook's process came to."""

    status: int
    out: str
    said: str


class Hook:
    """The program of one home, and what runs it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.places = find_places({"RAMET_HOME": str(home)}, Settings())
        self.socket = self.places.socket
        self.gaps = home / "gaps.jsonl"
        self.socket.parent.mkdir(parents=True)
        self.settings()

    def settings(self, *, autostart: bool = False, **hooks: object) -> None:
        """Write the program for other settings."""
        settings = Settings(daemon=DaemonSettings(autostart=autostart), hooks=HookSettings(**hooks))  # type: ignore[arg-type]
        self.program = write_program(settings, self.places)

    def start(
        self, vendor: str = "claude", environ: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [str(self.program), vendor],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"PATH": os.environ["PATH"], "HOME": str(self.home), **(environ or {})},
            cwd=cwd,
        )

    def run(
        self,
        payload: str | bytes,
        vendor: str = "claude",
        environ: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Done:
        """Run it as an agent would, to its end."""
        process = self.start(vendor, environ, cwd)
        given = payload if isinstance(payload, bytes) else payload.encode()
        out, said = process.communicate(given, PATIENCE_SECONDS)
        return Done(process.returncode, out.decode(), said.decode())

    def imports(self, payload: str) -> set[str]:
        """The modules that a whole run loads."""
        command = [sys.executable, "-I", "-S", "-X", "importtime", str(self.program), "claude"]
        done = subprocess.run(
            command, input=payload.encode(), capture_output=True, check=True, timeout=PATIENCE_SECONDS
        )
        return imported(done.stderr.decode())


def imported(report: str) -> set[str]:
    """The modules that `-X importtime` tells of."""
    rows = [line.rpartition("|")[2].strip() for line in report.splitlines() if line.startswith("import time:")]
    return {row for row in rows if row != "imported package"}


@pytest.fixture
def hook(request: pytest.FixtureRequest) -> Iterator[Hook]:
    """A home with a short path, as a socket needs it."""
    home = Path(tempfile.mkdtemp(prefix="ramet-"))
    yield Hook(home)
    check_logs(request, home)
    shutil.rmtree(home, ignore_errors=True)
