"""What people read while the daemon writes nothing to a database that is damaged or was replaced."""

from ramet.cli.invocation import Invocation
from ramet.errors import RametError
from ramet.protocol.system.daemon import DaemonStatus
from ramet.protocol.system.damage import WriteBan


def say_ban(invocation: Invocation) -> tuple[str, str] | None:
    """That the database is read-only, why, and how to continue; None if it is not, or if that cannot be asked."""
    try:
        ban = invocation.ask(DaemonStatus()).write_ban
    except RametError:
        return None
    return None if ban is None else describe_ban(ban)


def describe_ban(ban: WriteBan) -> tuple[str, str]:
    """The state of a database that is not written to, and how to continue."""
    if ban.state == "damaged":
        fix = "`ramet db check` lists the damage; `ramet db restore latest` returns to the newest backup"
        return f"read-only since {ban.since}: damage was found: {ban.reason}", fix
    rescue = f"; what the daemon still had is in {ban.rescue}" if ban.rescue else ""
    fix = f"`ramet db restore {ban.rescue or 'latest'}`, or use the file that is there now: `ramet db accept`"
    return f"read-only since {ban.since}: {ban.reason}{rescue}", fix
