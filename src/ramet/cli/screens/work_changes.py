"""What `ramet work` and `ramet run` see: the efforts that run, and one `Change` for each thing that is worth a line."""

import time
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal, NamedTuple

from ramet.cli.exchanges import ask_many
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, count
from ramet.cli.screens.effort_lines import changed, used
from ramet.cli.times import duration, seconds_between, until
from ramet.model.event import Event
from ramet.model.history.branch import session_branch
from ramet.model.record.message import Message
from ramet.protocol.history.commits import Log
from ramet.protocol.record.agents import FleetStatus
from ramet.protocol.record.messages import ListMessages
from ramet.protocol.system.notices import ListNotices
from ramet.protocol.work.queue import GetWork, WorkReply

_LOOK_SECONDS = 0.5
_TELLING = (
    *("effort.attempted", "effort.requeued", "effort.finished", "effort.stop_requested"),
    *("session.limited", "session.stuck"),
)
_TOLD_ANYWAY = ("gave_up", "timeout", "stuck", "limit", "budget")
"""Notices that say what the end of the attempt says."""

ChangeKind = Literal["started", "running", "says", "limited", "stuck", "stopping", "notice", "requeued", "ended"]


class Change(NamedTuple):
    """Something that happened to an effort."""

    kind: ChangeKind
    effort: WorkReply
    at: datetime
    session_id: int | None
    text: str | None = None
    seconds: float | None = None
    """How long the attempt took, where it is over."""

    def as_json(self) -> dict[str, Any]:
        """The line that a program reads."""
        return {
            "change": self.kind,
            "at": self.at,
            "effort_id": self.effort.id,
            "session_id": self.session_id,
            "seconds": self.seconds,
            "text": self.text,
            "effort": self.effort,
        }


class Running:
    """An effort that runs, and what is known of its agent."""

    def __init__(self, effort: WorkReply, since: datetime, session_id: int | None) -> None:
        self.effort = effort
        self.since = since
        self.session_id = session_id
        self.status = "starting"
        self.words = ""
        self.is_stale = True
        """Whether its agent said something since it was looked at."""
        self.told = 0
        """How many of its session's messages were looked at."""


