"""Checking the whole database, with a daemon if one can start, and letting Ramet write to it again."""

from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from ramet.cli.invocation import Invocation
from ramet.cli.output import count
from ramet.errors import DatabaseDamaged, DatabaseForeign
from ramet.protocol.system.daemon import DaemonStatus
from ramet.protocol.system.database import CheckDatabase, CheckFinding, CheckReport

_PART_ROWS = 20_000
"""How many rows are checked between two signs of progress: less than a second."""
_MOST = 100


def check(invocation: Invocation, advance: Callable[[str], None]) -> CheckReport:
    """Everything that is wrong with the database, also if no daemon can open it."""
    from ramet.client.processes import run  # noqa: PLC0415

    try:
        return _check_in_parts(invocation, advance)
    except (DatabaseDamaged, DatabaseForeign) as error:
        report = msgspec.convert(run("check", invocation.target), CheckReport)
        if not report.passed:
            return report
        finding = CheckFinding(check="database", detail=f"no daemon can open it: {error.message}")
        return replace(report, passed=False, findings=[finding])


def _check_in_parts(invocation: Invocation, advance: Callable[[str], None]) -> CheckReport:
    """Ask for one part after the other, and join what they found."""
    findings: list[CheckFinding] = []
    more, cursor = 0, None
    while True:
        part = invocation.ask(CheckDatabase(limit=_PART_ROWS, cursor=cursor))
        listed = part.findings[: _MOST - len(findings)]
        findings += listed
        more += part.more + len(part.findings) - len(listed)
        advance(f"{part.checked:,} of {count(part.rows, 'row')}")
        cursor = part.next
        if cursor is None:
            return replace(part, passed=not findings, findings=findings, more=more)


def is_damaged(invocation: Invocation) -> bool:
    """Whether the daemon writes nothing because it has found damage; files that were replaced are another matter."""
    ban = invocation.ask(DaemonStatus()).write_ban
    return ban is not None and ban.state == "damaged"


def lift_ban(invocation: Invocation) -> bool:
    """Let a new daemon write; whether the one before did not."""
    from ramet.client.processes import run  # noqa: PLC0415

    was_running = invocation.stop_daemon()
    invocation.forget_connection()
    ban = run("lift-ban", invocation.target)["ban"]
    if was_running:
        invocation.connect(autostart=True).close()
    return ban is not None
