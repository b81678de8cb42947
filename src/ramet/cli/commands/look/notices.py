"""`ramet notices`: things that need a person's attention."""

import click

from ramet.cli.command import Group, json_option
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
    epilog="Examples: `ramet notices`, `ramet notices --all`, `ramet notices dismiss 3`.",
)
@click.option("--all", "everything", is_flag=True, help="List dismissed notices too.")
@click.pass_context
def notices(ctx: click.Context, everything: bool) -> None:
    """List what needs your attention, newest first. Every limit that is reached leaves one notice."""
    invocation: Invocation = ctx.obj
    if ctx.invoked_subcommand is None:
        columns = _COLUMNS if everything else {name: pick for name, pick in _COLUMNS.items() if name != "SEEN"}
        reply = invocation.ask(ListNotices(all=everything))
        show_items(invocation, reply, columns, nothing="nothing needs your attention")


@notices.command(examples=["ramet notices dismiss 3", "ramet notices dismiss --all"])
@click.argument("notice_ids", metavar="[ID]...", nargs=-1, type=click.IntRange(min=1))
@click.option("--all", "everything", is_flag=True, help="Dismiss every notice.")
@click.pass_obj
def dismiss(invocation: Invocation, notice_ids: tuple[int, ...], everything: bool) -> None:
    """Dismiss each notice ID, or all of them with --all."""
    if everything == bool(notice_ids):
        raise click.UsageError("give the ID of a notice, or --all.")
    replies = [invocation.ask(DismissNotice(notice_id=notice_id)) for notice_id in notice_ids or (None,)]
    items = [row for reply in replies for row in reply.items]
    say(invocation, Page(items=items), f"dismissed {count(len(items), 'notice')}")
