"""A daemon in the hands of a test, and the server that asks it."""

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.cli.command_line import CommandLine
from tests.mcp.scripted_daemon import Respond, ScriptedDaemon

Start = Callable[[Respond], ScriptedDaemon]


@pytest.fixture
def scripted() -> Iterator[Start]:
    """Starts a daemon that answers as it is told. A short path: a socket's name may have about a hundred bytes."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="ramet-"))

        def start(respond: Respond) -> ScriptedDaemon:
            daemon = ScriptedDaemon(Path(folder) / "s", respond)
            stack.callback(daemon.go)
            daemon.come()
            return daemon

        yield start


@pytest.fixture
def shop() -> Iterator[CommandLine]:
    """The command line in a git repository, with the daemon that its first command starts."""
    with tempfile.TemporaryDirectory(prefix="ramet-", ignore_cleanup_errors=True) as home:
        (Path(home) / "site").mkdir()
        ramet = CommandLine(Path(home), Path(home) / "site")
        for words in (
            ["init", "-q", "-b", "main"],
            ["config", "user.name", "Somebody"],
            ["config", "user.email", "somebody@example.com"],
            ["commit", "-q", "--allow-empty", "-m", "A shop"],
        ):
            environ = {**ramet.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}
            subprocess.run(["git", *words], cwd=ramet.cwd, env=environ, check=True)
        yield ramet
        ramet("daemon", "stop")
