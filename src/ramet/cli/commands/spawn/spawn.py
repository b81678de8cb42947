"""`ramet spawn`: start a child session with a goal and wait for its result."""

import sys
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click
from msgspec import structs

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.commands.look.live_screen import live_screen
from ramet.cli.commands.look.tree import own_session
from ramet.cli.commands.queue.drivers import check_driver
from ramet.cli.commands.queue.limit_options import cost_option, tokens_option
from ramet.cli.commands.runs.forecast import list_lines
from ramet.cli.connections import Answered, Failed, Inbox, ask
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, print_json
from ramet.cli.screens.effort_lines import first_line
from ramet.cli.screens.session_tree import draw, used
from ramet.cli.screens.styled_lines import as_picture
from ramet.errors import BY_CODE, DaemonUnreachable, RametError
from ramet.model.record.effort import Outcome
from ramet.model.spawn.child import SpawnResult, TreeRow
from ramet.protocol.history.inheritance import Filter, Inheritance
from ramet.protocol.memory.usage import Planned
from ramet.protocol.operation import R, Request
from ramet.protocol.record.sessions import GetSession
from ramet.protocol.spawn.children import ChildLimits, ChildOrder, Results, SpawnAgent, SpawnAgents
from ramet.protocol.spawn.trees import ShowTree
from ramet.protocol.system.daemon import Hello
from ramet.vendors.registry import PREFERRED

if TYPE_CHECKING:
    from rich.live import Live

Spawned = TypeVar("Spawned", SpawnResult, Results)
"""The reply for one child, or for several."""

STATUSES: dict[Outcome, int] = {
    "success": 0,
    "no_change": 0,
    "error": 1,
    "timeout": 8,
    "stuck": 9,
    "budget": 10,
    "cancelled": 11,
    "dropped": 12,
}
"""The exit status of each outcome. Refusals use the numbers between them."""
"""A selection needs more parameters than a command has: `spawn.agent` has them."""
_INTERRUPTED = 130
_LOOK_SECONDS = 0.5
_LOSSES = 5
"""How often a daemon that has stopped is started again."""


