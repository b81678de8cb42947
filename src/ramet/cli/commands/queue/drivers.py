"""`ramet drivers`: the agent programs that Ramet can run, and those that are parked for a while."""

from collections.abc import Iterable, Iterator

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

_RESTART = "`ramet daemon stop`, then any command"

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
    """List the agent programs that Ramet can run, whether they are installed, and what they can do.

    resume: continue a context window; fork: continue a copy of it; tools, usage, limits: report tool calls, usage and
    the end of a usage limit; mcp: call Ramet's own tools; confinement: use only the tools that are named. The default
    driver runs efforts that name no driver; drivers.default changes it.
    """
    if ctx.invoked_subcommand is None:
        _show(ctx.obj)


def _show(invocation: Invocation) -> None:
    with working(invocation, "asking for versions"):
        reply = list_drivers(invocation, versions=True)
    show_items(invocation, reply, _COLUMNS, nothing="no drivers")
    told = [f"{row.name}: {row.fix}" for row in reply.items if row.program is None and row.fix]
    differences = list(explain_differences(reply.items))
    told += [*differences, f"to start the daemon with the PATH of this shell: {_RESTART}"] if differences else []
    told += [
        f"{row.name}: not used until {row.parked_until}: {row.parked_reason}; "
        f"to use it now: `ramet drivers release {row.name}`"
        for row in reply.items
        if row.parked_until
    ]
    if told and not invocation.as_json:
        click.echo(clean("\n".join(["", *told])))


def explain_differences(rows: Iterable[DriverRow]) -> Iterator[str]:
    """The programs that this shell and the daemon find in different places, with both paths."""
    for row in rows:
        if row.is_elsewhere:
            here, there = row.program or "none", row.daemon_program or "none"
            yield f"{row.name}: the program here is {here}, the daemon's own PATH has {there}"


@drivers.command(examples=[f"ramet drivers release {PREFERRED[0]}"])
@click.argument("name", metavar="DRIVER")
@click.pass_obj
def release(invocation: Invocation, name: str) -> None:
    """Use a parked DRIVER again now.

    A driver is parked when it reaches a usage limit or fails too often. Efforts that wait for it can start, and its
    count of failures starts again at 0.
    """
    reply = invocation.ask(ReleaseDriver(driver=name))
    if reply.already:
        check_driver(invocation, name)
        return say(invocation, reply, f"{name} is not parked")
    waited = " ".join(f"e{effort_id}" for effort_id in reply.effort_ids)
    return say(invocation, reply, f"{name} is used again" + (f"; can start: {waited}" if waited else ""))


def list_drivers(invocation: Invocation, *, versions: bool) -> Page[DriverRow]:
    """The drivers that can run here, with the user's configuration and environment."""
    return invocation.ask(
        ListDrivers(
            versions=versions,
            directory=str(invocation.cwd),
            environment=invocation.environ,
            settings=invocation.flags,
        )
    )


def check_driver(invocation: Invocation, name: str | None) -> None:
    """Refuse an unknown name now; a driver is resolved only when an effort runs."""
    if name is None:
        return
    known = [row.name for row in list_drivers(invocation, versions=False).items]
    if name not in known:
        fix = f"use one of {', '.join(known)}, or configure it in drivers.profiles"
        raise UnknownDriver(f"there is no driver {name!r}", field="driver", value=name, fix=fix)
