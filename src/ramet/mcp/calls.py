"""What each tool does: a few operations of the daemon, in the name of the agent's session."""

import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from ramet.errors import DaemonStopping, DaemonUnreachable, RametError, UnknownMethod
from ramet.mcp import arguments
from ramet.mcp.budget_view import describe_budget
from ramet.mcp.results import ANSWER_CHARACTERS, Answer, bounded, failed, is_over, refused, shorten
from ramet.mcp.uplink import Uplink
from ramet.model.spawn.child import SpawnResult
from ramet.protocol.history.child_branches import Report
from ramet.protocol.hooks.notes import AppendLog
from ramet.protocol.memory.recall import Recall
from ramet.protocol.record.budgets import GetBudget
from ramet.protocol.record.daily_budgets import ListBudgets
from ramet.protocol.record.efforts import EnterPhase
from ramet.protocol.spawn.children import ReportSession, SpawnAgents
from ramet.protocol.work.queue import GetWork

_FIRST_SECONDS = 1
"""How long the spawn itself waits for its children. It must be the same whenever the request is repeated, so it is the
least that may be asked for; the rest is waited for afterwards.
"""


class Calls:
    """The tools of one agent. A call is answered within `seconds`, as far as the daemon answers."""

    def __init__(self, uplink: Uplink, seconds: float) -> None:
        self._uplink = uplink
        self.seconds = seconds
        self._tools: dict[str, Callable[[dict[str, Any]], Awaitable[Answer]]] = {
            "spawn_agent": self._spawn,
            "await_sessions": self._await_sessions,
            "report": self._report,
            "read_output": self._read_output,
            "recall": self._recall,
            "budget": self._budget,
            "log": self._log,
            "phase": self._phase,
        }

    async def call(self, name: str, given: dict[str, Any], native_id: str | None = None) -> Answer:
        """What a tool answers. An agent's mistakes and a daemon's refusals are answers, too. `native_id` is the
        program's own id of the session that calls, if the call says so.
        """
        try:
            if name not in self._tools:
                raise UnknownMethod(f"there is no tool {name!r}", fix=f"the tools are: {', '.join(self._tools)}")
            await self._uplink.find_session(native_id, self.seconds)
            return await self._tools[name](given)
        except RametError as error:
            return refused(error, given) if name == "spawn_agent" else failed(error)

    async def _spawn(self, given: dict[str, Any]) -> Answer:
        asked, deadline = arguments.check_spawn(given), time.monotonic() + self.seconds
        request = SpawnAgents(
            agents=asked.children,
            parent_session_id=self._uplink.session,
            wait=asked.wait,
            timeout_seconds=_FIRST_SECONDS if asked.wait else None,
            idempotency_key=uuid.uuid4().hex,
        )
        results = (await self._uplink.ask(request, self.seconds)).results
        if asked.wait:
            results = await self._wait_for(results, deadline)
        return Answer(shorten(results[0])) if asked.is_single else bounded(results)

    async def _wait_for(self, results: list[SpawnResult], deadline: float) -> list[SpawnResult]:
        """The results when all have ended, or the time is over. A created child stays known in any case."""
        ids = [each.child_session_id for each in results if each.child_session_id is not None and not is_over(each)]
        if not ids or time.monotonic() >= deadline:
            return results
        try:
            found = await self._uplink.wait(ids, deadline - time.monotonic())
        except (DaemonUnreachable, DaemonStopping):
            return results
        later = {result.child_session_id: result for result in found}
        return [later.get(result.child_session_id, result) for result in results]

    async def _await_sessions(self, given: dict[str, Any]) -> Answer:
        asked = arguments.check(arguments.AwaitSessions, given)
        seconds = min(self.seconds, asked.timeout_seconds or self.seconds)
        return bounded(await self._uplink.wait(asked.session_ids, seconds))

    async def _report(self, given: dict[str, Any]) -> Answer:
        report = arguments.check(Report, given)
        request = ReportSession(report=report, session_id=self._uplink.session, idempotency_key=uuid.uuid4().hex)
        await self._uplink.ask(request, self.seconds)
        return Answer({"status": "reported"})

    async def _read_output(self, given: dict[str, Any]) -> Answer:
        asked = arguments.check(arguments.ReadOutput, given)
        effort = await self._uplink.ask(GetWork(effort_id=asked.effort_id), self.seconds)
        output, end = effort.output_content, asked.offset + ANSWER_CHARACTERS
        return Answer(
            {
                "effortId": effort.id,
                "skill": effort.skill,
                "outcome": effort.outcome,
                "output": None if output is None else output[asked.offset : end],
                "nextOffset": end if output is not None and end < len(output) else None,
            }
        )

    async def _recall(self, given: dict[str, Any]) -> Answer:
        asked = arguments.check(arguments.Recall, given)
        request = Recall(query=asked.query, mode=asked.mode, session_id=self._uplink.session)
        return Answer((await self._uplink.ask(request, self.seconds)).text)

    async def _budget(self, given: dict[str, Any]) -> Answer:
        arguments.check(arguments.Nothing, given)
        session = self._uplink.session
        own = await self._uplink.ask(GetBudget(session_id=session), self.seconds)
        days = await self._uplink.ask(ListBudgets(session_id=session), self.seconds)
        return Answer(describe_budget(own, days.items))

    async def _phase(self, given: dict[str, Any]) -> Answer:
        asked = arguments.check(arguments.EnterPhase, given)
        request = EnterPhase(
            effort_id=None,
            session_id=self._uplink.session,
            label=asked.label,
            proof=asked.proof,
            reason=asked.reason,
            idempotency_key=uuid.uuid4().hex,
        )
        entered = await self._uplink.ask(request, self.seconds)
        return Answer({"phase": entered.current_phase, "already": entered.already, "next": entered.next_phase})

    async def _log(self, given: dict[str, Any]) -> Answer:
        asked = arguments.check(arguments.Log, given)
        request = AppendLog(text=asked.text, session_id=self._uplink.session, idempotency_key=uuid.uuid4().hex)
        logged = await self._uplink.ask(request, self.seconds)
        return Answer({"status": "logged", "path": logged.path})
