"""The processes of agents that people started themselves: which they are, and when they are gone.

Not every program reports its end, and a killed one never does. So the end of a session is also found by checking its
process. It is known by its pid and its start, because a pid alone is reused, and only on the machine that it runs on.
What cannot be known for certain is left alone.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import psutil

from ramet.errors import DaemonStopping
from ramet.protocol.hooks.hooks import HookProcess
from ramet.protocol.hooks.processes import ListProcesses, OpenProcess, Vanish
from ramet.protocol.operation import AsyncAsk
from ramet.runner.processes.process_identity import is_alive, started_at

log = logging.getLogger(__name__)

_INTERVAL_SECONDS = 5.0
_SHELLS = frozenset({"sh", "ash", "bash", "dash", "fish", "ksh", "zsh"})


def find_process(vendor: str, caller: int, pid: int | None, host: str | None) -> HookProcess | None:
    """The process of a program, one of whose hooks has called us. `caller` is the process that the kernel names; `pid`
    is what the program says, which is a number of another namespace if it runs in a container.
    """
    try:
        above = psutil.Process(caller).parents()
        named = [each for each in above if each.name().startswith(vendor)]
        told = [each for each in above if each.pid == pid and each.pid > 1 and each.name() not in _SHELLS]
    except psutil.Error:
        return None
    found = next(iter(named or told), None)
    start = None if found is None else started_at(found.pid)
    return None if found is None or start is None else HookProcess(pid=found.pid, started=start, host=host)


def find_former_process(pid: int, before: float, host: str | None) -> HookProcess:
    """The process that had a pid at an instant that is past; another one that has it now is not meant."""
    start = started_at(pid)
    return HookProcess(pid=pid, started=start if start is not None and start <= before else 0.0, host=host)


class VanishedAgents:
    """Looks now and then whether the processes of open sessions are still there."""

    def __init__(self, ask: AsyncAsk, read: Callable[[int], Awaitable[None]], host: str | None) -> None:
        """`read` reads a session's transcripts to their ends: they say whether it had answered."""
        self._ask = ask
        self._read = read
        self._host = host

    async def follow(self) -> None:
        """Look until it is cancelled."""
        while True:
            await asyncio.sleep(_INTERVAL_SECONDS)
            try:
                await self._look()
            except DaemonStopping:
                pass
            except Exception as error:
                log.warning("processes could not be checked error=%s", type(error).__name__, exc_info=error)

    async def _look(self) -> None:
        found = await self._ask(ListProcesses(host=self._host))
        for process in await asyncio.to_thread(_list_gone, found.items):
            try:
                await self._end(process)
            except DaemonStopping:
                raise
            except Exception as error:  # the next look finds it again, and those behind it do not wait for that
                log.warning(
                    "session not ended id=%d error=%s", process.session_id, type(error).__name__, exc_info=error
                )

    async def _end(self, process: OpenProcess) -> None:
        await self._read(process.session_id)
        await self._ask(Vanish(session_id=process.session_id, pid=process.pid, started=process.started))
        log.info("program gone session=%d pid=%d", process.session_id, process.pid)


def _list_gone(processes: list[OpenProcess]) -> list[OpenProcess]:
    return [each for each in processes if not is_alive(each.pid, each.started)]
