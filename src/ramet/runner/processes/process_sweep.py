"""Killing what is replaced by its own child faster than it can be found: such a line of processes keeps its group.

Looking at every process takes longer than one of them lives. But what was looked at once need not be looked at again,
so a sweep sees each new process within a millisecond or two of its start, and kills the group that it is in.
"""

import os
import signal
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from ramet.protocol.work.keepers import MARKER

_PROCESSES = "/proc"
_QUIET_SECONDS = 0.25
"""So long without a new one, and the line has ended."""
_LONGEST_SECONDS = 5.0


def sweep(instance: str, spared: Collection[int]) -> None:
    """Kill the group of everything new that carries the instance, until nothing new does. Only where there is /proc."""
    if not Path(_PROCESSES, "self").exists():
        return
    mark = f"{MARKER}={instance}".encode()
    strangers = {os.getpid(), *spared}
    spared_groups = {os.getpgrp(), *(group for pid in spared if (group := _group_of(pid)) is not None)}
    start = last = time.monotonic()
    while (now := time.monotonic()) < min(last + _QUIET_SECONDS, start + _LONGEST_SECONDS):
        for pid in _fresh(strangers):
            strangers.add(pid)
            if _carries(pid, mark) and (group := _group_of(pid)) is not None and group not in spared_groups:
                last = now
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(group, signal.SIGKILL)


def _fresh(known: set[int]) -> list[int]:
    return [pid for name in os.listdir(_PROCESSES) if name.isdigit() and (pid := int(name)) not in known]  # noqa: PTH208


def _carries(pid: int, mark: bytes) -> bool:
    try:
        return mark in Path(_PROCESSES, str(pid), "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except OSError:
        return None
