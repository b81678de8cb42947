"""What `ramet doctor` says about the clock of this machine, compared with that of the database server.

Nothing that machines compare depends on it, so no difference is an error. Commits in git, the log and other programs
have this machine's time.
"""

from ramet.cli.commands.system.health.database_findings import Found
from ramet.cli.times import duration
from ramet.protocol.system.daemon import ClockSkew

_MUCH_SECONDS = 5.0
_FIX = "set this machine's clock, for example `timedatectl set-ntp true`; Ramet itself uses the server's clock"


def describe(skew: ClockSkew) -> str:
    """The difference in words, such as `1h 2s ahead of the server's`."""
    seconds = abs(skew.ahead_seconds)
    told = duration(seconds) if seconds >= 1 else f"{seconds * 1000:.0f} ms"
    return f"{told} {'ahead of' if skew.ahead_seconds >= 0 else 'behind'} the server's"


def find(skew: ClockSkew) -> Found:
    """The state of the clock."""
    detail = f"this machine's clock is {describe(skew)}"
    if abs(skew.ahead_seconds) - skew.error_seconds > _MUCH_SECONDS:
        return Found("warn", detail, _FIX)
    return Found("ok", detail)
