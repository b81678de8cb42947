"""What `ramet work` and `ramet run` watch: the running efforts, and one `Change` for each thing worth a line."""

import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple

from ramet.cli.exchanges import ask_many
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, count, short_path
from ramet.cli.progress import Progress
from ramet.cli.screens.agent_names import effort_agent
from ramet.cli.screens.effort_lines import base_of, changed, cost, first_line, sum_costs, used
from ramet.cli.times import duration, seconds_between, until
from ramet.model.event import Event
from ramet.model.history.branch import session_branch
from ramet.model.record.message import Message
from ramet.model.record.session import SessionStatus
from ramet.model.runs.run import LineRow, LineState, derive_line_state
from ramet.protocol.history.commits import Log
from ramet.protocol.record.agents import FleetStatus
from ramet.protocol.record.messages import ListMessages
from ramet.protocol.system.notices import ListNotices
from ramet.protocol.work.queue import GetWork, ListWork, WorkReply

_LOOK_SECONDS = 0.5
_MOST_COUNTED = 1000
_UNFINISHED = ("queued", "active", "blocked")
_QUEUE_CHANGES = ("effort.queued", "effort.claimed", "effort.requeued", "effort.finished")
_TELLING = (
    *("effort.attempted", "effort.preparing", "effort.requeued", "effort.finished", "effort.stop_requested"),
    *("session.limited", "session.stuck", "session.refused"),
)
_TOLD_ANYWAY = ("gave_up", "timeout", "stuck", "limit", "budget")
"""Notices that repeat the reason with which the attempt ended."""

_PREPARING = {
    "running": "prepares its worktree: {command}; log: {log}",
    "reused": "reuses the prepared folders of another worktree",
    "skipped": "works in an unprepared worktree: the set-up command does not run where a sandboxed agent has worked",
}

ChangeKind = Literal[
    "started", "preparing", "running", "says", "limited", "stuck", "refused", "stopping", "notice", "requeued", "ended"
]


class Change(NamedTuple):
    """Something that happened to an effort."""

    kind: ChangeKind
    effort: WorkReply
    at: datetime
    session_id: int | None
    text: str | None = None
    seconds: float | None = None
    """How long the attempt took, if it is over."""

    def as_json(self) -> dict[str, Any]:
        """The document for programs."""
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
    """A running effort, and what is known about its agent."""

    def __init__(self, effort: WorkReply, since: datetime, session_id: int | None) -> None:
        self.effort = effort
        self.since = since
        self.session_id = session_id
        self.status: SessionStatus = "starting"
        self.words = ""
        """The last thing that its agent said."""
        self.tool: str | None = None
        """Its newest tool call."""
        self.is_stale = True
        """Whether its agent said something since `words` was read."""
        self.told = 0
        """How many of its session's messages were read."""

    @property
    def now(self) -> str:
        """What its agent does now, as far as is known."""
        return self.tool or self.words


