"""A scripted daemon, and keepers that end with their test."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.keeper.held import Held, make_spec
from tests.keeper.scripted_daemon import ScriptedDaemon

Keep = Callable[..., Held]


@pytest.fixture
def place() -> Iterator[Path]:
    """A short path: a socket's name may have about a hundred bytes."""
    path = Path(tempfile.mkdtemp(prefix="ramet-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def daemon(place: Path) -> Iterator[ScriptedDaemon]:
    """A daemon that listens."""
    daemon = ScriptedDaemon(place / "s")
    daemon.come()
    yield daemon
    daemon.go()


@pytest.fixture
def keep(place: Path) -> Iterator[Keep]:
    """Start a keeper; its arguments are those of `make_spec` behind the socket."""
    started: list[Held] = []
    folder = place / "keepers"
    folder.mkdir()

    def start(agent: str | list[str], **changes: Any) -> Held:
        started.append(Held(folder, make_spec(folder, place / "s", agent, **changes)))
        return started[-1]

    yield start
    for held in started:
        held.close()
