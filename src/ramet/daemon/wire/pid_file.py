"""The pid file: who the daemon is, for people and for the refusal of a second one. The lock is what decides."""

import os
from pathlib import Path


def write_pid_file(path: Path) -> None:
    """Write our pid so that nobody ever reads half of it."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(f"{os.getpid()}\n")
    fresh.replace(path)


def read_pid_file(path: Path) -> int | None:
    """The pid of the daemon that wrote it, where that process still lives."""
    try:
        pid = int(path.read_text("ascii"))
    except (OSError, ValueError):
        return None
    return pid if _lives(pid) else None


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True