class Watch:
    """The running efforts, from the events about them: the named efforts, the lines of one run, or those of no run, in
    one project or in all. Efforts that only waited are not watched.
    """

    def __init__(
        self,
        invocation: Invocation,
        wanted: tuple[int, ...] = (),
        *,
        run: int | None = None,
        project_id: int | None = None,
        is_verbose: bool,
    ) -> None:
        self._invocation = invocation
        self._project_id = project_id
        """Only efforts of this project are watched; None for those of every project."""
        self._wanted = wanted
        self._run = run
        self._is_verbose = is_verbose
        self._next_look = 0.0
        self._began = time.monotonic()
        self._begun: set[int] = set()
        self._queued = 0
        self._is_queue_stale = True
        """Whether efforts were queued, claimed or dropped since they were counted."""
        self.running: dict[int, Running] = {}
        self.ended: dict[int, WorkReply] = {}

    @property
    def progress(self) -> Progress:
        """How much of the work is finished, since the watch began."""
        finished, total = len(self.ended), len(self.ended) + len(self.running) + self._queued
        efforts = [*self.ended.values(), *(one.effort for one in self.running.values())]
        spent = cost(sum_costs(effort.usage for effort in efforts))
        return Progress(finished, total, time.monotonic() - self._began, spent)

    def find_running(self) -> Iterator[Change]:
        """The efforts that run already: another command asked for them, or an earlier daemon started them."""
        for member in self._invocation.ask(FleetStatus()).items:
            effort = self._get(member.effort_id)
            if effort.lease_owner is not None and self._is_wanted(effort):
                yield self._begin("running", effort, member.since, member.session_id)

    def take(self, event: Event) -> Iterator[Change]:
        """The changes that follow from an event."""
        effort_id, kind, data = event.effort_id, event.kind, event.data or {}
        if effort_id is None:
            return
        self._is_queue_stale |= kind in _QUEUE_CHANGES
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
        """Update what is known about the running efforts and the queue; not more often than a person can read it."""
        if time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + _LOOK_SECONDS
        if self._is_queue_stale and self._run is None:  # a run knows its own lines
            self._queued, self._is_queue_stale = self._count_queued(), False
        if self.running:
            self._look_at_running()

    def _count_queued(self) -> int:
        """How many efforts wait and can still run; of very many, only those on the first page are counted."""
        page = ListWork(state="queued", project=self._project_id, limit=_MOST_COUNTED)
        return sum(
            self._is_wanted(effort) and (effort.blocked_by is None or effort.blocked_status in _UNFINISHED)
            for effort in self._invocation.ask(page).items
        )

    def _look_at_running(self) -> None:
        stale = [(one, one.session_id) for one in self.running.values() if one.is_stale and one.session_id is not None]
        fleet = self._invocation.ask(FleetStatus())
        logs = ask_many(self._invocation, [Log(branch=session_branch(session_id), limit=1) for _, session_id in stale])
        rows = ask_many(self._invocation, [GetWork(effort_id=one.effort.id) for one, _ in stale])
        for member in fleet.items:
            if (known := self.running.get(member.effort_id)) is not None:
                known.status, known.tool = member.status or known.status, member.tool
        for (one, _), log, row in zip(stale, logs, rows, strict=True):
            one.is_stale = False
            one.effort = row
            one.words = next((said.preview for said in log.items if said.role != "user"), "")

    def _is_wanted(self, effort: WorkReply) -> bool:
        if self._wanted:
            return effort.id in self._wanted
        return effort.run_id == self._run and self._project_id in (None, effort.project_id)

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
        if event.kind == "effort.preparing":
            return Change("preparing", effort, at, session_id, text=_PREPARING[data["how"]].format(**data))
        if event.kind == "effort.stop_requested":
            return Change("stopping", effort, at, session_id, text=data["reason"])
        if event.kind == "session.stuck":
            return Change("stuck", effort, at, session_id, text=data["text"])
        if event.kind == "session.refused":
            return Change("refused", effort, at, session_id, text=_refused(data))
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
        """The messages since the last time; a session that continues also has those from before this attempt."""
        while True:
            page = self._invocation.ask(ListMessages(session_id=session_id, offset=running.told))
            running.told += len(page.items)
            yield from (said for said in page.items if seconds_between(running.since, said.timestamp) >= 0)
            if page.next is None:
                return


