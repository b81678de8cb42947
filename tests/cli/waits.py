"""Bounded waits for a fact, and a command that waits for a file."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cli.command_line import CommandLine

PATIENCE_SECONDS = 60


def wait_for(fact: Callable[[], Any]) -> Any:
    """What the fact comes to, once it is true."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (found := fact()):
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.05)
    return found


def gate(ramet: CommandLine) -> tuple[str, Path]:
    """A command that waits for a file, and the file."""
    file = ramet.home / "gate"
    return f"until [ -e {file} ]; do sleep 0.05; done; echo through", file
