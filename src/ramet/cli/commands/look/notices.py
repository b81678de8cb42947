"""`ramet notices`: things that need a person's attention."""

import click

from ramet.cli.command import Group, json_option
from ramet.cli.commands.record.project_scope import everywhere_option, find_scope
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, count, say, show_items
from ramet.cli.times import ago
from ramet.model.notice import Notice
from ramet.protocol.replies import Page
from ramet.protocol.system.notices import DismissNotice, ListNotices

_COLUMNS: Columns[Notice] = {
    "NOTICE": lambda row: row.id,
    "KIND": lambda row: row.kind,
    "EFFORT": lambda row: row.effort_id and f"e{row.effort_id}",
    "AGE": lambda row: ago(row.created_at),
    "SEEN": lambda row: row.dismissed_at and f"{ago(row.dismissed_at)} ago",
    "TEXT": lambda row: row.text,
}


@click.group(
    cls=Group,
    invoke_without_command=True,
    params=[json_option()],
    epilog="Examples: `ramet notices`, `ramet notices --all`, `ramet notices -A`, `ramet notices dismiss 3`.",
)
@click.option("--all", "everything", is_flag=True, help="List dismissed notices too.")
@everywhere_option(is_all_taken=True)
@click.pass_context
def notices(ctx: click.Context, everything: bool, everywhere: bool) -> None:
    """List what needs your attention in this project, newest first. Every limit that is reached leaves one notice."""
    invocation: Invocation = ctx.obj
    if ctx.invoked_subcommand is None:
        columns = _COLUMNS if everything else {name: pick for name, pick in _COLUMNS.items() if name != "SEEN"}
        scope = find_scope(invocation, everywhere=everywhere)
        reply = invocation.ask(ListNotices(all=everything, project=scope.project_id))
        columns = scope.widen_table(columns, lambda row: row.project_id)
        show_items(invocation, reply, columns, nothing=scope.say("nothing needs your attention"))


@notices.command(examples=["ramet notices dismiss 3", "ramet notices dismiss --all"])
@click.argument("notice_ids", metavar="[ID]...", nargs=-1, type=click.IntRange(min=1))
@click.option("--all", "everything", is_flag=True, help="Dismiss every notice of this project.")
@everywhere_option("With --all, dismiss the notices of every project.", is_all_taken=True)
@click.pass_obj
def dismiss(invocation: Invocation, notice_ids: tuple[int, ...], everything: bool, everywhere: bool) -> None:
    """Dismiss each notice ID, or all of this project with --all."""
    if everything == bool(notice_ids):
        raise click.UsageError("give the ID of a notice, or --all.")
    if everywhere and not everything:
        raise click.UsageError("-A needs --all.")
    project = find_scope(invocation, everywhere=everywhere).project_id if everything else None
    requests = [DismissNotice(notice_id=each) for each in notice_ids] or [DismissNotice(project=project)]
    replies = [invocation.ask(request) for request in requests]
    items = [row for reply in replies for row in reply.items]
    say(invocation, Page(items=items), f"dismissed {count(len(items), 'notice')}")
