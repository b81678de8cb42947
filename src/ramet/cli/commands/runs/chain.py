"""`ramet chain`: plan, implement and review, until a review approves or a person has to decide."""

from typing import Any

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.commands.queue.add import nearest_project, slug
from ramet.cli.commands.queue.drivers import check_driver
from ramet.cli.commands.runs.attendance import attend
from ramet.cli.commands.runs.run import limit_options
from ramet.cli.invocation import Invocation
from ramet.cli.output import count


@click.command(
    cls=Command,
    examples=["ramet chain 'Keep carts with the account'", "ramet chain - --rounds 2 --driver claude < wish.md"],
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
def chain(
    ctx: click.Context, /, prompt: str, driver: str | None, model: str | None, verbose: bool, **limits: Any
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
    started = invocation.call(
        "run.start",
        task=f"{nearest_project(invocation)}/.ramet/tasks/{slug(text)}",
        mode="chain",
        prompt=text,
        limits=limits,
        driver=driver,
        model=model,
    )
    bound = count(started["limits"]["rounds"], "review")
    greeting = f"r{started['id']} {started['name']}: plan, implement, then at most {bound}"
    ctx.exit(attend(invocation, started, greeting, is_verbose=verbose))
