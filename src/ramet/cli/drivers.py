"""`ramet drivers`: the agent programs that Ramet can run."""

from typing import Any

import click

from ramet.cli.commands import Command
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, clean, show_items
from ramet.cli.progress import working
from ramet.errors import UnknownDriver

_COLUMNS: Columns = {
    "DRIVER": lambda row: row["name"] if row["name"] == row["driver"] else f"{row['name']} ({row['driver']})",
    "DEFAULT": lambda row: "yes" if row["is_default"] else None,
    "PROGRAM": lambda row: row["program"] or "not installed",
    "VERSION": "version",
    "CAN": lambda row: " ".join(name for name, can in row["abilities"].items() if can),
}


@click.command(cls=Command, examples=["ramet drivers", "ramet drivers --json"])
@click.pass_obj
def drivers(invocation: Invocation) -> None:
    """The agent programs that Ramet can run: which are installed, and what they can do.

    resume: go on with a context window; fork: with a copy of it; tools, usage, limits: say which tools it uses, what it
    used, and when a usage limit ends. The default runs efforts that name none; drivers.default changes it.
    """
    with working(invocation, "asking for versions"):
        reply = list_drivers(invocation, versions=True)
    show_items(invocation, reply, _COLUMNS, nothing="no drivers")
    told = [f"{row['name']}: {row['fix']}" for row in reply["items"] if row["program"] is None and row["fix"]]
    parked = [row for row in reply["items"] if row["parked_until"]]
    told += [f"{row['name']}: not used until {row['parked_until']}: {row['parked_reason']}" for row in parked]
    if told and not invocation.as_json:
        click.echo(clean("\n".join(["", *told])))


def list_drivers(invocation: Invocation, *, versions: bool) -> Any:
    """What can be run from here, with the configuration and the environment that we have."""
    return invocation.call(
        "drivers.list",
        versions=versions,
        directory=str(invocation.cwd),
        environment=invocation.environ,
        settings=invocation.flags,
    )


def check_driver(invocation: Invocation, name: str | None) -> None:
    """A driver is looked for when an effort runs; a wrong name is better said before."""
    if name is None:
        return
    known = [row["name"] for row in list_drivers(invocation, versions=False)["items"]]
    if name not in known:
        fix = f"use one of {', '.join(known)}, or configure it in drivers.profiles"
        raise UnknownDriver(f"there is no driver {name!r}", field="driver", value=name, fix=fix)
