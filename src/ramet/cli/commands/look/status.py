"""`ramet status`: one screen."""

import click

from ramet.cli.command import Command
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, print_fields, print_json
from ramet.cli.times import duration


@click.command(cls=Command, examples=["ramet status", "ramet status --json"])
@click.pass_obj
def status(invocation: Invocation) -> None:
    """One screen: the daemon, the database, what is going on."""
    daemon, counted, stale, notices = invocation.connection.call_many(
        [("daemon.status", None), ("db.counts", None), ("fleet.stale", None), ("fleet.notices", None)]
    )
    counts = {**counted, "stale_sessions": len(stale["items"]), "notices": len(notices["items"])}
    if invocation.as_json:
        return print_json({"daemon": daemon, "counts": counts})
    print_fields(
        {
            "daemon": f"pid {daemon['pid']}, version {daemon['version']}, up {duration(daemon['uptime_seconds'])}",
            "database": f"{daemon['store']}, schema version {daemon['schema_version']}",
            "socket": daemon["socket"],
            **{name.replace("_", " "): f"{count:,}" for name, count in counts.items()},
        }
    )
    if notices["items"]:
        click.echo(clean(f"\nneeds your attention: {notices['items'][0]['text']} (`ramet notices`)"))
    return None
