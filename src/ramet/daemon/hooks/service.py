"""Hooks of agents that people started themselves: a vendor's payload in, one transaction, the vendor's answer out.

Whatever goes wrong here, the agent goes on: the answer is then nothing at all, and the failure is logged and counted.
Hooks are hints; what a failed one would have said is in the transcript, which is read behind them.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from ramet.daemon.hooks import gaps
from ramet.daemon.hooks.disk_lookups import BOUNDARIES, DiskLookups
from ramet.daemon.hooks.repeated_calls import RepeatedCalls
from ramet.daemon.hooks.timings import Timings
from ramet.daemon.hooks.unrecorded_sessions import UnrecordedSessions
from ramet.daemon.wire.answers import Later, answers
from ramet.daemon.wire.calls import Call
from ramet.errors import DatabaseDamaged, InvalidParams, RametError
from ramet.model.hooks.command_file import SKILL_TOOL
from ramet.model.hooks.hook import HookAnswer, HookEvent
from ramet.model.principal import RUNNER, USER, asking_session
from ramet.model.record.project import place_inside
from ramet.protocol.hooks.hooks import (
    HookCall,
    HookFacts,
    HookOutput,
    HookProcess,
    HookReply,
    HookTimings,
    ListTimings,
    RecordHook,
)
from ramet.protocol.operation import R, Request
from ramet.protocol.record.sessions import GetSession
from ramet.protocol.work.attempts import WorkChain
from ramet.protocol.work.queue import GetWork
from ramet.vendors import registry
from ramet.vendors.contract.hooks import payload as hook_payload

log = logging.getLogger(__name__)

_TOUCHING = ("Read", "Edit", "MultiEdit", "Write", "NotebookEdit", "apply_patch", SKILL_TOOL)
"""The tools after which the directives of a file's directory, or the files of a skill, may have to be told."""

_UNKNOWN = HookEvent(vendor="unknown", moment="other", name="unknown", native_id="")
"""What a program tells whose words we do not know."""

Gather = Callable[[HookEvent], HookFacts]
"""What the disk says about an event; called on a thread."""
FindProcess = Callable[[str, int, int | None], HookProcess | None]
"""The process of a vendor's program, by who called and what it says of itself; called on a thread."""


class Asker(Protocol):
    """Who asks the engine."""

    async def ask(self, request: Request[R], principal: str = RUNNER) -> R:
        """The reply, in the name of the principal."""


class Reading(Protocol):
    """Who reads transcripts behind the hooks."""

    def hear(self, event: HookEvent, reply: HookReply) -> None:
        """An event was recorded: its transcript may say more. Never waits."""

    async def read_now(self, event: HookEvent) -> None:
        """Read the event's transcript to its end."""


