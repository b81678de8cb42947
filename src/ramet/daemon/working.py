"""Work that was asked for over a connection: answered when it is done, and given up when the connection goes.

What runs by then goes on: the crew looks after it, whoever asked.
"""

import asyncio
from typing import Any

from ramet.daemon.calls import Call
from ramet.daemon.connection import Connection
from ramet.errors import RametError
from ramet.protocol.work import Killed, RunWork, StopWork, WorkDone
from ramet.runner.crew import Crew


class Working:
    """What the server knows of the crew."""

    def __init__(self, crew: Crew, loop: asyncio.AbstractEventLoop) -> None:
        self._crew = crew
        self._loop = loop
        self._asked: dict[Call, asyncio.Task[None]] = {}

    @property
    def is_idle(self) -> bool:
        return self._crew.is_idle

    def look_again(self) -> None:
        """There may be something to do."""
        self._crew.look_again()

    def run(self, call: Call) -> None:
        """The operation `work.run`."""
        self._asked[call] = self._loop.create_task(self._run(call))

    def stop(self, call: Call) -> None:
        """The operation `work.stop`."""
        assert isinstance(call.request, StopWork)  # noqa: S101
        self._crew.stop(call.request)
        call.done(WorkDone(finished={}, why="stopped"))

    def kill(self, call: Call, reply: Any) -> None:
        """What is asked to end is told so at once; elsewhere its keeper hears of it when it renews its lease."""
        if isinstance(reply, Killed) and reply.is_running and reply.stop_request:
            self._crew.end(reply.id, reply.stop_request)
        call.done(reply)

    def left(self, connection: Connection) -> None:
        """Nobody waits for this work any more: claim no more of it."""
        for call, task in self._asked.items():
            if call.connection is connection:
                task.cancel()

    def close(self) -> None:
        """The daemon stops: answer everybody."""
        for task in self._asked.values():
            task.cancel()

    async def _run(self, call: Call) -> None:
        assert isinstance(call.request, RunWork)  # noqa: S101
        try:
            reply: Any = await self._crew.run(call.request)
        except asyncio.CancelledError:
            reply = WorkDone(finished={}, why="daemon_stopping")
        except RametError as error:
            reply = error
        finally:
            del self._asked[call]
        call.done(reply)
