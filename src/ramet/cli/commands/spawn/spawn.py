"""`ramet spawn`: give a session a child with a goal, and wait for what comes of it."""

import sys
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, get_args

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.commands.look.tree import own_session
from ramet.cli.commands.queue.drivers import check_driver
from ramet.cli.connections import Answered, Failed, Inbox
from ramet.cli.invocation import Invocation
from ramet.cli.output import Row, clean, print_json
from ramet.cli.screens.effort_lines import first_line
from ramet.cli.screens.session_tree import draw, used
from ramet.cli.screens.styled_lines import as_picture
from ramet.errors import BY_CODE, DaemonUnreachable, RametError
from ramet.model.record.effort import Outcome
from ramet.protocol.history import Inheritance

if TYPE_CHECKING:
    from rich.live import Live

STATUSES: dict[Outcome, int] = {
    "success": 0,
    "error": 1,
    "timeout": 8,
    "stuck": 9,
    "budget": 10,
    "cancelled": 11,
    "dropped": 12,
}
"""The exit status of each outcome; those of refusals are between them."""
_INHERITANCES = [mode for mode in get_args(Inheritance) if mode != "selective"]
"""A selection takes more words than a command has: `spawn.agent` has them."""
_INTERRUPTED = 130
_LOOK_SECONDS = 0.5
_LOSSES = 5
"""How often a daemon that has gone is started again."""


@click.command(
    cls=Command,
    examples=[
        "ramet spawn 'Find out who calls parse()' --parent s3",
        "ramet spawn 'Write the tests' 'Write the page' --parent s3 --seconds 600",
        "ramet spawn 'Look over the plan' --parent s3 --skill review --driver codex --inherit head_snapshot",
        """ramet spawn 'Fix it' --parent s3 --context '{"file": "cart.py"}' --tokens 50000 --detach""",
    ],
)
@click.argument("goals", metavar="GOAL...", nargs=-1, required=True)
@click.option("--parent", type=references.session, metavar="SESSION", help="Whose child. An agent's own where it asks.")
@click.option("--skill", help="What to do with it: plan, implement, review, …  [default: do]")
@click.option("--driver", metavar="NAME", help="The agent program, see `ramet drivers`. Default: its parent's.")
@click.option("--model", help="The model, as the agent program calls it.")
@click.option("--dir", "directory", type=references.path, metavar="DIR", help="Where it works. Default: as its parent.")
@click.option("--context", type=references.json_object, metavar="JSON", help="What it is told beside the goal.")
@click.option(
    "--inherit", type=click.Choice(_INHERITANCES), help="Begin with the parent's history: whole, or as a text."
)
@click.option("--seconds", type=click.IntRange(min=1), help="How long it may take.")
@click.option("--tokens", type=click.IntRange(min=1), help="How many tokens it may use, with all that it spawns.")
@click.option(
    "--cost", "cost_usd", type=click.FloatRange(min=0, min_open=True), metavar="USD", help="And how much cost."
)
@click.option("--detach", is_flag=True, help="Leave it to the queue, instead of waiting for it.")
@click.pass_context
def spawn(ctx: click.Context, /, goals: tuple[str, ...], parent: int | str | None, detach: bool, **given: Any) -> None:
    """Spawn a child session for each GOAL, wait for them, and print what they report.

    A child works where its parent does, within its parent's limits. Exits with 0 where all of them succeed; else with 1
    for an error, 8 for a timeout, 9 where it was stuck, 10 for a budget, 11 where it was cancelled and 12 where it was
    dropped: that of the first that did not. Ctrl-C leaves them to the queue.
    """
    invocation: Invocation = ctx.obj
    if parent is None and invocation.target.token is None:
        raise click.UsageError("whose child? Give --parent s3; `ramet tree` shows who is there.")
    if invocation.target.token is None:
        check_driver(invocation, given["driver"])
    method, request = _request(goals, _order(given), parent, is_awaited=not detach)
    if detach:
        ctx.exit(_show_detached(invocation, invocation.call(method, **request), goals))
    errand = Errand(invocation, parent if parent is not None else own_session(invocation))
    try:
        reply = errand.run(method, request)
    except KeyboardInterrupt:
        click.echo(f"it goes on without you: `ramet tree s{errand.parent}`", err=True)
        ctx.exit(_INTERRUPTED)
    ctx.exit(_show_results(invocation, reply, goals, errand.rows()))


def _order(given: dict[str, Any]) -> dict[str, Any]:
    """One child, as the operations spell it; what was not given is left out."""
    limits = {"seconds": given["seconds"], "tokens": given["tokens"], "cost_usd": given["cost_usd"]}
    order = {
        "workflowId": given["skill"],
        "workspacePath": given["directory"],
        "context": given["context"],
        "inherit": given["inherit"],
        "driver": given["driver"],
        "model": given["model"],
        "limits": {name: value for name, value in limits.items() if value is not None} or None,
    }
    return {name: value for name, value in order.items() if value is not None}


