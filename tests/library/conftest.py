"""Programs that use the library, each with a home of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.pauses import check_logs


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user who has configured nothing and works in an empty directory."""
    for variable in [name for name in os.environ if name.startswith(("RAMET_", "XDG_"))]:
        monkeypatch.delenv(variable)
    project = tmp_path / "shop"
    project.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("RAMET_HOME", str(tmp_path / "ramet"))
    monkeypatch.chdir(project)
    return tmp_path


@pytest.fixture
def daemon_home(request: pytest.FixtureRequest, home: Path) -> Iterator[Path]:
    """The same, where a daemon may be started: it is stopped at the end."""
    yield home
    command = [str(Path(sys.executable).with_name("ramet")), "daemon", "stop"]
    subprocess.run(command, capture_output=True, timeout=60, check=True)
    check_logs(request, home)
