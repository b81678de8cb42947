"""`ramet land`: put what agents made on a branch of yours, tested."""

import sys

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.commands.landing.landing_lines import draw_plan, say_notes, say_outcome, wait_for
from ramet.cli.invocation import Invocation
from ramet.cli.output import print_json
from ramet.cli.progress import working
from ramet.cli.references import Work
from ramet.cli.screens.styled_lines import print_lines
from ramet.model.landing.landing import Method
from ramet.protocol.landing.plans import AddLandings, PlanLanding


@click.command(
    cls=Command,
    examples=[
        "ramet land e6",
        "ramet land r1 --check 'make test' --dry-run",
        "ramet land e6 e7 --onto main --squash --yes",
    ],
)
@click.argument("works", metavar="EFFORT|RUN...", nargs=-1, required=True, type=references.work)
@click.option("--onto", metavar="BRANCH", help="The branch to land on (default: the one that you are on).")
@click.option("--merge", "method", flag_value="merge", help="Make a merge commit for each branch.")
@click.option("--squash", "method", flag_value="squash", help="Make one commit for each branch.")
@click.option("--rebase", "method", flag_value="rebase", help="Put the commits of each branch on top of the target.")
@click.option(
    "--check",
    "checks",
    metavar="COMMAND",
    multiple=True,
    help="A command that has to succeed (repeatable; default: those of `checks:`).",
)
@click.option("--include-changes", is_flag=True, help="Land your changes too that --with-changes took along.")
@click.option("--dry-run", is_flag=True, help="Show what would land, and land nothing.")
@click.option("--detach", is_flag=True, help="Queue it and return; `ramet landings` shows what became of it.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_context
def land(  # noqa: PLR0913  one for each option
    ctx: click.Context,
    *,
    works: tuple[Work, ...],
    onto: str | None,
    method: Method | None,
    checks: tuple[str, ...],
    include_changes: bool,
    dry_run: bool,
    detach: bool,
    yes: bool,
) -> None:
    """Land the branch of each EFFORT, RUN or chain: merge it into the target, run the checks, and move the target.

    The plan is shown first. Branches land in the order of their dependencies; one that conflicts or fails a check stops
    only itself and what needs it. A checkout with uncommitted changes is never touched. Exits with 1 if anything did
    not land. `ramet undo l3` takes a landing back.
    """
    invocation: Invocation = ctx.obj
    named = PlanLanding(
        effort_ids=[work.effort_id for work in works if work.effort_id is not None],
        run_ids=[work.run_id for work in works if work.run_id is not None],
        directory=str(invocation.cwd),
        onto=onto,
        method=method,
        checks=list(checks),
        include_changes=include_changes,
    )
    if (dry_run or not yes) and not _agree(invocation, named, dry_run=dry_run):
        return
    added = invocation.ask(
        AddLandings(
            effort_ids=named.effort_ids,
            run_ids=named.run_ids,
            directory=named.directory,
            onto=onto,
            method=method,
            checks=named.checks,
            include_changes=include_changes,
        )
    )
    if yes and not invocation.as_json:
        say_notes(added.plan)
    rows = added.items if detach else wait_for(invocation, added.items)
    if invocation.as_json:
        print_json({"items": rows, "plan": added.plan})
    else:
        for row in rows:
            say_outcome(row)
    ctx.exit(0 if detach or all(row.state == "landed" for row in rows) else 1)


def _agree(invocation: Invocation, named: PlanLanding, *, dry_run: bool) -> bool:
    """Show the plan, and ask whether to follow it; a dry run does not."""
    with working(invocation, "predicting conflicts"):
        plan = invocation.ask(named)
    if dry_run and invocation.as_json:
        print_json(plan)
        return False
    if not dry_run and (invocation.as_json or not sys.stdin.isatty()):
        raise click.UsageError("land asks for confirmation, and this is no terminal; give --yes or --dry-run.")
    print_lines(draw_plan(plan), cut=False)
    if dry_run:
        return False
    is_agreed = click.confirm(f"Land on {plan.target}?", err=True)
    if not is_agreed:
        click.echo("nothing was landed", err=True)
    return is_agreed
