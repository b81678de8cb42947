"""Attending a run from the command line: its lines are worked on while we wait, and whoever leaves is told how to go
on.
"""

import signal
from typing import Any

import click

from ramet.cli.commands.queue.work import INTERRUPTED, Shift
from ramet.cli.connections import (
    Answered,
    Arrival,
    Failed,
    Happened,
)
from ramet.cli.invocation import Invocation
from ramet.cli.output import Row, print_json
from ramet.cli.screens.board import Display
from ramet.cli.screens.run import conclude, is_done
from ramet.cli.screens.run_board import open_run_display
from ramet.cli.screens.work_changes import Watch
from ramet.errors import RunFinished

_ONCE = ("content_hash", "is_forced", "retry_failed", "limits")
"""What is said when a run is begun, and not when another daemon goes on with it."""


def attend(invocation: Invocation, run: Row, greeting: str, *, is_verbose: bool, **given: Any) -> int:
    """Work on a run until nothing of it can be done any more; the exit status. `greeting` is said once it begins."""
    request = {
        "run": run["id"],
        "workers": run["limits"]["workers"] or 1,
        "environment": invocation.environ,  # of which agents see what work.environment allows
        "settings": invocation.flags,
        **given,
    }
    display: Display | None = None
    try:
        display = open_run_display(invocation, run)
        attendance = Attendance(invocation, request, display, Watch(invocation, run=run["id"], is_verbose=is_verbose))
        attendance.greeting = greeting
        return attendance.run()
    except KeyboardInterrupt:
        return _say_how_to_go_on(invocation, run["id"], INTERRUPTED)
    finally:
        if display is not None:
            display.close()


def _say_how_to_go_on(invocation: Invocation, run_id: int, status: int) -> int:
    click.echo(f"go on: `ramet run --resume r{run_id}`", err=invocation.as_json)
    return status


class Attendance(Shift):
    """One `ramet run` or `ramet chain`, through every daemon that serves it."""

    greeting = ""
    _asks = 0
    _requeues = True

    def _remember_running(self) -> None:
        """The daemon waits for every line of a run, whoever began it."""

    def _ask(self) -> None:
        super()._ask()
        self._asks += 1
        self._request = {name: value for name, value in self._request.items() if name not in _ONCE}

    def _take(self, arrival: Arrival) -> None:
        match arrival:
            case Failed(RunFinished()) if self._asks > 1:  # the daemon that went had done it all
                super()._take(Answered({"finished": {}, "why": "idle"}))
            case Happened(event):
                self._heed(event)
                super()._take(arrival)
            case _:
                super()._take(arrival)

    def _heed(self, event: Row) -> None:
        run_id = self._request["run"]
        if self.greeting and event["kind"] == "run.attended" and event["data"]["run"] == run_id:
            self._greet(event)
        if self._interrupts and event["kind"] == "effort.claimed":  # the daemon did not know of us when it was told
            self._stop()

    def _greet(self, event: Row) -> None:
        if self._invocation.as_json:
            print_json({"change": "attended", "at": event["at"], "run_id": self._request["run"]}, indent=None)
        else:
            self._display.say(self.greeting)
        self.greeting = ""

    def _how_to_go_on(self, effort_id: int) -> str:  # noqa: ARG002
        return f"take it up again with `ramet run --resume r{self._request['run']}`"

    def _conclude(self) -> int:
        self._display.close()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        run_id = self._request["run"]
        if self._interrupts > 1 or self._is_stopping:  # what runs has not ended yet
            return _say_how_to_go_on(self._invocation, run_id, INTERRUPTED if self._interrupts else 1)
        run = conclude(self._invocation, run_id)
        if self._interrupts and run["state"] != "finished":
            return INTERRUPTED
        return 0 if is_done(run) else 1
