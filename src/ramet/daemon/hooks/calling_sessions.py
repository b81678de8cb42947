"""Which session a process belongs to: the one that is open in the nearest program above it.

A program that tells its tools nothing about the session is known by its process: its hooks have named that one, and the
kernel says which process calls here. What a caller says can only choose among the sessions of its own program.
"""

import asyncio
from collections.abc import Iterable
from typing import NoReturn

import psutil

from ramet.daemon.wire.answers import Later, answers
from ramet.daemon.wire.calls import Call
from ramet.errors import SessionNotFound
from ramet.protocol.hooks.processes import CallingSession, FindCallingSession, ListProcesses, OpenProcess
from ramet.protocol.operation import AsyncAsk
from ramet.protocol.record.sessions import GetSession
from ramet.runner.processes.process_identity import is_alive


class CallingSessions:
    """Finds the sessions of callers on one machine."""

    def __init__(self, ask: AsyncAsk, host: str | None, loop: asyncio.AbstractEventLoop) -> None:
        self._ask = ask
        self._host = host
        self._loop = loop
        self._answering: set[asyncio.Task[None]] = set()

    @answers(FindCallingSession)
    def answer(self, call: Call, request: FindCallingSession) -> Later[CallingSession]:
        """Whose session the calling process belongs to."""
        task = self._loop.create_task(self._answer(call, request))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)
        return Later()

    async def _answer(self, call: Call, request: FindCallingSession) -> None:
        try:
            call.done(CallingSession(session_id=await self._find(request, call.connection.peer_pid)))
        except Exception as error:  # noqa: BLE001 - the caller waits for an answer
            call.done(error)

    async def _find(self, request: FindCallingSession, caller: int | None) -> int:
        """The session of a process."""
        known = (await self._ask(ListProcesses(host=self._host))).items
        found = [] if caller is None else await asyncio.to_thread(_find_above, caller, known)
        if len(found) > 1 and request.native_id is not None:
            found = [each for each in found if await self._native_id(each) == request.native_id] or found
        if len(found) != 1:
            _refuse(found)
        return found[0]

    async def _native_id(self, session_id: int) -> str | None:
        return (await self._ask(GetSession(session_id=session_id))).native_id


def _find_above(caller: int, known: Iterable[OpenProcess]) -> list[int]:
    """The sessions that are open in the nearest process above a caller that has any."""
    try:
        above = [each.pid for each in psutil.Process(caller).parents()]
    except psutil.Error:
        return []
    for pid in above:
        found = [each.session_id for each in known if each.pid == pid and is_alive(pid, each.started)]
        if found:
            return found
    return []


def _refuse(found: list[int]) -> NoReturn:
    if found:
        names = ", ".join(f"s{each}" for each in found)
        raise SessionNotFound(
            f"several sessions are open in the program that called this: {names}",
            fix="end the others: `ramet session finish`",
        )
    raise SessionNotFound(
        "the program that called this has no session: its hooks have not reported one",
        fix="run `ramet hooks status` in the directory of the agent, then start the agent again",
    )
