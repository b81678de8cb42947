"""Why a host claims nothing: no agent could start there, or its disk is nearly full."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ramet.cli.connections import ask
from ramet.cli.invocation import Invocation
from ramet.cli.times import until
from ramet.protocol.work.hosts import HostRow, ListHosts

if TYPE_CHECKING:
    from ramet.client.connection import Connection


def list_parked_hosts(invocation: Invocation, connection: "Connection | None" = None) -> list[HostRow]:
    """The hosts that claim nothing now. An agent is not asked to care."""
    if invocation.target.entrance is not None:
        return []
    listed = invocation.ask(ListHosts()) if connection is None else ask(connection, ListHosts())
    return [row for row in listed.items if row.state != "counting"]


def explain_parked_hosts(invocation: Invocation) -> list[str]:
    """A sentence for each host, with what can be done about it."""
    return explain_hosts(list_parked_hosts(invocation))


def explain_hosts(rows: Iterable[HostRow]) -> list[str]:
    """The same for hosts that were listed before."""
    return [f"{describe_host(row)}; {say_when_again(row)}" for row in rows]


def describe_host(row: HostRow) -> str:
    """`north claims no efforts: 12 MB are free`."""
    often = f" ({row.failures} times in a row)" if row.failures > 1 else ""
    return f"{row.name} claims no efforts: {row.reason}{often}"


def say_when_again(row: HostRow) -> str:
    """When the host tries again, and how a person can let it do so now."""
    now = f"now: `ramet resume --host {row.name}`"
    if row.parked_until is None:
        return f"it continues when there is room; {now}"
    return f"it tries one effort in {until(row.parked_until)}; {now}"
