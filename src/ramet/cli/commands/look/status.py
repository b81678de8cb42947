"""`ramet status`: one screen."""

import click
from msgspec.structs import asdict

from ramet.cli.command import Command
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, print_fields, print_json
from ramet.cli.times import duration
from ramet.protocol.record.agents import CountRows, FleetStale
from ramet.protocol.system.daemon import DaemonStatus
from ramet.protocol.system.notices import ListNotices


@click.command(cls=Command, examples=["ramet status", "ramet status --json"])
@click.pass_obj
def status(invocation: Invocation) -> None:
    """One screen: the daemon, the database, what is going on."""
    daemon, counted = invocation.ask(DaemonStatus()), invocation.ask(CountRows())
    stale, notices = invocation.ask(FleetStale()).items, invocation.ask(ListNotices()).items
    counts = {**asdict(counted), "stale_sessions": len(stale), "notices": len(notices)}
    if invocation.as_json:
        return print_json({"daemon": daemon, "counts": counts})
    print_fields(
        {
            "daemon": f"pid {daemon.pid}, version {daemon.version}, up {duration(daemon.uptime_seconds)}",
            "database": f"{daemon.store}, schema version {daemon.schema_version}",
            "socket": daemon.socket,
            **{name.replace("_", " "): f"{count:,}" for name, count in counts.items()},
        }
    )
    if notices:
        click.echo(clean(f"\nneeds your attention: {notices[0].text} (`ramet notices`)"))
    return None
