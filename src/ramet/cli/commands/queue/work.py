"""`ramet work`: have the daemon run queued efforts, and watch them."""

import signal
import time
import uuid
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.commands.queue.drivers import check_driver
from ramet.cli.commands.queue.parked_hosts import explain_parked_hosts
from ramet.cli.commands.queue.queue import say_waiting
from ramet.cli.commands.record.project_scope import Scope, everywhere_option, find_scope
from ramet.cli.connections import (
    Answered,
    Arrival,
    Failed,
    Happened,
    Inbox,
    Interrupted,
    last_event,
)
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, print_json
from ramet.cli.screens.board import Display, open_display
from ramet.cli.screens.effort_lines import list_work, state
from ramet.cli.screens.work_changes import Change, Watch, summary
from ramet.errors import (
    EXIT_FAILURE,
    EXIT_WORK,
    Conflict,
    DaemonError,
    DaemonReplaced,
    DaemonStopping,
    DaemonUnreachable,
    EffortFinished,
    RametError,
)
from ramet.model.event import Event
from ramet.model.record.effort import NOT_FAILURES
from ramet.protocol.work.kills import Kill
from ramet.protocol.work.queue import GetWork
from ramet.protocol.work.workers import RunWork, StopWork, WorkDone
from ramet.vendors.registry import PREFERRED

if TYPE_CHECKING:
    from ramet.client.connection import Connection

_TICK_SECONDS = 0.25
_LOSSES = 5
"""How often a daemon that exits before anything happened is started again."""
_LAST_WORDS_SECONDS = 2
INTERRUPTED = 130


@click.command(
    cls=Command,
    examples=[
        "ramet work --once",
        "ramet work --workers 3",
        f"ramet work e12 e13 --driver {PREFERRED[-1]}",
        "ramet work --once --json | jq -r .change",
    ],
)
@click.argument("efforts", metavar="[EFFORT]...", nargs=-1, type=references.effort)
@click.option(
    "--workers",
    type=click.IntRange(1, 1000),
    default=1,
    metavar="N",
    help="Run up to N efforts at the same time (default: 1).",
)
@click.option("--once", is_flag=True, help="Exit when no effort is left to run, instead of waiting for more.")
@click.option("--driver", metavar="NAME", help="The agent program for efforts that name none.")
@click.option(
    "--project",
    type=references.project,
    metavar="DIR",
    help="Run only efforts of the project that DIR is in (default: the project of the current directory).",
)
@everywhere_option("Run the efforts of every project.")
@click.option("-v", "--verbose", is_flag=True, help="Show every message of the agents.")
@click.pass_context
def work(
    ctx: click.Context,
    efforts: tuple[int, ...],
    workers: int,
    once: bool,
    driver: str | None,
    project: int | str | None,
    everywhere: bool,
    verbose: bool,
) -> None:
    """Run queued efforts, or only each EFFORT, and show their progress. Exits with 1 if any effort fails.

    With --once, it exits with 7 if this host claims no efforts, because no agent could start or its disk is full.

    Inside a project, only its own efforts are run; those of other projects stay queued.

    Ctrl-C once: start nothing new, let running efforts finish. Twice: stop them too. Agents keep running if this
    terminal closes or the daemon dies. With --json: one JSON document per line.
    """
    invocation: Invocation = ctx.obj
    invocation.require_configuration()
    check_driver(invocation, driver)
    _check(invocation, efforts)
    scope = Scope.named() if efforts else find_scope(invocation, everywhere=everywhere, project=project)
    request = RunWork(
        workers=workers,
        once=once or bool(efforts),
        effort_ids=list(efforts) or None,
        project=scope.project_id,
        driver=driver,
        environment=invocation.environ,  # agents see the part of it that work.environment allows
        settings=invocation.flags,
    )
    watch = Watch(invocation, efforts, project_id=scope.project_id, is_verbose=verbose)
    display = open_display(invocation, waits=not request.once)
    try:
        status = Shift(invocation, request, display, watch, scope).run()
    finally:
        display.close()
    ctx.exit(status)


