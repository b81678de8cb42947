"""`ramet redact`: find secrets that were stored before a rule knew them, and remove them."""

import sys
from typing import Any

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, count, print_json, print_table
from ramet.cli.progress import working


@click.command(
    cls=Command,
    examples=[
        "ramet redact --rescan",
        "ramet redact --rescan --purge --reason 'the token leaked in s7'",
        "ramet redact --rescan --file ~/old/ramet-backup.db",
    ],
)
@click.option("--rescan", is_flag=True, help="Search everything that is stored with today's rules.")
@click.option("--purge", is_flag=True, help="Remove what is found. This cannot be undone.")
@click.option("--reason", default="", metavar="TEXT", help="Why, for the tombstones.")
@click.option("--file", "files", multiple=True, type=references.path, help="Also search this file (repeatable).")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_context
def redact(ctx: click.Context, rescan: bool, purge: bool, reason: str, files: tuple[str, ...], yes: bool) -> None:
    """Find secrets that were stored before a rule knew them, and remove them with --purge.

    Searches the database, its backups, spools, logs and reports. A running daemon is restarted; agents continue.
    A purged content becomes [purged]; its hash, its size, and who removed it, when and why, are kept.
    """
    invocation: Invocation = ctx.obj
    if not rescan:
        raise click.UsageError("give --rescan, and --purge to remove what it finds.")
    if purge and not yes:
        _confirm()
    order = {"is_purging": purge, "reason": reason or "a secret was stored", "files": list(files)}
    found = _run(invocation, order)
    if invocation.as_json:
        print_json(found)
    else:
        _show(found)
    if found["left"] or (_total(found) and not purge):
        ctx.exit(1)


def _run(invocation: Invocation, order: dict[str, Any]) -> dict[str, Any]:
    from ramet.client.processes import run  # noqa: PLC0415

    with working(invocation, "searching for stored secrets"):
        was_running = invocation.stop_daemon()
        try:
            return run("redact", invocation.target, order)
        finally:
            if was_running:
                invocation.connect(autostart=True).close()


def _confirm() -> None:
    if not sys.stdin.isatty():
        raise click.UsageError("purge asks for confirmation, and there is no terminal; give --yes.")
    if not click.confirm("Remove every secret that is found? This cannot be undone.", err=True):
        click.echo("nothing was changed", err=True)
        raise click.exceptions.Exit(1)


def _total(found: dict[str, Any]) -> int:
    return int(found["blobs"] + found["commits"] + found["texts"] + len(found["files"]))


def _show(found: dict[str, Any]) -> None:
    if not _total(found):
        click.echo("no stored secrets were found")
    else:
        verb = "purged" if found["is_purged"] else "found secrets in"
        contents, commits = count(found["blobs"], "content"), count(found["commits"], "commit")
        click.echo(
            f"{verb} {contents}, {commits}, {count(found['texts'], 'row')}, {count(len(found['files']), 'file')}"
        )
        print_table(["KIND", "SECRETS"], [[kind, str(number)] for kind, number in sorted(found["kinds"].items())])
        for file in found["files"]:
            click.echo(clean(f"{file['path']}: {file['secrets']}"))
    for left in found["left"]:
        click.echo(clean(f"not changed: {left}"), err=True)
