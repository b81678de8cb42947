"""What the stall meter measured: a table for `ramet daemon status`, and findings for `ramet doctor`."""

from collections.abc import Iterator
from typing import NamedTuple

import click

from ramet.cli.output import count, print_table
from ramet.protocol.system.daemon import DaemonStatusReply, PauseReport, PauseRow

_WARNED_MS = 50.0
"""A hook waits for no request longer than this."""
_TOO_LONG_MS = 250.0
"""A busy machine alone causes shorter pauses; at 1,000 ms hooks give up."""


class PauseFinding(NamedTuple):
    """What to say about the loop or the writer."""

    text: str
    fix: str | None
    """None if nothing is wrong."""


def summarize_pauses(status: DaemonStatusReply) -> dict[str, str]:
    """One line for the loop and one for the writer."""
    return {f"{name} pauses": _summary(report) for name, report in _reports(status)}


def show_pauses(status: DaemonStatusReply) -> None:
    """Print the operations with the longest pauses."""
    rows = [
        [name, row.name, row.count, f"{row.longest_ms:,.1f}", f"{row.processor_ms:,.1f}"]
        for name, report in _reports(status)
        for row in report.worst
    ]
    if rows:
        click.echo()
        print_table(["held", "by", "over 20 ms", "longest ms", "processor ms"], rows, cut="by")


def find_pauses(status: DaemonStatusReply) -> Iterator[PauseFinding]:
    """One finding for the loop and one for the writer."""
    for name, report in _reports(status):
        detail = f"{name}: {_summary(report)}"
        worst = max(report.worst, key=_weight, default=None)
        if worst is None or not _is_warned(worst):
            yield PauseFinding(detail, None)
        else:
            yield PauseFinding(f"{detail}; {_describe(worst)}", _fix(name, worst))


def _reports(status: DaemonStatusReply) -> list[tuple[str, PauseReport]]:
    return [("loop", status.loop_pauses), ("writer", status.writer_pauses)]


def _summary(report: PauseReport) -> str:
    if not report.worst:
        return "none over 5 ms"
    last = f"{report.recent_ms:,.0f} ms in the last hour" if report.recent_ms else "none in the last hour"
    return f"longest {report.longest_ms:,.0f} ms, {last}, {count(report.count, 'pause')} over 20 ms"


def _weight(row: PauseRow) -> tuple[bool, float]:
    return _is_warned(row), row.longest_ms


def _is_warned(row: PauseRow) -> bool:
    return row.processor_ms > _WARNED_MS or row.longest_ms > _TOO_LONG_MS


def _describe(row: PauseRow) -> str:
    return f"{row.name} took {row.longest_ms:,.0f} ms, {row.processor_ms:,.0f} ms of it computing"


def _fix(name: str, row: PauseRow) -> str:
    if row.processor_ms > _WARNED_MS:
        return (
            f"hooks waited for {row.name}: ask it for less at a time (`limit`), or report it with `ramet daemon logs`"
        )
    if name == "writer":
        return "the disk or the machine was slow: move RAMET_HOME to a faster disk, or run less beside it"
    return "the machine was busy: run less beside the daemon"
