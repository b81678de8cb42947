"""`ramet drivers`: the agent programs that Ramet can run, and those that are not used for a while."""

import click
from msgspec.structs import asdict

from ramet.cli.command import Group, json_option
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, clean, say, show_items
from ramet.cli.progress import working
from ramet.errors import UnknownDriver
from ramet.model.work.driver import DriverRow
from ramet.protocol.replies import Page
from ramet.protocol.work.drivers import ListDrivers, ReleaseDriver
from ramet.vendors.registry import PREFERRED

_COLUMNS: Columns[DriverRow] = {
    "DRIVER": lambda row: row.name if row.name == row.driver else f"{row.name} ({row.driver})",
    "DEFAULT": lambda row: "yes" if row.is_default else None,
    "PROGRAM": lambda row: row.program or "not installed",
    "VERSION": lambda row: row.version,
    "CAN": lambda row: " ".join(name for name, can in asdict(row.abilities).items() if can),
}


@click.group(
    cls=Group,
    invoke_without_command=True,
    params=[json_option()],
    epilog=f"Examples: `ramet drivers`, `ramet drivers --json`, `ramet drivers release {PREFERRED[0]}`.",
)
@click.pass_context
def drivers(ctx: click.Context) -> None:
    """The agent programs that Ramet can run: which are installed, and what they can do.

    resume: go on with a context window; fork: with a copy of it; tools, usage, limits: say which tools it uses, what it
    used, and when a usage limit ends; mcp: call Ramet's own tools; confinement: be confined to named tools. The default
    runs efforts that name none; drivers.default changes it.
    """
    if ctx.invoked_subcommand is None:
        _show(ctx.obj)


def _show(invocation: Invocation) -> None:
    with working(invocation, "asking for versions"):
        reply = list_drivers(invocation, versions=True)
    show_items(invocation, reply, _COLUMNS, nothing="no drivers")
    told = [f"{row.name}: {row.fix}" for row in reply.items if row.program is None and row.fix]
    told += [
        f"{row.name}: not used until {row.parked_until}: {row.parked_reason}; "
        f"at once: `ramet drivers release {row.name}`"
        for row in reply.items
        if row.parked_until
    ]
    if told and not invocation.as_json:
        click.echo(clean("\n".join(["", *told])))


@drivers.command(examples=[f"ramet drivers release {PREFERRED[0]}"])
@click.argument("name", metavar="DRIVER")
@click.pass_obj
def release(invocation: Invocation, name: str) -> None:
    """Use DRIVER again at once, which was left alone because of a limit or of its failures; what waits for it begins.

    Its failures are counted anew.
    """
    reply = invocation.ask(ReleaseDriver(driver=name))
    if reply.already:
        check_driver(invocation, name)
        return say(invocation, reply, f"{name} is not parked")
    waited = " ".join(f"e{effort_id}" for effort_id in reply.effort_ids)
    return say(invocation, reply, f"{name} is used again" + (f"; may begin: {waited}" if waited else ""))


def list_drivers(invocation: Invocation, *, versions: bool) -> Page[DriverRow]:
    """What can be run from here, with the configuration and the environment that we have."""
    return invocation.ask(
        ListDrivers(
            versions=versions,
            directory=str(invocation.cwd),
            environment=invocation.environ,
            settings=invocation.flags,
        )
    )


def check_driver(invocation: Invocation, name: str | None) -> None:
    """A driver is looked for when an effort runs; a wrong name is better said before."""
    if name is None:
        return
    known = [row.name for row in list_drivers(invocation, versions=False).items]
    if name not in known:
        fix = f"use one of {', '.join(known)}, or configure it in drivers.profiles"
        raise UnknownDriver(f"there is no driver {name!r}", field="driver", value=name, fix=fix)
