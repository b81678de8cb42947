"""Attending a run from the command line: its lines are worked on while we wait, and whoever leaves is told how to go
on.
"""

import signal

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
from ramet.cli.screens.run_board import open_run_display
from ramet.cli.screens.work_changes import Watch
from ramet.errors import RunFinished
from ramet.model.event import Event
from ramet.model.runs.run import RunLimits
from ramet.protocol.runs.runs import RunDetail
from ramet.protocol.work.workers import RunWork, WorkDone


def attend(
    invocation: Invocation,
    run: RunDetail,
    greeting: str,
    *,
    is_verbose: bool,
    resumption: RunWork | None = None,
) -> int:
    """Work on a run until nothing of it can be done any more; the exit status. `greeting` is said once it begins.

    `resumption` has what is said only when a run is resumed: its new limits, and whether its file may have changed.
    """
    asked = resumption or RunWork()
    limits = asked.limits or RunLimits()
    request = replace(
        asked,
        run=run.id,
        workers=limits.workers or run.limits.workers or 1,
        environment=invocation.environ,  # of which agents see what work.environment allows
        settings=invocation.flags,
    )
    display: Display | None = None
    try:
        display = open_run_display(invocation, run)
        watch = Watch(invocation, run=run.id, is_verbose=is_verbose)
        return Attendance(invocation, request, display, watch, run_id=run.id, greeting=greeting).run()
    except KeyboardInterrupt:
        return _say_how_to_go_on(invocation, run.id, INTERRUPTED)
    finally:
        if display is not None:
            display.close()


def _say_how_to_go_on(invocation: Invocation, run_id: int, status: int) -> int:
    click.echo(f"go on: `ramet run --resume r{run_id}`", err=invocation.as_json)
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
        greeting: str,
    ) -> None:
        super().__init__(invocation, request, display, watch)
        self._run_id = run_id
        self._greeting = greeting
        self._asks = 0

    def _remember_running(self) -> None:
        """The daemon waits for every line of a run, whoever began it."""

    def _ask(self) -> None:
        super()._ask()
        self._asks += 1
        # These are said when a run is begun, and not when another daemon goes on with it.
        self._request = replace(self._request, content_hash=None, is_forced=False, retry_failed=False, limits=None)

    def _take(self, arrival: Arrival) -> None:
        match arrival:
            case Failed(RunFinished()) if self._asks > 1:  # the daemon that went had done it all
                super()._take(Answered(WorkDone(finished={}, why="idle")))
            case Happened(event):
                self._heed(event)
                super()._take(arrival)
            case _:
                super()._take(arrival)

    def _heed(self, event: Event) -> None:
        if self._greeting and event.kind == "run.attended" and (event.data or {})["run"] == self._run_id:
            self._greet(event)
        if self._interrupts and event.kind == "effort.claimed":  # the daemon did not know of us when it was told
            self._stop()

    def _greet(self, event: Event) -> None:
        if self._invocation.as_json:
            print_json({"change": "attended", "at": event.at, "run_id": self._run_id}, indent=None)
        else:
            self._display.say(self._greeting)
        self._greeting = ""

    def _how_to_go_on(self, effort_id: int) -> str:  # noqa: ARG002
        return f"take it up again with `ramet run --resume r{self._run_id}`"

    def _conclude(self) -> int:
        self._display.close()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if self._interrupts > 1 or self._is_stopping:  # what runs has not ended yet
            return _say_how_to_go_on(self._invocation, self._run_id, INTERRUPTED if self._interrupts else 1)
        run = conclude(self._invocation, self._run_id)
        if self._interrupts and run.state != "finished":
            return INTERRUPTED
        return 0 if is_done(run) else 1
