"""`ramet chain`: plan, implement and review, until a review approves or a person has to decide."""

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.commands.queue.drivers import check_driver
from ramet.cli.commands.record.project import nearest_project
from ramet.cli.commands.runs.attendance import attend
from ramet.cli.commands.runs.run import limit_options
from ramet.cli.invocation import Invocation
from ramet.cli.output import count
from ramet.model.record.task import task_path
from ramet.model.runs.run import RunLimits
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
    "--rounds", type=click.IntRange(1, 1000), metavar="N", help="How often it may be reviewed.  [runs.review_rounds]"
)
@click.option("--driver", metavar="NAME", help="The agent program. Default: chosen when it runs.")
@click.option("--model", help="The model, as the agent program calls it.")
@limit_options
@click.option("-v", "--verbose", is_flag=True, help="Show everything that the agents say.")
@click.pass_context
def chain(  # noqa: PLR0913  one for each option
    ctx: click.Context,
    *,
    prompt: str,
    rounds: int | None,
    driver: str | None,
    model: str | None,
    seconds: int | None,
    tokens: int | None,
    cost_usd: float | None,
    verbose: bool,
) -> None:
    """Plan PROMPT, implement it and review it; improve it and review it again, until a review approves it.

    After so many rounds a person has to decide: what is still open is listed. Exits with 0 where it was approved.
    Ctrl-C is as with `ramet run`, and `ramet run --resume` goes on.
    """
    invocation: Invocation = ctx.obj
    text = references.text_or_stdin(prompt)
    if not text.strip():
        raise click.UsageError("the prompt is empty: say what to build.")
    check_driver(invocation, driver)
    started = invocation.ask(
        StartRun(
            task=task_path(nearest_project(invocation), text),
            mode="chain",
            prompt=text,
            limits=RunLimits(rounds=rounds, seconds=seconds, tokens=tokens, cost_usd=cost_usd),
            driver=driver,
            model=model,
        )
    )
    bound = count(started.limits.rounds or 0, "review")
    greeting = f"r{started.id} {started.name}: plan, implement, then at most {bound}"
    ctx.exit(attend(invocation, started, greeting, is_verbose=verbose))
