"""`ramet db salvage`: what can still be read of a damaged database, as a new one."""

import os
from typing import Any

import click

from ramet.cli.command import Command
from ramet.cli.commands.database.restore import confirm, require_terminal
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, count, print_json, print_table
from ramet.cli.progress import working

_SHOWN = 10
"""How many findings are printed; `ramet db check` lists them all."""


@click.command(
    cls=Command,
    examples=["ramet db salvage --into salvaged.db", "ramet db salvage", "ramet db salvage damaged.db --into new.db"],
)
@click.argument("path", required=False)
@click.option("--into", metavar="FILE", help="Write the new database to this file, and replace nothing.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def salvage(invocation: Invocation, path: str | None, into: str | None, yes: bool) -> None:
    """Read what can be read of a damaged database into a new one, which then replaces it.

    PATH is the damaged file (default: the database). It is never changed: the replaced database is kept. Another file
    needs --into; `ramet db restore` then puts the result in place. The daemon is stopped. A restored backup is whole;
    salvage what is newer, or what has no backup.
    """
    from ramet.client.processes import run  # noqa: PLC0415

    if path is not None and into is None:
        raise click.UsageError(
            "another file replaces nothing by itself; give --into FILE, then `ramet db restore FILE`."
        )
    if into is None and not yes:
        require_terminal("salvage")
        click.echo("`ramet db restore latest` returns to a backup that is whole.", err=True)
        confirm(f"Replace {invocation.places.database} by what can be read of it?")
    order = {name: _absolute(invocation, value) for name, value in (("source", path), ("into", into)) if value}
    with working(invocation, "reading the damaged database"):
        invocation.stop_daemon()
        reply = run("salvage", invocation.target, order)
    if invocation.as_json:
        return print_json(reply)
    return _show(reply)


def _show(reply: dict[str, Any]) -> None:
    salvaged = reply["salvaged"]
    rows = [
        [each["table"], f"{each['rows']:,}", f"{each['unreadable']:,}", f"{each['missing']:,}"]
        for each in salvaged["tables"]
        if each["rows"] or each["unreadable"]
    ]
    print_table(["TABLE", "ROWS", "UNREADABLE", "MISSING"], rows)
    for line in _tell(reply):
        click.echo(clean(line))


def _tell(reply: dict[str, Any]) -> list[str]:
    salvaged, repairs = reply["salvaged"], reply["salvaged"]["repairs"]
    lines = ["", f"read {reply['source']} into {reply['path']}"]
    if reply["kept"]:
        lines.append(f"the damaged database is {reply['kept']}")
    if salvaged["messages_without_text"]:
        lines.append(f"{count(salvaged['messages_without_text'], 'message')} lost the text")
    for said, counts in (
        ("made in place of lost rows", repairs["stand_ins"]),
        ("cut, because they led to lost rows", repairs["cut"]),
        ("removed, because they mean nothing without lost rows", repairs["removed"]),
    ):
        if counts:
            lines.append(f"{said}: " + ", ".join(f"{number:,} {table}" for table, number in counts.items()))
    if salvaged["orphans"]:
        lines.append(f"{count(salvaged['orphans'], 'row')} belong to no known table and were left out")
    lines += [f"{finding['check']}: {finding['detail']}" for finding in reply["findings"][:_SHOWN]]
    left = max(len(reply["findings"]) - _SHOWN, 0) + reply["more"]
    if left:
        lines.append(f"and {count(left, 'more problem')} (`ramet db check`)")
    if not reply["findings"]:
        lines.append("a check of the new database finds nothing wrong")
    return lines


def _absolute(invocation: Invocation, path: str) -> str:
    return os.path.abspath(invocation.cwd / path)  # noqa: PTH100
