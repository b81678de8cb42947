"""`ramet status`: the daemon, the database and the fleet on one screen."""

import click
from msgspec.structs import asdict

from ramet.cli.command import Command
from ramet.cli.commands.look.backup_age import describe_last, find_last
from ramet.cli.commands.look.write_ban import describe_ban
from ramet.cli.commands.record.project_scope import everywhere_option, find_scope
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, print_fields, print_json
from ramet.cli.screens.agent_names import member_name
from ramet.cli.times import duration
from ramet.errors import DatabaseDamaged
from ramet.protocol.record.agents import CountRows, FleetStale, FleetStatus
from ramet.protocol.system.daemon import DaemonStatus, DaemonStatusReply
from ramet.protocol.system.notices import ListNotices

_AGENTS = 4
"""How many agents are named."""


@click.command(cls=Command, examples=["ramet status", "ramet status -A", "ramet status --json"])
@everywhere_option("Name the running agents and the newest notice of every project.")
@click.pass_obj
def status(invocation: Invocation, everywhere: bool) -> None:
    """Show the daemon, the database, how much it holds of all projects, and the running agents of this one."""
    daemon = invocation.ask(DaemonStatus())
    try:
        _show(invocation, daemon, everywhere=everywhere)
    except DatabaseDamaged as error:  # the daemon can still be shown
        _show_daemon(invocation, daemon, {})
        click.echo(clean(f"\nthe rest cannot be read: {error.message}\nfix: {error.fix}"), err=True)
        raise click.exceptions.Exit(error.exit_status) from error


def _show(invocation: Invocation, daemon: DaemonStatusReply, *, everywhere: bool) -> None:
    project = find_scope(invocation, everywhere=everywhere).project_id
    counted = invocation.ask(CountRows())
    stale, notices = invocation.ask(FleetStale()).items, invocation.ask(ListNotices()).items
    fleet = sorted(invocation.ask(FleetStatus(project=project)).items, key=lambda row: row.since)
    _show_daemon(invocation, daemon, {**asdict(counted), "stale_sessions": len(stale), "notices": len(notices)})
    if invocation.as_json:
        return
    if fleet:
        names = ", ".join(map(member_name, fleet[:_AGENTS]))
        more = f" and {len(fleet) - _AGENTS} more" if len(fleet) > _AGENTS else ""
        click.echo(clean(f"\nrunning: {names}{more} (`ramet ps`)"))
    own = [notice for notice in notices if project is None or notice.project_id in (None, project)]
    if own:
        click.echo(clean(f"\nneeds your attention: {own[0].text} (`ramet notices`)"))


def _show_daemon(invocation: Invocation, daemon: DaemonStatusReply, counts: dict[str, int]) -> None:
    last_backup = find_last(invocation.places)
    if invocation.as_json:
        print_json({"daemon": daemon, "counts": counts, "last_backup": last_backup})
        return
    print_fields(
        {
            "daemon": f"pid {daemon.pid}, version {daemon.version}, up {duration(daemon.uptime_seconds)}",
            "database": f"{daemon.store}, schema version {daemon.schema_version}",
            **({} if invocation.places.database is None else {"last backup": describe_last(last_backup)}),
            "socket": daemon.socket,
            **{name.replace("_", " "): f"{count:,}" for name, count in counts.items()},
        }
    )
    if daemon.write_ban is not None:
        what, fix = describe_ban(daemon.write_ban)
        click.echo(clean(f"\nthe database is {what}\nfix: {fix}"))
