"""Ramet's home is for its owner alone, whichever command makes it."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.command_line import CommandLine

_FIRST = {
    "hooks": ("hooks", "install", "--agent", "claude", "--yes"),
    "init": ("init", "--agent", "claude"),
    "trust": ("trust", "--yes"),
    "daemon": ("ps",),
}


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    before = os.umask(0o002)
    yield
    os.umask(before)


@pytest.mark.parametrize("first", _FIRST)
def test_whichever_command_comes_first_the_home_has_mode_0700(ramet: CommandLine, first: str) -> None:
    ramet.environ["RAMET_HOME"] = str(ramet.home / "above" / "ramet")
    (ramet.cwd / ".git").mkdir()
    (ramet.cwd / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (ramet.cwd / "ramet.yaml").write_text("daemon: {autostart: true}\n")
    (ramet.cwd / "ramet.yaml").chmod(0o644)
    ramet.cwd.chmod(0o755)
    ramet(*_FIRST[first])
    made = [path for path in (ramet.home / "above").rglob("*") if not path.is_socket()]
    others = {str(path): oct(mode) for path in made if (mode := stat.S_IMODE(path.lstat().st_mode)) & 0o077}
    assert others == {}
    assert _mode(ramet.home / "above" / "ramet") == 0o700


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)
