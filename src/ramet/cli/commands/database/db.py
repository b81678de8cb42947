"""`ramet db`: back up, check, restore, migrate or reset the database."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from ramet.cli import references
from ramet.cli.command import Group
from ramet.cli.commands.database import database_checks, restore, salvage
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, count, print_fields, print_json, print_table, say
from ramet.cli.progress import progressing, working
from ramet.config.keys import KEYS
from ramet.config.places import make_private
from ramet.errors import RametError
from ramet.protocol.record.agents import CountRows
from ramet.protocol.system.database import BackUpDatabase, CheckReport


@click.group(cls=Group)
def db() -> None:
    """Back up, measure, check, restore, migrate or reset the database."""


for _command in (restore.backups, restore.restore, restore.accept, salvage.salvage):
    db.add_command(_command)


@db.command(examples=["ramet db backup", "ramet db backup /mnt/backup/ramet.db"])
@click.argument("path", required=False, type=references.path)
@click.pass_obj
def backup(invocation: Invocation, path: str | None) -> None:
    """Back up the database to a new SQLite file. The copy is consistent, and work continues meanwhile.

    PATH is the new file (default: one in the backups directory of Ramet's home).
    """
    target = path or str(_new_backup(invocation.places.backups))
    with working(invocation, "backing up"):
        reply = invocation.ask(BackUpDatabase(path=target))
    say(invocation, reply, f"backed up to {reply.path} ({reply.bytes:,} bytes)")


@db.command(examples=["ramet db check"])
@click.pass_context
def check(ctx: click.Context) -> None:
    """Check the database: its pages, references, hashes and branches. Exits with 1 if something is wrong.

    If the database is so damaged that no daemon can start, the file is only read. If it is read-only because damage was
    found, and this check finds none, Ramet writes to it again.
    """
    invocation: Invocation = ctx.obj
    with progressing(invocation, "checking the database") as advance:
        reply = database_checks.check(invocation, advance)
    if invocation.as_json:
        print_json(reply)
    else:
        _show_check(reply)
    if not reply.passed:
        ctx.exit(1)
    if database_checks.is_damaged(invocation) and database_checks.lift_ban(invocation):
        click.echo("the database was read-only, because damage was found; Ramet writes to it again", err=True)


@db.command(examples=["ramet db size", "ramet db size --json"])
@click.pass_obj
def size(invocation: Invocation) -> None:
    """Show what takes the space: contents, records, indexes, the write-ahead log and backups, largest first."""
    from ramet.cli.commands.memory.archives.sizes import show_sizes  # noqa: PLC0415

    show_sizes(invocation)


@db.command(examples=["ramet db migrate"])
@click.pass_obj
def migrate(invocation: Invocation) -> None:
    """Back up the database, then update its schema. A running daemon is restarted."""
    from ramet.client.processes import run  # noqa: PLC0415

    with working(invocation, "migrating the database"):
        was_running = invocation.stop_daemon()
        reply = run("migrate", invocation.target)
        if was_running:
            invocation.connect(autostart=True).close()
    return say(invocation, reply, "; ".join(_describe_migration(reply)))


def _describe_migration(reply: dict[str, Any]) -> Iterator[str]:
    if reply["applied"]:
        yield f"migrated from version {reply['from']} to {reply['to']}"
    else:
        yield f"the schema is up to date (version {reply['to']})"
    if reply["repaired"]:
        yield f"repaired {', '.join(reply['repaired'])}"
    if reply["backup"]:
        yield f"the backup is {reply['backup']}"
    if reply["differences"]:
        yield f"the schema differs in {len(reply['differences'])} places from Ramet's: see `ramet db check`"


@db.command(examples=["ramet db reset", "ramet db reset --yes"])
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def reset(invocation: Invocation, yes: bool) -> None:
    """Back up the database, then delete everything in it. A running daemon is stopped."""
    from ramet.client.processes import run  # noqa: PLC0415

    if not yes:
        _confirm_reset(invocation)
    with working(invocation, "resetting the database"):
        invocation.stop_daemon()
        reply = run("reset", invocation.target)
    kept = f"; the backup is {reply['backup']}" if reply["backup"] else ""
    say(invocation, reply, f"reset {reply['removed']}{kept}")


def _new_backup(directory: Path) -> Path:
    make_private(directory)
    return directory / f"ramet-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}.db"


def _show_check(reply: CheckReport) -> None:
    print_fields(reply.counts)
    if reply.passed:
        return click.echo("the database is intact")
    print_table(["CHECK", "FOUND"], [[finding.check, finding.detail] for finding in reply.findings])
    if reply.more:
        click.echo(f"and {count(reply.more, 'more problem')}")
    return None


def _confirm_reset(invocation: Invocation) -> None:
    """Say what will be deleted, and continue only if the person agrees."""
    restore.require_terminal("reset")
    where = invocation.places.database or invocation.configuration.value(KEYS["database.url"])
    click.echo(clean(f"This deletes everything in {where}:\n  {_losses(invocation)}"), err=True)
    click.echo(f"A backup is written to {invocation.places.backups} first.", err=True)
    restore.confirm("Reset the database?")


def _losses(invocation: Invocation) -> str:
    """How much there is, if the database can be opened; one that cannot be opened may still be reset."""
    try:
        counts = invocation.ask(CountRows())
    except RametError as error:
        return f"the rows cannot be counted: {error.message}"
    return (
        f"{counts.projects:,} projects, {counts.tasks:,} tasks, {counts.efforts:,} efforts, "
        f"{counts.sessions:,} sessions, {counts.messages:,} messages"
    )
