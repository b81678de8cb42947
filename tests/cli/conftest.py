"""Command lines, each test with a home of its own."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.command_line import CommandLine
from tests.pauses import check_logs

from ramet.client.stop import stop
from ramet.errors import RametError

STOP_TIMEOUT_SECONDS = 60


@pytest.fixture
def home(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A short path: a socket's name may have about a hundred bytes."""
    path = Path(tempfile.mkdtemp(prefix="ramet-"))
    yield path
    check_logs(request, path)
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def offline(home: Path) -> CommandLine:
    """Commands that need no daemon."""
    cwd = home / "site"
    cwd.mkdir()
    return CommandLine(home, cwd)


@pytest.fixture
def ramet(offline: CommandLine) -> Iterator[CommandLine]:
    """Commands with the daemon that the first of them starts."""
    yield offline
    try:
        sockets = (offline.home / "ramet" / "run").glob("*.sock")
        stopped = [stop(str(socket), None, STOP_TIMEOUT_SECONDS) for socket in sockets]
    except (OSError, RametError):  # a test may leave a daemon elsewhere, or one that does not answer
        stopped = []
    if not any(stopped):
        offline("daemon", "stop")


@pytest.fixture
def shop(ramet: CommandLine) -> CommandLine:
    """Commands in a git repository with one commit, whose hash is always the same."""
    dates = {f"GIT_{role}_DATE": "2026-01-05T08:00:00Z" for role in ("AUTHOR", "COMMITTER")}
    for words in (
        ["init", "-q", "-b", "main"],
        ["config", "user.name", "Somebody"],
        ["config", "user.email", "somebody@example.com"],
        ["commit", "-q", "--allow-empty", "-m", "A shop"],
    ):
        subprocess.run(
            ["git", *words], cwd=ramet.cwd, env={**ramet.environ, **dates, "GIT_CONFIG_GLOBAL": "/dev/null"}, check=True
        )
    return ramet