def _request(
    goals: tuple[str, ...], order: dict[str, Any], parent: int | str | None, *, is_awaited: bool
) -> tuple[str, dict[str, Any]]:
    """What to ask for. Asked again, when the daemon has gone, it makes no second child."""
    asked: dict[str, Any] = {"parent_session_id": parent, "wait": is_awaited, "idempotency_key": uuid.uuid4().hex}
    if len(goals) == 1:
        return "spawn.agent", {**asked, **order, "goal": goals[0]}
    return "spawn.agents", {**asked, "agents": [{**order, "goal": goal} for goal in goals]}


class Errand:
    """A request for children that is waited for, through every daemon that serves it."""

    def __init__(self, invocation: Invocation, parent: int | str) -> None:
        self._invocation = invocation
        self.parent: int = invocation.call("db.session.get", session_id=parent)["id"]
        self._known = {row["id"] for row in self._below()}

    def run(self, method: str, request: dict[str, Any]) -> Any:
        """The answer, when all of them have ended."""
        params = {name: value for name, value in request.items() if value is not None}
        if self._invocation.as_json or not sys.stderr.isatty():
            return self._ask(method, params, lambda: None)
        from rich.console import Console  # noqa: PLC0415
        from rich.live import Live  # noqa: PLC0415

        console = Console(stderr=True, highlight=False)
        self._invocation.is_working = True
        with Live(console=console, auto_refresh=False, transient=True, vertical_overflow="ellipsis") as live:
            return self._ask(method, params, lambda: self._draw(live))

    def rows(self) -> list[Row]:
        """What is below the parent now and was not before."""
        return [row for row in self._below() if row["id"] not in self._known]

    def _below(self) -> list[Row]:
        rows: list[Row] = self._invocation.call("spawn.tree", session_id=self.parent, below=True)["items"]
        return rows

    def _ask(self, method: str, params: dict[str, Any], tick: Callable[[], None]) -> Any:
        losses = 0
        while True:
            try:
                return self._wait(method, params, tick)
            except DaemonUnreachable:
                losses += 1
                if losses > _LOSSES:
                    raise
                self._invocation.forget_connection()

    def _wait(self, method: str, params: dict[str, Any], tick: Callable[[], None]) -> Any:
        inbox = Inbox()
        autostart = self._invocation.configuration.settings.daemon.autostart
        inbox.ask(self._invocation.connect(autostart=autostart), method, params)
        while True:
            match inbox.take(_LOOK_SECONDS):
                case Answered(reply):
                    return reply
                case Failed(error):
                    raise error
                case _:
                    tick()

    def _draw(self, live: "Live") -> None:
        rows = self.rows()
        if rows:
            live.update(as_picture(draw(rows)), refresh=True)


def _results(reply: Row) -> list[Row]:
    results: list[Row] = reply.get("results", [reply])
    return results


def _status(results: list[Row]) -> int:
    """The exit status: that of the first that did not succeed."""
    return next((status for status in map(_status_of, results) if status), 0)


def _status_of(result: Row) -> int:
    if result["code"] is not None:
        return BY_CODE.get(result["code"], RametError).exit_status
    return STATUSES.get(result["outcome"], 1)


def _show_results(invocation: Invocation, reply: Row, goals: tuple[str, ...], rows: list[Row]) -> int:
    """Each with a line of facts above what it reports; the exit status."""
    results, known = _results(reply), {row["id"]: row for row in rows}
    if invocation.as_json:
        print_json(reply)
        return _status(results)
    for index, (result, goal) in enumerate(zip(results, goals, strict=True)):
        if index:
            click.echo()
        row = known.get(result["childSessionId"])
        facts = f" ({used(row)})" if row and row["ended_at"] else ""
        lead = f"{_name(result)} {result['outcome'] or result['status']}{facts}"
        click.echo(clean(lead if len(goals) == 1 else f"{lead}: {first_line(goal)}"))
        if result["notes"].strip():
            click.echo(clean(result["notes"]).strip())
        for name in ("artifacts", "issues"):
            if result[name]:
                click.echo(clean(f"{name}: {', '.join(result[name])}"))
    return _status(results)


def _show_detached(invocation: Invocation, reply: Row, goals: tuple[str, ...]) -> int:
    """What was spawned, and what was not; the exit status."""
    results = _results(reply)
    refused = [result for result in results if result["childSessionId"] is None]
    if invocation.as_json:
        print_json(reply)
        return _status(refused)
    for result, goal in zip(results, goals, strict=True):
        click.echo(clean(f"{_name(result)} {result['notes'] if result in refused else f'queued: {first_line(goal)}'}"))
    if len(refused) < len(results):
        click.echo("run what is queued with `ramet work --once`, and look at it with `ramet tree`")
    return _status(refused)


def _name(result: Row) -> str:
    return (
        "not spawned:" if result["childSessionId"] is None else f"s{result['childSessionId']} (e{result['effort_id']})"
    )