@click.command(
    cls=Command,
    examples=[
        "ramet spawn 'Find out who calls parse()' --parent s3",
        "ramet spawn 'Write the tests' 'Write the page' --parent s3 --seconds 600",
        f"ramet spawn 'Look over the plan' --parent s3 --skill review --driver {PREFERRED[-1]} --inherit head_snapshot",
        "ramet spawn 'Write it down' --parent s3 --inherit selective --tag decision --last-turns 4",
        """ramet spawn 'Fix it' --parent s3 --context '{"file": "cart.py"}' --max-tokens 50000 --detach""",
    ],
)
@click.argument("goals", metavar="GOAL...", nargs=-1, required=True)
@click.option(
    "--parent", type=references.session, metavar="SESSION", help="The parent session (default: the calling agent's)."
)
@click.option("--skill", help="What to do: plan, implement, review, … (default: do).")
@click.option("--driver", metavar="NAME", help="The agent program, see `ramet drivers` (default: its parent's).")
@click.option("--model", help="The model, by the agent program's own name for it.")
@click.option(
    "--dir", "directory", type=references.path, metavar="DIR", help="Where it works (default: its parent's directory)."
)
@click.option(
    "--context", type=references.json_object, metavar="JSON", help="More facts for the child, beside the goal."
)
@click.option(
    "--inherit",
    type=click.Choice(get_args(Inheritance)),
    help="Start with the parent's history: full_clone copies it, head_snapshot passes it as one text, selective takes "
    "what --type, --tag and --last-turns select (default: none).",
)
@click.option("--type", "types", multiple=True, help="With --inherit selective: commits of this type (repeatable).")
@click.option("--tag", "tags", multiple=True, help="With --inherit selective: commits with this tag (repeatable).")
@click.option(
    "--last-turns", type=click.IntRange(min=1), metavar="N", help="With --inherit selective: the last N turns."
)
@click.option("--seconds", type=click.IntRange(min=1), help="Stop it after this many seconds.")
@tokens_option("Stop it at this many tokens, including its own children.", "--tokens", into="tokens")
@cost_option("Stop it at this cost in USD, including its own children.", "--cost", into="cost_usd")
@click.option("--detach", is_flag=True, help="Queue it and return, instead of waiting for it.")
@click.pass_context
def spawn(  # noqa: PLR0913  one for each option
    ctx: click.Context,
    *,
    goals: tuple[str, ...],
    parent: int | str | None,
    skill: str | None,
    driver: str | None,
    model: str | None,
    directory: str | None,
    context: dict[str, Any] | None,
    inherit: Inheritance | None,
    types: tuple[str, ...],
    tags: tuple[str, ...],
    last_turns: int | None,
    seconds: int | None,
    tokens: int | None,
    cost_usd: float | None,
    detach: bool,
) -> None:
    """Start a child session for each GOAL, wait for them, and print their reports.

    A child works in its parent's directory and within its parent's limits. Exits with 0 if every child succeeds.
    Otherwise the first child that does not succeed decides: 1 for an error, 8 for a timeout, 9 if it is stuck, 10 for a
    budget, 11 if it is cancelled, 12 if it is dropped. Ctrl-C leaves the children to the queue.
    """
    invocation: Invocation = ctx.obj
    _refuse_task_file(goals)
    if parent is None and invocation.target.entrance is None:
        raise click.UsageError("give the parent session, such as --parent s3; `ramet tree` lists sessions.")
    if invocation.target.entrance is None:
        check_driver(invocation, driver)
    chosen = Filter(types=list(types) or None, tags=list(tags) or None, last_turns=last_turns)
    if chosen != Filter() and inherit != "selective":
        raise click.UsageError("--type, --tag and --last-turns need --inherit selective.")
    limits = ChildLimits(seconds=seconds, tokens=tokens, cost_usd=cost_usd)
    order = ChildOrder(
        goal=goals[0],
        workflow_id=skill,
        workspace_path=directory,
        context=context,
        inherit=inherit,
        filter=None if chosen == Filter() else chosen,
        driver=driver,
        model=model,
        limits=None if limits == ChildLimits() else limits,
    )
    if len(goals) == 1:
        ctx.exit(_carry_out(invocation, _request_one(order, parent, detach=detach), goals, parent, detach=detach))
    orders = [structs.replace(order, goal=goal) for goal in goals]
    if not invocation.as_json and invocation.target.entrance is None:
        for line in list_lines(invocation, [Planned(skill=skill or "do", model=model, efforts=len(goals))]):
            click.echo(clean(line), err=True)
    ctx.exit(_carry_out(invocation, _request_several(orders, parent, detach=detach), goals, parent, detach=detach))


def _refuse_task_file(goals: tuple[str, ...]) -> None:
    """A goal is a text. The name of a task file is a run."""
    for goal in goals:
        if goal.endswith(".md") and " " not in goal:
            raise click.UsageError(
                f"{goal} is the name of a file, not a goal. Run the tasks of a file with `ramet run {goal}`; "
                f"for a child, write what it should do: `ramet spawn 'Do what {goal} says' --parent s3`."
            )


def _request_one(order: ChildOrder, parent: int | str | None, *, detach: bool) -> SpawnAgent:
    """The request for one child. Sent again after the daemon has stopped, it makes no second child."""
    return SpawnAgent(
        goal=order.goal,
        parent_session_id=parent,
        workflow_id=order.workflow_id,
        workspace_path=order.workspace_path,
        context=order.context,
        inherit=order.inherit,
        filter=order.filter,
        driver=order.driver,
        model=order.model,
        limits=order.limits,
        wait=not detach,
        idempotency_key=uuid.uuid4().hex,
    )


def _request_several(orders: list[ChildOrder], parent: int | str | None, *, detach: bool) -> SpawnAgents:
    """The same for several children."""
    return SpawnAgents(agents=orders, parent_session_id=parent, wait=not detach, idempotency_key=uuid.uuid4().hex)


def _carry_out(
    invocation: Invocation,
    request: Request[Spawned],
    goals: tuple[str, ...],
    parent: int | str | None,
    *,
    detach: bool,
) -> int:
    """Start the children, wait unless they are detached, and show their results; the exit status."""
    if detach:
        return _show_detached(invocation, invocation.ask(request), goals)
    errand = Errand(invocation, parent if parent is not None else own_session(invocation))
    try:
        reply = errand.run(request)
    except KeyboardInterrupt:
        click.echo(f"the children keep running: `ramet tree s{errand.parent}`", err=True)
        return _INTERRUPTED
    return _show_results(invocation, reply, goals, errand.rows())


