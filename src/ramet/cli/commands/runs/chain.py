"""`ramet chain`: plan, implement and review until a review approves or a person has to decide."""

import click
from msgspec.structs import replace

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.commands.queue.add import accept_option
from ramet.cli.commands.queue.drivers import check_driver
from ramet.cli.commands.queue.start_options import start_options
from ramet.cli.commands.record.project import nearest_project
from ramet.cli.commands.runs.attendance import attend
from ramet.cli.commands.runs.forecast import list_lines, plan
from ramet.cli.commands.runs.run import limit_options
from ramet.cli.invocation import Invocation
from ramet.cli.output import count
from ramet.cli.screens.effort_lines import list_start
from ramet.model.record.task import task_path
from ramet.model.runs.run import RunLimits
from ramet.protocol.record.starting_points import StartAt
from ramet.protocol.runs.runs import StartRun
from ramet.vendors.registry import PREFERRED


@click.command(
    cls=Command,
    examples=[
        "ramet chain 'Keep carts with the account'",
        f"ramet chain - --rounds 2 --driver {PREFERRED[0]} < wish.md",
    ],
)
@click.argument("prompt")
@click.option(
    "--rounds",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Review at most N times (default: runs.review_rounds of `ramet config`).",
)
@click.option("--driver", metavar="NAME", help="The agent program (default: chosen when it runs).")
@click.option("--model", help="The model, by the agent program's own name for it.")
@start_options
@limit_options
@accept_option
@click.option("-v", "--verbose", is_flag=True, help="Show every message of the agents.")
@click.pass_context
def chain(  # noqa: PLR0913  one for each option
    ctx: click.Context,
    *,
    prompt: str,
    rounds: int | None,
    driver: str | None,
    model: str | None,
    start: StartAt,
    limits: RunLimits,
    accept_no_change: bool,
    verbose: bool,
) -> None:
    """Plan PROMPT, implement it and review it. Improve and review it again until a review approves.

    If the last review does not approve, the open findings are listed and a person has to decide. Exits with 0 if a
    review approved. With `-`, read PROMPT from standard input. Ctrl-C works as in `ramet run`, and
    `ramet run --resume` continues an interrupted chain.
    """
    invocation: Invocation = ctx.obj
    configuration = invocation.require_configuration()
    text = references.text_or_stdin(prompt)
    if not text.strip():
        raise click.UsageError("PROMPT is empty; say what to build.")
    check_driver(invocation, driver)
    started = invocation.ask(
        StartRun(
            task=task_path(nearest_project(invocation), text),
            mode="chain",
            prompt=text,
            limits=replace(limits, rounds=rounds or configuration.settings.runs.review_rounds),
            driver=driver,
            model=model,
            start=start,
            accept_no_change=accept_no_change,
        )
    )
    bound = count(started.limits.rounds or 0, "review")
    greeting = f"r{started.id} {started.name}: plan, implement, then at most {bound}"
    stages = plan((skill, model) for skill in ("plan", "implement", "review"))
    forecast = [] if invocation.as_json else list_lines(invocation, stages, started.limits)
    greeting = "\n".join([greeting, *list_start(f"r{started.id}", started), *forecast])
    ctx.exit(attend(invocation, started, lambda _: greeting, is_verbose=verbose))
