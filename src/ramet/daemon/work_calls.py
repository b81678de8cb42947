"""Work that was requested over a connection: answered when it is done, and given up when the connection closes.

Running attempts continue: the crew looks after them in any case.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from msgspec import Raw
from msgspec.structs import replace

from ramet.clock import steady_seconds
from ramet.daemon.executors.requester import Requester
from ramet.daemon.wire.answers import Later, answers
from ramet.daemon.wire.calls import Call, unforeseen
from ramet.daemon.wire.connection import Connection
from ramet.errors import DaemonReplaced, DaemonStopping, InvalidParams, RametError
from ramet.model.principal import USER, asking_session
from ramet.model.record.effort import StopRequest
from ramet.model.spawn.child import SpawnResult
from ramet.protocol.landing.landings import RetryLanding, UndoLanding
from ramet.protocol.operation import AsyncAsk, Request, decode_reply
from ramet.protocol.spawn.children import AwaitChildren, Results, SpawnAgent, SpawnAgents
from ramet.protocol.work.attempts import Reported, ReportStream
from ramet.protocol.work.kills import CancelSpawn, Kill, Killed
from ramet.protocol.work.workers import RunWork, StopWork, WorkDone
from ramet.runner.attempts.crew import Crew
from ramet.runner.attempts.slot_loans import SlotLoans
from ramet.runner.landing.landing_queue import LandingQueue


class WorkCalls:
    """What the server knows of the crew."""

    def __init__(
        self,
        crew: Crew,
        slot_loans: SlotLoans,
        requester: Requester,
        loop: asyncio.AbstractEventLoop,
        landing_queue: LandingQueue,
    ) -> None:
        self._crew = crew
        self._slot_loans = slot_loans
        self._requester = requester
        self._loop = loop
        self.landing_queue = landing_queue
        self._asked: dict[Call, asyncio.Task[None]] = {}
        self._is_closed = False
        self.is_replaced = False
        """Whether the next daemon continues what is waited for here."""
        self.followers: dict[type[Request[Any]], Callable[[Call, Any], None]] = {
            Kill: self._killed,
            CancelSpawn: self._killed,
            SpawnAgent: self._spawned,
            SpawnAgents: self._spawned,
            ReportStream: self._reported,
            RetryLanding: self._queued_landing,
            UndoLanding: self._queued_landing,
        }
        """What is still done here when the engine has answered one of these, before the client gets the reply."""

    @property
    def is_idle(self) -> bool:
        return self._crew.is_idle

    def look_again(self) -> None:
        """There may be something to do."""
        self._crew.look_again()

    @answers(RunWork)
    def run(self, call: Call, request: RunWork) -> Later[WorkDone]:
        """Run what is queued until it is done, or until the connection goes."""
        self._start(call, self._run(request))
        return Later()

    @answers(StopWork)
    def stop(self, call: Call, request: StopWork) -> WorkDone:  # noqa: ARG002
        """Claim nothing more for the work that is named."""
        self._crew.stop(request)
        return WorkDone(finished={}, why="stopped")

    @answers(AwaitChildren)
    def wait(self, call: Call, request: AwaitChildren) -> Later[Results]:
        """Wait until children have ended."""
        asker = asking_session(call.connection.principal or USER)
        if asker in request.session_ids:
            raise InvalidParams(
                "a session cannot wait for itself",
                field="session_ids",
                value=asker,
                fix="name only sessions that it spawned",
            )
        self._start(call, self._wait(call, request.session_ids, request.timeout_seconds))
        return Later()

    def left(self, connection: Connection) -> None:
        """Nothing waits for this work any more: claim no more of it."""
        for call in [call for call in self._asked if call.connection is connection]:
            self._asked.pop(call).cancel()

    def close(self) -> None:
        """The daemon stops: answer everybody."""
        self._is_closed = True
        for task in self._asked.values():
            task.cancel()
        self._slot_loans.close()

    def _start(self, call: Call, work: Awaitable[Any]) -> None:
        self._asked[call] = self._loop.create_task(self._answer(call, work))

    async def _answer(self, call: Call, work: Awaitable[Any]) -> None:
        try:
            reply = await work
        except asyncio.CancelledError:
            reply = DaemonStopping() if self._is_closed else RametError("the connection was closed")
        except RametError as error:
            reply = error
        except Exception as error:  # noqa: BLE001 - whatever fails, whoever asked is answered
            reply = unforeseen(error)
        finally:
            self._asked.pop(call, None)
        call.done(reply)

    async def _run(self, request: RunWork) -> WorkDone:
        try:
            return await self._crew.run(request)
        except asyncio.CancelledError:
            if self.is_replaced:
                raise DaemonReplaced from None
            return WorkDone(finished={}, why="daemon_stopping")

    # What follows an answer of the engine's.

    def _queued_landing(self, call: Call, reply: Any) -> None:
        self.landing_queue.wake()
        call.done(reply)

    def _killed(self, call: Call, reply: Any) -> None:
        """The keeper of an effort that should stop is notified at once; elsewhere it learns this when it renews its
        lease.
        """
        if isinstance(reply, Killed) and (reply.is_running or reply.also):
            stop = reply.stop_request or StopRequest(reason=getattr(call.request, "reason", None))
            self._crew.end([reply.id, *reply.also], stop)
        call.done(reply)

    def _reported(self, call: Call, reply: Any) -> None:
        """A keeper has renewed its lease: at the latest when its report came in."""
        if isinstance(reply, Reported) and reply.is_renewed:
            waited_seconds = self._loop.time() - call.started
            self._crew.guard.renewed(call.request.instance, steady_seconds() - waited_seconds)  # type: ignore[attr-defined]
        call.done(reply)

    def _spawned(self, call: Call, reply: Any) -> None:
        """Children that are waited for: the answer comes when they have ended."""
        request = call.request
        assert isinstance(request, SpawnAgent | SpawnAgents)  # noqa: S101
        if isinstance(reply, Raw):  # the request was made before, and its children are there
            reply = decode_reply(call.operation.request, reply)
        children = _unfinished(reply)
        if not (request.wait and children):
            return call.done(reply)
        if not call.connection.is_open:
            self._slot_loans.forsake(children, self._ask_for(call))
            return call.done(reply)
        return self._start(call, self._wait_for(call, reply, children, request.timeout_seconds))

    async def _wait_for(self, call: Call, reply: Any, children: Sequence[int], seconds: int | None) -> Any:
        """The engine's reply with what the children came to."""
        found = await self._wait(call, children, seconds)
        if isinstance(reply, SpawnResult):
            return found.results[0]
        ended = {result.child_session_id: result for result in found.results}
        return replace(reply, results=[ended.get(result.child_session_id, result) for result in reply.results])

    async def _wait(self, call: Call, children: Sequence[int], seconds: int | None) -> Results:
        environment = call.connection.environment
        return await self._slot_loans.wait(children, seconds, self._ask_for(call), environment)

    def _ask_for(self, call: Call) -> AsyncAsk:
        """In the name of the caller."""
        return partial(self._requester.ask, principal=call.connection.principal or USER)


def _unfinished(reply: Any) -> list[int]:
    results = [reply] if isinstance(reply, SpawnResult) else reply.results if isinstance(reply, Results) else []
    return [
        result.child_session_id for result in results if result.child_session_id is not None and result.outcome is None
    ]
