"""Waiting until a process is gone that need not be our child, and asking the kernel to tell where it can."""

import asyncio
import os
from contextlib import suppress

from ramet.runner.processes import process_tree

_LOOK_SECONDS = 0.2


async def until_gone(pid: int, started_at: float) -> None:
    """Return when the process of that pid and start is gone; where it is a child of ours, it is reaped."""
    if not process_tree.is_alive(pid, started_at):
        _reap(pid)
        return
    try:
        descriptor = os.pidfd_open(pid)
    except (AttributeError, OSError):
        await _look_until_gone(pid, started_at)
    else:
        await _wait_for(descriptor)
    _reap(pid)


async def _wait_for(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    gone = asyncio.Event()
    loop.add_reader(descriptor, gone.set)
    try:
        await gone.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


async def _look_until_gone(pid: int, started_at: float) -> None:
    while process_tree.is_alive(pid, started_at):  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(_LOOK_SECONDS)


def _reap(pid: int) -> None:
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