class Watch:
    """The efforts that run, from the events about them: those that are named, the lines of one run, or what belongs to
    no run. One that only ever waited is none of its business.
    """

    def __init__(
        self, invocation: Invocation, wanted: tuple[int, ...] = (), *, run: int | None = None, is_verbose: bool
    ) -> None:
        self._invocation = invocation
        self._wanted = wanted
        self._run = run
        self._is_verbose = is_verbose
        self._next_look = 0.0
        self._begun: set[int] = set()
        self.running: dict[int, Running] = {}
        self.ended: dict[int, WorkReply] = {}

    def find_running(self) -> Iterator[Change]:
        """What runs already: somebody else asked for it, or a former daemon began it."""
        for member in self._invocation.ask(FleetStatus()).items:
            effort = self._get(member.effort_id)
            if effort.lease_owner is not None and self._is_wanted(effort):
                yield self._begin("running", effort, member.since, member.session_id)

    def take(self, event: Event) -> Iterator[Change]:
        """What an event has to say."""
        effort_id, kind, data = event.effort_id, event.kind, event.data or {}
        if effort_id is None:
            return
        if kind == "effort.claimed":
            if self._is_wanted(self._get(effort_id)):
                self._begun.add(effort_id)
        elif effort_id not in self._begun:
            return
        elif kind == "session.reported":
            yield from self._listen(effort_id, event)
        elif kind in _TELLING:
            yield self._follow(self._get(effort_id), event)
        elif kind == "notice.added" and data["kind"] not in _TOLD_ANYWAY:
            text = self._notice(data["notice"])
            yield Change("notice", self._get(effort_id), event.at, event.session_id, text=text)

    def look(self) -> None:
        """Bring up to date what is known of those that run; not more often than anybody can read it."""
        if not self.running or time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + _LOOK_SECONDS
        stale = [(one, one.session_id) for one in self.running.values() if one.is_stale and one.session_id is not None]
        fleet = self._invocation.ask(FleetStatus())
        logs = ask_many(self._invocation, [Log(branch=session_branch(session_id), limit=1) for _, session_id in stale])
        rows = ask_many(self._invocation, [GetWork(effort_id=one.effort.id) for one, _ in stale])
        for member in fleet.items:
            if (known := self.running.get(member.effort_id)) is not None:
                known.status = member.status or known.status
        for (one, _), log, row in zip(stale, logs, rows, strict=True):
            one.is_stale = False
            one.effort = row
            one.words = next((said.preview for said in log.items if said.role != "user"), "")

    def _is_wanted(self, effort: WorkReply) -> bool:
        return effort.id in self._wanted if self._wanted else effort.run_id == self._run

    def _get(self, effort_id: int) -> WorkReply:
        return self._invocation.ask(GetWork(effort_id=effort_id))

    def _notice(self, notice_id: int) -> str | None:
        notices = self._invocation.ask(ListNotices(all=True)).items
        return next((notice.text for notice in notices if notice.id == notice_id), None)

    def _begin(self, kind: ChangeKind, effort: WorkReply, at: datetime, session_id: int | None) -> Change:
        self._begun.add(effort.id)
        self.running[effort.id] = Running(effort, at, session_id)
        return Change(kind, effort, at, session_id)

    def _follow(self, effort: WorkReply, event: Event) -> Change:
        at, session_id, data = event.at, event.session_id, event.data or {}
        if event.kind == "effort.attempted":
            return self._begin("started", effort, at, session_id)
        if event.kind == "effort.stop_requested":
            return Change("stopping", effort, at, session_id, text=data["reason"])
        if event.kind == "session.stuck":
            return Change("stuck", effort, at, session_id, text=data["text"])
        if event.kind == "session.limited":
            return Change("limited", effort, at, session_id, text=data["text"])
        former = self.running.pop(effort.id, None)
        seconds = seconds_between(former.since, at) if former else None
        if event.kind == "effort.requeued":
            return Change("requeued", effort, at, session_id, seconds=seconds)
        self.ended[effort.id] = effort
        return Change("ended", effort, at, session_id, seconds=seconds)

    def _listen(self, effort_id: int, event: Event) -> Iterator[Change]:
        running = self.running.get(effort_id)
        if running is None:
            return
        running.is_stale = True
        running.session_id = event.session_id or running.session_id
        if not self._is_verbose or running.session_id is None:
            return
        for message in self._new_messages(running, running.session_id):
            if message.role == "assistant":
                yield Change("says", running.effort, event.at, event.session_id, text=message.content)

    def _new_messages(self, running: Running, session_id: int) -> Iterator[Message]:
        """What was said since the last time; a session that goes on also has what was said before this attempt."""
        while True:
            page = self._invocation.ask(ListMessages(session_id=session_id, offset=running.told))
            running.told += len(page.items)
            yield from (said for said in page.items if seconds_between(running.since, said.timestamp) >= 0)
            if page.next is None:
                return


def sentence(change: Change) -> str:
    """The change as a line for people."""
    effort, name = change.effort, _name(change.effort)
    match change.kind:
        case "started" | "running":
            attempt = f", attempt {effort.attempts}" if effort.attempts > 1 else ""
            how = "started" if change.kind == "started" else "goes on"
            place = effort.worktree or effort.workspace or "the project"
            return f"{name} {effort.skill} {how} ({effort.driver}{attempt}) in {place}"
        case "says":
            return clean(f"{name} says: {(change.text or '').strip()}").replace("\n", "\n  ")
        case "limited":
            return f"{name} has reached a usage limit: {change.text or 'no reason was given'}"
        case "stuck":
            return f"{name} does not get on: {change.text}"
        case "stopping":
            return f"{name} is asked to end" + (f": {change.text}" if change.text else "")
        case "notice":
            return f"{name} notice: {change.text}"
        case "requeued":
            return f"{name} {_how(change)}; {_again(effort)}"
        case _:
            return f"{name} {_how(change)}"


def _name(effort: WorkReply) -> str:
    """`e12`; of a run's line its number too."""
    return f"e{effort.id}" if effort.run_line is None else f"{effort.run_line} (e{effort.id})"


def _how(change: Change) -> str:
    """`success 12s, 3 files +40 -2, 1,204 tokens, $0.03`, and why where it was none."""
    effort = change.effort
    word = effort.outcome or (f"failed ({effort.failure})" if effort.failure else "ended")
    lead = f"{word} {duration(change.seconds)}" if change.seconds is not None else word
    facts = ", ".join([lead, *filter(None, [changed(effort)]), *used(effort.usage)])
    return f"{facts}: {effort.reason}" if effort.reason else facts


def _again(effort: WorkReply) -> str:
    return f"again in {until(effort.not_before)}" if effort.not_before else "it is queued again"


def summary(finished: dict[str, int]) -> str:
    """`3 efforts: 2 success, 1 error`."""
    total = sum(finished.values())
    return f"{count(total, 'effort')}: {', '.join(f'{number} {outcome}' for outcome, number in finished.items())}"
