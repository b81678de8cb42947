"""`ramet db backups`, `restore` and `accept`: what there is to return to, and the way back.

They need no daemon: it may be the database that keeps it from starting.
"""

import os
import sys
from typing import Any

import click

from ramet.cli.command import Command
from ramet.cli.commands.database.database_checks import lift_ban
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, count, print_fields, print_json, print_table, say
from ramet.cli.progress import working
from ramet.cli.times import ago_text

_LATEST = "latest"
_KILO = 1024


@click.command(cls=Command, examples=["ramet db backups", "ramet db backups --json"])
@click.pass_obj
def backups(invocation: Invocation) -> None:
    """List the backups of the database, the newest first. It works without a daemon."""
    from ramet.client.processes import run  # noqa: PLC0415

    reply = run("backups", invocation.target)
    if invocation.as_json:
        return print_json(reply)
    if not reply["items"]:
        return click.echo("there are no backups yet; `ramet db backup` makes one")
    rows = [
        [
            ago_text(row["made_at"]),
            row["label"] or "by hand",
            f"{row['bytes'] / _KILO / _KILO:,.1f} MB",
            row["last_event"],
            row["state"],
            row["path"],
        ]
        for row in reply["items"]
    ]
    return print_table(["AGE", "WHY", "SIZE", "EVENTS", "STATE", "FILE"], rows)


@click.command(
    cls=Command,
    examples=["ramet db restore", "ramet db restore latest --yes", "ramet db restore /mnt/backup/ramet.db"],
)
@click.argument("backup", default=_LATEST)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def restore(invocation: Invocation, backup: str, yes: bool) -> None:
    """Replace the database by a backup. The backup is checked first, and the replaced database is kept.

    BACKUP is a file, or `latest` (default) for the newest backup of this database that is whole. Running agents are
    stopped. It works without a daemon.
    """
    from ramet.client.processes import run  # noqa: PLC0415

    path = backup if backup == _LATEST else os.path.abspath(invocation.cwd / backup)  # noqa: PTH100
    if not yes:
        require_terminal("restore")
    with working(invocation, "checking the backup"):
        found = run("preview", invocation.target, {"backup": path})
    if not yes:
        _show_preview(found)
        confirm("Restore this backup?")
    with working(invocation, "restoring the backup"):
        invocation.stop_daemon()
        # The very file that was shown: a newer backup may have been made meanwhile.
        reply = run("restore", invocation.target, {"backup": found["backup"]})
    say(invocation, reply, "\n".join(_tell(reply)))


@click.command(cls=Command, examples=["ramet db accept", "ramet db accept --yes"])
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def accept(invocation: Invocation, yes: bool) -> None:
    """Use the database file as it is, although it is damaged, missing, empty, older or another one than before.

    If Ramet has made the database read-only, because it found damage or because the files were replaced, it writes to
    it again. `ramet db check` lists the damage.
    """
    from ramet.client.processes import run  # noqa: PLC0415

    if invocation.places.database is None:
        is_lifted = lift_ban(invocation)
        sentence = "Ramet writes to the database again" if is_lifted else "the database was not read-only"
        return say(invocation, {"accepted": is_lifted}, sentence)
    if not yes:
        require_terminal("accept")
        click.echo("Ramet continues with this file, and forgets which database was here before.", err=True)
        confirm(f"Use {invocation.places.database} as it is?")
    invocation.stop_daemon()
    reply = run("accept", invocation.target)
    has = reply["has"]
    kind = "a new database" if has is None else f"the database with {_amounts(has)}"
    return say(invocation, reply, f"from now on {reply['database']} is {kind}")


def require_terminal(verb: str) -> None:
    """Refuse to ask without a terminal."""
    if not sys.stdin.isatty():
        raise click.UsageError(f"{verb} asks for confirmation, and there is no terminal; give --yes.")


def confirm(question: str) -> None:
    """Continue only if the person agrees."""
    if not click.confirm(clean(question), err=True):
        click.echo("nothing was changed", err=True)
        raise click.exceptions.Exit(1)


def _show_preview(found: dict[str, Any]) -> None:
    now = found["database_has"]
    fields = {
        "backup": found["backup"],
        "with": _describe(found["has"]),
        "database": found["database"],
        "replaced": "it is missing or cannot be read"
        if now is None
        else f"{_amounts(now)}, up to {now['last_event_at']}",
        "lost": _losses(found["losses"]),
        "stopped": ", ".join(f"e{number}" for number in found["agents"]) or "no agent runs",
    }
    print_fields(fields)
    for skipped in found["skipped"]:
        click.echo(clean(f"skipped: {skipped}"))


def _tell(reply: dict[str, Any]) -> list[str]:
    lines = [f"restored {reply['backup']}", f"lost since then: {_losses(reply['losses'])}"]
    if reply["kept"]:
        lines.append(f"the replaced database is {reply['kept']}")
    if reply["dropped"]:
        names = ", ".join(f"e{number}" for number in reply["dropped"])
        lines.append(f"taken off the queue, because they have run since or may have: {names} (`ramet retry e…`)")
    return lines


def _describe(has: dict[str, Any]) -> str:
    return f"{_amounts(has)}, up to {has['last_event_at'] or 'nothing'}"


def _amounts(has: dict[str, Any]) -> str:
    return ", ".join(count(has[f"{noun}s"], noun) for noun in ("message", "effort", "session"))


def _losses(losses: dict[str, int] | None) -> str:
    if losses is None:
        return "unknown, because the replaced database is missing or cannot be read"
    lost = [count(number, noun[:-1]) for noun, number in losses.items() if number > 0]
    return ", ".join(lost) or "nothing"
