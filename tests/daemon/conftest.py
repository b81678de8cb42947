"""Servers that end with their test."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.harness import Client, RunningServer, running_server
from tests.daemon.process import Home
from tests.pauses import check_logs, check_meters

Serve = Callable[..., RunningServer]


@pytest.fixture
def run_directory() -> Iterator[Path]:
    """A short path: a socket's name may have about a hundred bytes, and pytest's own directories are long."""
    path = Path(tempfile.mkdtemp(prefix="ramet-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def serve(request: pytest.FixtureRequest, run_directory: Path) -> Iterator[Serve]:
    """Start a server; its arguments are those of `running_server` behind the path."""
    started: list[RunningServer] = []
    with ExitStack() as stack:

        def start(**arguments: Any) -> RunningServer:
            started.append(stack.enter_context(running_server(run_directory / "s", **arguments)))
            return started[-1]

        yield start
    check_meters(request, (server.meter.pauses for server in started))


@pytest.fixture
def server(serve: Serve) -> RunningServer:
    return serve()


@pytest.fixture
def client(server: RunningServer) -> Client:
    return server.connect()


@pytest.fixture
def home(request: pytest.FixtureRequest, run_directory: Path) -> Iterator[Home]:
    """Somewhere for a real daemon's database; its processes end with the test."""
    home = Home(run_directory)
    yield home
    home.close()
    check_logs(request, home.path)