def _check(invocation: Invocation, efforts: tuple[int, ...]) -> None:
    """Refuse efforts that are finished, and say how to run them again."""
    for effort_id in efforts:
        row = invocation.ask(GetWork(effort_id=effort_id))
        if row.lifecycle == "finished":
            raise EffortFinished(
                f"effort {effort_id} is finished: {state(row)}",
                field="effort_id",
                value=effort_id,
                fix=f"`ramet retry e{effort_id}` queues a fresh copy, `ramet resume e{effort_id}` continues it",
            )


class Shift:
    """One `ramet work`, through every daemon that serves it."""

    _requeues = False
    """Whether a stopped effort is queued again."""

    def __init__(
        self, invocation: Invocation, request: RunWork, display: Display, watch: Watch, scope: Scope | None = None
    ) -> None:
        self._invocation = invocation
        self._scope = scope or Scope.named()
        self._request = replace(request, shift=uuid.uuid4().hex)
        self._display = display
        self._watch = watch
        self._inbox = Inbox()
        self._seen = last_event(invocation.connection)
        self._done: WorkDone | None = None
        self._last = 0
        """The newest event when the daemon said that it is done."""
        self._left: set[int] = set()
        """The efforts that ran before the daemon was asked. It runs them too, but does not wait for them to answer."""
        self._interrupts = 0
        self._losses = 0
        self._counts_itself = False
        """Whether the daemon's last answer does not count every effort."""

    def run(self) -> int:
        """Until the work is done; the exit status."""
        signal.signal(signal.SIGINT, lambda *_: self._inbox.put(Interrupted()))
        for change in self._watch.find_running():
            self._tell(change)
        for line in explain_parked_hosts(self._invocation):
            self._display.say(line)
        self._begin()
        while not self._is_over():
            self._step()
        return self._conclude()

    def _begin(self) -> None:
        """Follow the events from the last one on, and then ask for work, so that no event is missed."""
        self._remember_running()
        self._inbox = Inbox()
        self._inbox.follow(self._connect(), self._seen)
        self._ask()

    def _remember_running(self) -> None:
        self._left |= self._watch.running.keys()
        self._counts_itself |= bool(self._left)

    def _ask(self) -> None:
        self._done = None
        if self._interrupts:
            self._answer(WorkDone(finished={}, why="stopped"))
        else:
            self._inbox.ask(self._connect(), self._request)

    def _connect(self) -> "Connection":
        return self._invocation.connect(autostart=self._invocation.configuration.settings.daemon.autostart)

    def _step(self) -> None:
        """Take what arrives for a moment, then show it."""
        moment = time.monotonic() + _TICK_SECONDS
        try:
            while (arrival := self._inbox.take(moment - time.monotonic())) is not None:
                self._take(arrival)
                if self._done is not None or time.monotonic() > moment:
                    break
            if self._display.is_live:
                self._watch.look()
        except (DaemonUnreachable, DaemonStopping) as error:
            self._continue_after(error)
        self._draw()

    def _take(self, arrival: Arrival) -> None:
        match arrival:
            case Happened(event):
                self._seen, self._losses = event.id, 0
                for change in self._watch.take(event):
                    self._tell(change)
                if event.kind in ("host.parked", "host.resumed"):
                    self._display.say(_tell_of_host(event))
            case Answered(WorkDone() as reply):
                self._answer(reply)
            case Failed(error):
                raise error
            case Interrupted():
                self._interrupt()

    def _tell(self, change: Change) -> None:
        # The table comes first, so that it never shows an effort as running beside the line that says how it ended.
        self._draw()
        self._display.tell(change)

    def _draw(self) -> None:
        self._display.draw(self._watch.running.values(), self._watch.progress)

    def _answer(self, reply: WorkDone) -> None:
        """The daemon is done. Events from before that may still arrive."""
        self._done = reply
        if not self._is_stopping:
            self._last = last_event(self._invocation.connection)

    def _is_over(self) -> bool:
        if self._interrupts > 1 or self._is_stopping:
            return True
        if self._done is None or self._seen < self._last or self._left & self._watch.running.keys():
            return False
        if self._left and not self._interrupts:  # efforts that waited for the adopted ones may be ready now
            self._left.clear()
            self._ask()
            return False
        return True

    @property
    def _is_stopping(self) -> bool:
        """Whether the daemon was stopped on purpose. Then this command does not start another one."""
        return self._done is not None and self._done.why == "daemon_stopping"

    def _continue_after(self, error: DaemonError) -> None:
        """The daemon has exited, but its agents run on: another daemon finds them."""
        self._counts_itself = True
        last = None if self._is_stopping else self._last_words(error)
        if isinstance(last, WorkDone):
            self._done = last
        if self._is_stopping:
            return
        self._losses += 1
        if self._losses > _LOSSES:
            raise error
        if isinstance(last, DaemonReplaced):
            self._display.say("the daemon is being replaced by a newer one, which takes over the running agents")
            self._invocation.await_daemon()
        else:
            self._display.say("the daemon has exited; starting another one, which takes over the running agents")
        self._invocation.forget_connection()
        self._begin()

    def _last_words(self, error: RametError) -> WorkDone | RametError | None:
        """The answer of a daemon before it exited: the events end first, then it answers."""
        if isinstance(error, DaemonReplaced):
            return error
        while (arrival := self._inbox.take(_LAST_WORDS_SECONDS)) is not None:
            match arrival:
                case Answered(WorkDone() as reply):
                    return reply
                case Failed(last):
                    return last
        return None

    def _interrupt(self) -> None:
        """Once: claim no more. Twice: stop the running efforts. Counted at the end, for the daemon may be gone."""
        names = " ".join(f"e{effort_id}" for effort_id in self._watch.running)
        if not self._interrupts:
            self._stop()
            if names:
                self._display.say("starting nothing new; running agents finish")
                self._display.say(f"Ctrl-C again stops them too: `ramet kill {names}`")
        else:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for effort_id in self._watch.running:
                self._end(effort_id)
        self._interrupts += 1

    def _stop(self) -> None:
        """Make the daemon claim no more for this command. Work for other commands continues."""
        self._invocation.ask(StopWork(shift=self._request.shift))

    def _end(self, effort_id: int) -> None:
        reason = "interrupted at the terminal"
        with suppress(Conflict):  # it has ended already
            self._invocation.ask(Kill(effort_id=effort_id, reason=reason, requeues=self._requeues))
        self._display.say(f"e{effort_id} is being stopped; {self._how_to_continue(effort_id)}")

    def _how_to_continue(self, effort_id: int) -> str:
        return f"continue with `ramet resume e{effort_id}`"

    def _conclude(self) -> int:
        if self._interrupts > 1:
            return INTERRUPTED
        assert self._done is not None  # noqa: S101  it is over only when it is done
        finished = self._done.finished
        if self._counts_itself or self._is_stopping:
            finished = dict(Counter(str(row.outcome) for row in self._watch.ended.values()))
        self._display.close()
        if self._invocation.as_json:
            print_json({"change": "done", "finished": finished, "why": self._done.why}, indent=None)
        else:
            self._say_end(finished)
        is_left = self._is_stopping and bool(self._watch.running)
        if is_left or any(outcome not in NOT_FAILURES for outcome in finished):
            return EXIT_FAILURE
        return EXIT_WORK if self._done.why == "host_parked" else 0

    def _say_end(self, finished: dict[str, int]) -> None:
        if finished:
            click.echo(summary(finished))
        failed = [f"e{effort_id}" for effort_id, row in self._watch.ended.items() if row.outcome not in NOT_FAILURES]
        if failed:
            first = failed[0]
            click.echo(f"failed: {', '.join(failed)}. See why: `ramet show {first}`; run again: `ramet retry {first}`")
        if self._is_stopping:
            click.echo(
                "the daemon was stopped; its agents keep running, and `ramet work` starts a daemon that takes them over"
            )
        elif self._done is not None and self._done.why == "host_parked":
            click.echo("this host claims no efforts, so the queued ones wait: `ramet queue`")
            for line in explain_parked_hosts(self._invocation):
                click.echo(clean(line))
        elif not finished and not self._interrupts:
            say_waiting(list(list_work(self._invocation, "queued", project=self._scope.project_id)), self._scope)


def _tell_of_host(event: Event) -> str:
    data = event.data or {}
    if event.kind == "host.resumed":
        return f"{data['host']} claims efforts again"
    return f"{data['host']} claims no efforts for now: {data['reason']}"
