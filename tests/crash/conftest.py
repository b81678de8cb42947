"""A database of its own for each test, and no process left behind."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.crash.daemons import Home


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory with a short path: a socket's name may have about a hundred bytes."""
    path = Path(tempfile.mkdtemp(prefix="ramet-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def sqlite_home(place: Path) -> Iterator[Home]:
    home = Home(place / "home")
    yield home
    home.close()


@pytest.fixture
def postgres_home(place: Path, postgres_url: str) -> Iterator[Home]:
    home = Home(place / "home", postgres_url)
    yield home
    home.close()
