"""Attend a run from the command line: its lines run while the command waits. A command that leaves early says how to
continue.
"""

import signal
from collections.abc import Callable

import click
from msgspec.structs import replace

from ramet.cli.commands.queue.work import INTERRUPTED, Shift
from ramet.cli.connections import (
    Answered,
    Arrival,
    Failed,
    Happened,
)
from ramet.cli.invocation import Invocation
from ramet.cli.output import print_json
from ramet.cli.screens.board import Display
from ramet.cli.screens.run import conclude, is_done
from ramet.cli.screens.run_board import RunBoard, open_run_display
from ramet.cli.screens.work_changes import Change, Watch
from ramet.errors import RunFinished
from ramet.model.event import Event
from ramet.model.runs.run import RunLimits
from ramet.protocol.runs.runs import RunDetail
from ramet.protocol.work.queue import GetWork
from ramet.protocol.work.workers import RunWork, WorkDone

Greeting = Callable[[int], str]
"""The first line, from the number of lines that are tried again."""


def attend(
    invocation: Invocation,
    run: RunDetail,
    greeting: Greeting,
    *,
    is_verbose: bool,
    resumption: RunWork | None = None,
) -> int:
    """Work on a run until none of its lines can run; the exit status. `greeting` is printed when it starts.

    `resumption` has the options of a resumed run: its new limits, and whether its file may have changed.
    """
    asked = resumption or RunWork()
    limits = asked.limits or RunLimits()
    request = replace(
        asked,
        run=run.id,
        workers=limits.workers or run.limits.workers or 1,
        environment=invocation.environ,  # agents see the part of it that work.environment allows
        settings=invocation.flags,
    )
    display: Display | None = None
    try:
        display = open_run_display(invocation, run)
        watch = Watch(invocation, run=run.id, is_verbose=is_verbose)
        return Attendance(invocation, request, display, watch, run_id=run.id, greeting=greeting).run()
    except KeyboardInterrupt:
        return _say_how_to_continue(invocation, run.id, INTERRUPTED)
    finally:
        if display is not None:
            display.close()


def _say_how_to_continue(invocation: Invocation, run_id: int, status: int) -> int:
    click.echo(f"continue: `ramet run --resume r{run_id}`", err=invocation.as_json)
    return status


class Attendance(Shift):
    """One `ramet run` or `ramet chain`, through every daemon that serves it."""

    _requeues = True

    def __init__(
        self,
        invocation: Invocation,
        request: RunWork,
        display: Display,
        watch: Watch,
        *,
        run_id: int,
        greeting: Greeting,
    ) -> None:
        super().__init__(invocation, request, display, watch)
        self._run_id = run_id
        self._greeting: Greeting | None = greeting
        self._asks = 0

    def _remember_running(self) -> None:
        """The daemon waits for every line of a run, also for lines that another command started."""

    def _ask(self) -> None:
        super()._ask()
        self._asks += 1
        # These belong to the start of a run, and not to another daemon that continues it.
        self._request = replace(
            self._request, content_hash=None, is_forced=False, retry_failed=False, limits=None, branch=None
        )

    def _take(self, arrival: Arrival) -> None:
        match arrival:
            case Failed(RunFinished()) if self._asks > 1:  # the daemon that exited had finished the run
                super()._take(Answered(WorkDone(finished={}, why="idle")))
            case Happened(event):
                self._follow(event)
                super()._take(arrival)
            case _:
                super()._take(arrival)

    def _follow(self, event: Event) -> None:
        data = event.data or {}
        if event.kind == "run.attended" and data["run"] == self._run_id:
            self._greet(event)
        elif event.kind == "effort.queued" and data.get("run") == self._run_id and event.effort_id is not None:
            self._show_queued(event.effort_id)
        elif event.kind == "effort.finished" and data.get("run") == self._run_id and event.effort_id is not None:
            effort = self._invocation.ask(GetWork(effort_id=event.effort_id))  # a skipped line
            if not effort.attempts:  # else the watch knows it
                self._display.tell(Change("ended", effort, event.at, event.session_id))
        if self._interrupts and event.kind == "effort.claimed":  # the daemon did not know this command when it stopped
            self._stop()

    def _greet(self, event: Event) -> None:
        greeting, self._greeting = self._greeting, None
        if greeting is None:
            return
        if self._invocation.as_json:
            print_json({"change": "attended", "at": event.at, "run_id": self._run_id}, indent=None)
        else:
            self._display.say(greeting((event.data or {})["retried"]))

    def _show_queued(self, effort_id: int) -> None:
        if isinstance(self._display, RunBoard):
            self._display.queue(self._invocation.ask(GetWork(effort_id=effort_id)))

    def _how_to_continue(self, effort_id: int) -> str:  # noqa: ARG002
        return f"continue with `ramet run --resume r{self._run_id}`"

    def _conclude(self) -> int:
        self._display.close()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if self._interrupts > 1 or self._is_stopping:  # the running lines have not ended yet
            return _say_how_to_continue(self._invocation, self._run_id, INTERRUPTED if self._interrupts else 1)
        run = conclude(self._invocation, self._run_id)
        if self._interrupts and run.state != "finished":
            return INTERRUPTED
        return 0 if is_done(run) else 1