def sentence(invocation: Invocation, change: Change, columns: int | None = None) -> str:
    """The change as a line for people. If it names a folder, it is cut to so many columns."""
    effort, name = change.effort, _name(change.effort)
    match change.kind:
        case "started" | "running":
            how = "started" if change.kind == "started" else "is running"
            attempt = f" (attempt {effort.attempts})" if effort.attempts > 1 else ""
            lead = f"{name}{_skill(effort)} {how}{attempt}{_base(effort)} in "
            place = short_path(invocation, effort.worktree or effort.workspace or "the project")
            return lead + (place if columns is None else fit_path(place, columns - len(lead)))
        case "says":
            return clean(f"{name} says: {(change.text or '').strip()}").replace("\n", "\n  ")
        case "limited":
            return f"{name} cannot use its account: {change.text or 'no reason was given'}"
        case "stuck" | "refused":
            return f"{name} {'makes no progress:' if change.kind == 'stuck' else 'was refused'} {change.text}"
        case "stopping":
            return f"{name} is being stopped" + (f": {change.text}" if change.text else "")
        case "preparing" | "notice":
            return f"{name} {'notice: ' if change.kind == 'notice' else ''}{change.text}"
        case "requeued":
            return f"{name} {_how(change)}; {_again(effort)}"
        case _:
            return f"{name} {_how(change)}"


def fit_path(path: str, room: int) -> str:
    """`~/…/shop-1f3c9a2b/e12` if there is no room for the whole path: the end is what tells folders apart."""
    if len(path) <= room:
        return path
    home = "~/" if path.startswith("~/") else ""
    return f"{home}…/{'/'.join(path.rsplit('/', 2)[-2:])}"


def line_state(effort: WorkReply) -> LineState:
    """The state of a run's line, from its effort."""
    return derive_line_state(effort.lifecycle, effort.outcome, was_tried=effort.attempts > 0)


def _base(effort: WorkReply) -> str:
    """Where its first attempt starts; a line that waited for others starts where they ended."""
    follows = effort.based_on is not None or (effort.run_line is not None and effort.depends_on)
    base = None if follows or effort.attempts > 1 else base_of(effort, is_short=True)
    return f" at {base}" if base else ""


def _name(effort: WorkReply) -> str:
    """`builder e12`; for a line of a run `3 (builder e12)`."""
    agent = effort_agent(effort.driver, effort.id)
    return agent if effort.run_line is None else f"{effort.run_line} ({agent})"


def _skill(effort: WorkReply) -> str:
    """The skill, unless the line of the run is named after it: `review-1`."""
    return "" if (effort.run_line or "").startswith(effort.skill) else f" {effort.skill}"


def _how(change: Change) -> str:
    """`success 12s, 3 files +40 -2, 1,204 tokens, $0.03`, and the reason if there is one."""
    effort = change.effort
    word = _word(effort)
    if effort.run_line is not None and is_skipped(effort):
        return f"{word} ({effort.reason})"
    lead = f"{word} {duration(change.seconds)}" if change.seconds is not None else word
    facts = ", ".join([lead, *filter(None, [changed(effort)]), *used(effort.usage)])
    return f"{facts}: {effort.reason}" if effort.reason else facts


def is_skipped(row: WorkReply | LineRow) -> bool:
    """Whether a line of a run is not run because one that it needs did not succeed: its reason says which one."""
    return row.outcome == "dropped" and row.reason is not None


def _word(effort: WorkReply) -> str:
    """The outcome; for a line of a run its state, as the table has it, and the outcome if that says more."""
    if effort.outcome is None:
        return f"failed ({effort.failure})" if effort.failure else "ended"
    if effort.run_line is None:
        return effort.outcome
    state = line_state(effort)
    if is_skipped(effort):
        return state
    return state if effort.outcome in ("success", "error", state) else f"{state} ({effort.outcome})"


def _again(effort: WorkReply) -> str:
    return f"next attempt in {until(effort.not_before)}" if effort.not_before else "it is queued again"


def summary(finished: dict[str, int]) -> str:
    """`3 efforts: 2 success, 1 error`."""
    total = sum(finished.values())
    return f"{count(total, 'effort')}: {', '.join(f'{number} {outcome}' for outcome, number in finished.items())}"


def _refused(data: Mapping[str, Any]) -> str:
    """What an agent wanted: a host, with the setting that allows it; or a call, whose rule the notice names."""
    if data["subject"] == "host":
        return f"a host: {data['name']}; to allow it: {data['rule']}"
    wanted = f"{data['name']} {data.get('call') or ''}"
    return f"a call: {first_line(wanted)}"