class Errand:
    """Waits for children, through every daemon that serves the request."""

    def __init__(self, invocation: Invocation, parent: int | str) -> None:
        self._invocation = invocation
        self.parent = invocation.ask(GetSession(session_id=parent)).id
        self._known = {row.id for row in self._below()}

    def run(self, request: Request[R]) -> R:
        """The reply, when all children have ended."""
        if self._invocation.as_json or not sys.stderr.isatty():
            return self._ask(request, lambda: None)
        self._invocation.is_working = True
        with live_screen(is_error=True) as live:
            return self._ask(request, lambda: self._draw(live))

    def rows(self) -> list[TreeRow]:
        """The sessions below the parent that were not there before."""
        return [row for row in self._below() if row.id not in self._known]

    def _below(self) -> list[TreeRow]:
        return self._invocation.ask(ShowTree(session_id=self.parent, below=True)).items

    def _ask(self, request: Request[R], tick: Callable[[], None]) -> R:
        losses = 0
        while True:
            try:
                return self._wait(request, tick)
            except DaemonUnreachable:
                losses += 1
                if losses > _LOSSES:
                    raise
                self._invocation.forget_connection()

    def _wait(self, request: Request[R], tick: Callable[[], None]) -> R:
        inbox = Inbox()
        autostart = self._invocation.configuration.settings.daemon.autostart
        connection = self._invocation.connect(autostart=autostart)
        if self._invocation.target.entrance is None:  # a child of an agent gets what that agent got
            ask(connection, Hello(client="ramet spawn", environment=self._invocation.environ))
        inbox.ask(connection, request)
        while True:
            match inbox.take(_LOOK_SECONDS):
                case Answered(reply):
                    answer: R = reply
                    return answer
                case Failed(error):
                    raise error
                case _:
                    tick()

    def _draw(self, live: "Live") -> None:
        rows = self.rows()
        if rows:
            live.update(as_picture(draw(rows, width=live.console.width)), refresh=True)


def _results(reply: SpawnResult | Results) -> list[SpawnResult]:
    return [reply] if isinstance(reply, SpawnResult) else reply.results


def _status(results: list[SpawnResult]) -> int:
    """The exit status of the first child that did not succeed."""
    return next((status for status in map(_status_of, results) if status), 0)


def _status_of(result: SpawnResult) -> int:
    if result.code is not None:
        return BY_CODE.get(result.code, RametError).exit_status
    return 1 if result.outcome is None else STATUSES[result.outcome]


def _show_results(
    invocation: Invocation, reply: SpawnResult | Results, goals: tuple[str, ...], rows: list[TreeRow]
) -> int:
    """Each report below a line of facts; the exit status."""
    results, known = _results(reply), {row.id: row for row in rows}
    if invocation.as_json:
        print_json(reply)
        return _status(results)
    for index, (result, goal) in enumerate(zip(results, goals, strict=True)):
        if index:
            click.echo()
        row = None if result.child_session_id is None else known.get(result.child_session_id)
        facts = f" ({used(row)})" if row and row.ended_at else ""
        lead = f"{_name(result)} {result.outcome or result.status}{facts}"
        click.echo(clean(lead if len(goals) == 1 else f"{lead}: {first_line(goal)}"))
        if result.notes.strip():
            click.echo(clean(result.notes).strip())
        for name, told in (("artifacts", result.artifacts), ("issues", result.issues)):
            if told:
                click.echo(clean(f"{name}: {', '.join(told)}"))
    return _status(results)


def _show_detached(invocation: Invocation, reply: SpawnResult | Results, goals: tuple[str, ...]) -> int:
    """The children that are queued, and those that were refused; the exit status."""
    results = _results(reply)
    refused = [result for result in results if result.child_session_id is None]
    if invocation.as_json:
        print_json(reply)
        return _status(refused)
    for result, goal in zip(results, goals, strict=True):
        click.echo(clean(f"{_name(result)} {result.notes if result in refused else f'queued: {first_line(goal)}'}"))
    if len(refused) < len(results):
        click.echo("`ramet work --once` runs queued efforts, `ramet tree` shows them")
    return _status(refused)


def _name(result: SpawnResult) -> str:
    return "not spawned:" if result.child_session_id is None else f"s{result.child_session_id} (e{result.effort_id})"
