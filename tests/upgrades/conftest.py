"""A world that several builds share: one home, one project, one agent program."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.pauses import check_logs
from tests.upgrades.builds import SOURCE, Installation, copy, extract, make_world

BEATS = 50


@pytest.fixture
def started() -> "list[subprocess.Popen[str]]":
    """The commands of the test, which end with it."""
    return []


@pytest.fixture
def world(request: pytest.FixtureRequest, started: "list[subprocess.Popen[str]]") -> Iterator[Path]:
    """A short path: a socket's name may have about a hundred bytes."""
    path = Path(tempfile.mkdtemp(prefix="ramet-"))
    make_world(path, BEATS)
    yield path
    Installation(SOURCE.parent, path, started)("daemon", "stop")
    for process in started:
        process.kill()
        process.communicate()
    check_logs(request, path)
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def this(world: Path, started: "list[subprocess.Popen[str]]") -> Installation:
    """The build that is tested."""
    return Installation(SOURCE.parent, world, started)


@pytest.fixture
def landed(world: Path, started: "list[subprocess.Popen[str]]", tmp_path: Path) -> Callable[[str], Installation]:
    """An earlier commit."""
    return lambda commit: Installation(extract(commit, tmp_path / commit), world, started)


@pytest.fixture
def copied(world: Path, started: "list[subprocess.Popen[str]]", tmp_path: Path) -> Callable[..., Installation]:
    """This build with another time, and with changes."""
    return lambda built_at, **changes: Installation(copy(tmp_path / str(built_at), built_at, **changes), world, started)