class HookService:
    """Answers the hooks. Everything here runs on the event loop's thread, but for what looks at the disk."""

    def __init__(  # noqa: PLR0913 - whoever it asks, and the file with what it could not write down
        self,
        requester: Asker,
        gather: Gather,
        find_process: FindProcess,
        lookers: DiskLookups,
        loop: asyncio.AbstractEventLoop,
        *,
        is_gated: bool = False,
        reading: Reading | None = None,
        unrecorded: UnrecordedSessions | None = None,
        gap_file: Path | None = None,
    ) -> None:
        """`is_gated`: whether directives must be known before a change, and not only after it. `unrecorded`: sessions
        outside registered projects; None if all are recorded. `gap_file`: has the hooks that could not be recorded.
        """
        self._requester = requester
        self._gather = gather
        self._find_process = find_process
        self._lookers = lookers
        self._loop = loop
        self._factual_tool_moments = ("pre_tool_use", "post_tool_use") if is_gated else ("post_tool_use",)
        self._reading = reading
        self._unrecorded = unrecorded
        self._gap_file = gap_file
        self._repeated = RepeatedCalls()
        self._vendors = registry.hooks()  # imported now, so that no agent waits for it
        self._timings = Timings()
        self._answering: set[asyncio.Task[None]] = set()

    @answers(HookCall)
    def run(self, call: Call, request: HookCall) -> Later[HookOutput]:
        """Answer a hook. What it starts goes on without the connection: the hook is written down all the same."""
        task = self._loop.create_task(self._answer(call, request, time.perf_counter()))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)
        return Later()

    @answers(ListTimings)
    def timings(self, call: Call, request: ListTimings) -> HookTimings:  # noqa: ARG002
        """How long hooks took."""
        return self._timings.show()

    def close(self) -> None:
        """Leave nothing behind that was begun for a hook. Called after the last answer."""
        self._lookers.close()

    async def _answer(self, call: Call, request: HookCall, start: float) -> None:
        vendor = self._vendors.get(request.vendor)
        event, output, has_failed = _UNKNOWN, HookOutput(), False
        try:
            if vendor is not None:
                event = vendor.read(hook_payload.parse(request.payload))
            event = await self._confine(call.connection.principal or USER, event)
            reply = None if self._is_needless(call, request, event) else await self._record(call, request, event)
            if vendor is not None and reply is not None:
                printed, status = vendor.answer(event, reply.answer)
                output = HookOutput(output=printed, status=status)
        except Exception as error:  # noqa: BLE001 - whatever fails, the agent goes on
            has_failed = True
            _log_failure(event, error)
            if isinstance(error, DatabaseDamaged) and self._gap_file is not None:
                gaps.add(self._gap_file, request.vendor, hook_payload.parse(request.payload), request.pid)
        self._timings.add(event.vendor, event.name, time.perf_counter() - start, has_failed=has_failed)
        call.done(output)
        call.connection.flush()  # now, and not after what else this turn of the event loop has to do

    def _is_needless(self, call: Call, request: HookCall, event: HookEvent) -> bool:
        """Whether an event is known already, or that of a session that is not recorded."""
        if self._repeated.is_repeated(event, request.payload, call.connection.peer_pid):
            return True
        return self._unrecorded is not None and self._unrecorded.is_known(event)

    async def _confine(self, principal: str, event: HookEvent) -> HookEvent:
        """The event, without the paths that would lead us out of what is the agent's, if it came with a token: in its
        sandbox it cannot read what we can.
        """
        own = asking_session(principal)
        if own is None:
            return event
        session = await self._requester.ask(GetSession(session_id=own), principal)
        effort = await self._requester.ask(GetWork(effort_id=session.effort_id), principal)
        roots = [root for root in (effort.workspace, effort.worktree) if root]
        if not roots:  # an agent in a project without a repository
            roots.append((await self._requester.ask(WorkChain(effort_id=effort.id), principal)).project_path)
        is_inside = event.cwd is not None and place_inside(event.cwd, roots[0], roots) is not None
        return replace(
            event,
            cwd=event.cwd if is_inside else None,
            transcript_path=_named_after(session.native_id, event.transcript_path),
            agent_transcript_path=_named_after(session.native_id, event.agent_transcript_path),
        )

    async def _record(self, call: Call, request: HookCall, event: HookEvent) -> HookReply:
        """Write it down, with what the disk says where that matters, and behind what was said before."""
        if self._reading is not None and event.moment in BOUNDARIES:
            await self._reading.read_now(event)
        facts = HookFacts()
        if event.moment in BOUNDARIES:
            facts = await self._look(call, request, event)
        elif event.moment in self._factual_tool_moments and event.tool in _TOUCHING:
            facts = await self._look_up_rules(event)
        try:
            reply = await self._ask(call, request, event, facts)
            if reply.wants_facts:
                reply = await self._ask(call, request, event, await self._look(call, request, event))
        except InvalidParams:  # it says too little to know its session by; that it came is written down
            return await self._ask(call, request, replace(event, native_id=""), HookFacts())
        if reply.is_ignored and self._unrecorded is not None:
            self._unrecorded.note(event)
            return replace(reply, answer=HookAnswer(notice=self._unrecorded.hint(event, facts)))
        if self._reading is not None:
            self._reading.hear(event, reply)
        return reply

    async def _ask(self, call: Call, request: HookCall, event: HookEvent, facts: HookFacts) -> HookReply:
        """Record it, in the name of the agent whose token the connection has shown, if it has."""
        principal = call.connection.principal or USER
        own = asking_session(principal)
        session = request.session if own is None else own
        record = RecordHook(
            event=event,
            facts=facts,
            session=session,
            agent=request.agent,
            pid=request.pid,
            only_registered=self._unrecorded is not None and own is None,
        )
        return await self._requester.ask(record, RUNNER if own is None else principal)

    async def _look(self, call: Call, request: HookCall, event: HookEvent) -> HookFacts:
        """What the machine says; next to nothing where it takes longer than an agent should wait for that."""
        caller = call.connection.peer_pid
        # The session is new, reopened or not told what it is told at its start: to the disk, this is a start.
        asked = event if event.moment in BOUNDARIES else replace(event, moment="session_start")

        def look() -> HookFacts:
            process = None if caller is None else self._find_process(event.vendor, caller, request.pid)
            return replace(self._gather(asked), process=process)

        return await self._lookers.look(event, look) or HookFacts(project=event.cwd)

    async def _look_up_rules(self, event: HookEvent) -> HookFacts:
        """Only the directives and the files of a skill, at a tool call. Whose it is would take as long again; it is
        asked of a new session.
        """
        facts = await self._lookers.look(event, lambda: self._gather(event))
        return HookFacts(directives=facts.directives, skill_files=facts.skill_files) if facts else HookFacts()


def _named_after(native_id: str | None, path: str | None) -> str | None:
    """A transcript's path, if it is that of a session or lies in its folder."""
    names = [] if path is None else path.split("/")
    is_own = native_id is not None and any(native_id in (name, name.partition(".")[0]) for name in names)
    return path if is_own and ".." not in names else None


def _log_failure(event: HookEvent, error: Exception) -> None:
    if isinstance(error, RametError):
        log.warning("hook let through event=%s/%s reason=%s", event.vendor, event.name, error.message)
    else:
        log.error("hook let through event=%s/%s", event.vendor, event.name, exc_info=error)
