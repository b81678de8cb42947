"""`ramet diff`: the code that efforts and runs have changed."""

import click
from msgspec import Struct

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.commands.landing.patch_lines import draw_patch, draw_stat, show
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, count, paged, print_json
from ramet.cli.progress import working
from ramet.cli.references import Work
from ramet.cli.screens.commit_lines import short
from ramet.cli.screens.styled_lines import Line
from ramet.protocol.work.changes import BranchDiff, DiffWork, WorkDiff


class _Diff(Struct, frozen=True, kw_only=True):
    """What is printed for programs."""

    items: list[WorkDiff]


@click.command(
    cls=Command,
    examples=[
        "ramet diff e6",
        "ramet diff e6 e7 --stat",
        "ramet diff r1 --name-only",
        "ramet diff e6 --json",
    ],
)
@click.argument("works", metavar="EFFORT|RUN...", nargs=-1, required=True, type=references.work)
@click.option("--stat", is_flag=True, help="Show only the files and how many lines changed in each.")
@click.option("--name-only", is_flag=True, help="Show only the names of the files.")
@click.pass_obj
def diff(invocation: Invocation, works: tuple[Work, ...], stat: bool, name_only: bool) -> None:
    """Show the code that each EFFORT, RUN or chain has changed since it started.

    Of work that is running, the uncommitted changes in its worktree are included. A chain is named by its run, such as
    r3. Characters that a terminal would obey or hide are written out as escapes.
    """
    if stat and name_only:
        raise click.UsageError("give either --stat or --name-only.")
    has_patch = not (stat or name_only)
    with working(invocation, "comparing"):
        found = [
            invocation.ask(DiffWork(effort_id=work.effort_id, run_id=work.run_id, has_patch=has_patch))
            for work in works
        ]
    if invocation.as_json:
        return print_json(_Diff(items=found))
    branches = [branch for each in found for branch in each.branches]
    with paged(invocation):
        for index, branch in enumerate(branches):
            if name_only:
                show([[(file.path, "")] for file in branch.files])
            else:
                show([*([[("", "")]] if index else []), _headline(branch), *_body(branch, stat=stat)])
    for branch in branches:
        _say_cut(branch)
    if not branches:
        click.echo("no task of it has changed any code yet", err=True)
    return None


def _headline(branch: BranchDiff) -> Line:
    """`e6 on ramet/e6 since 1f3c9a2b: 3 files, +10 -2`."""
    names = ", ".join(f"e{effort}" for effort in branch.efforts)
    line: Line = [(names, "bold"), (f" on {branch.branch}" if branch.branch else "", "")]
    if branch.note:
        return [*line, (": nothing to compare", "")]
    amount = count(len(branch.files), "file") + (" and more" if branch.is_list_cut else "")
    unfinished = ", uncommitted changes included" if branch.head is None else ""
    return [
        *line,
        (f" since {short(branch.base or '')}{unfinished}: {amount}, ", ""),
        (f"+{branch.insertions:,}", "green"),
        (" ", ""),
        (f"-{branch.deletions:,}", "red"),
    ]


def _body(branch: BranchDiff, *, stat: bool) -> list[Line]:
    if stat:
        return draw_stat(branch.files)
    return draw_patch(branch.patch or "")


def _say_cut(branch: BranchDiff) -> None:
    """What is missing from the screen, below it."""
    if branch.note:
        click.echo(clean(f"e{branch.efforts[-1]}: {branch.note}"), err=True)
    if branch.is_patch_cut:
        rest = f"{branch.base} {branch.head}" if branch.head else branch.base
        place = f"-C {branch.worktree} " if branch.worktree else ""
        click.echo(clean(f"the patch is cut; all of it: `git {place}diff {rest}`"), err=True)
