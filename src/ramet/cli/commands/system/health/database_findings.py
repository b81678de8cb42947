"""What `ramet doctor` says about a sample of the database, and about its write-ahead log."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from ramet.cli.output import count
from ramet.protocol.system.database import LogState, SampleReport

_NOUNS = {"blobs": "content", "commits": "commit"}
_RESTORE = "return to the last backup: `ramet db restore latest`; or keep what can be read: `ramet db salvage`"


class Found(NamedTuple):
    """Something about the database, and how to fix it."""

    result: Literal["ok", "warn", "fail"]
    text: str
    fix: str | None = None


def find(report: SampleReport) -> Iterator[Found]:
    """The state of the database."""
    if report.passed and report.is_whole:
        yield Found("ok", "pages, references, hashes and branches are intact")
    elif report.passed:
        sampled = " and ".join(count(report.sampled[kind], noun) for kind, noun in _NOUNS.items())
        yield Found("ok", f"{sampled} of a sample are intact; `ramet db check` checks everything")
    for found in report.findings:
        yield Found("fail", f"{found.check}: {found.detail}", _RESTORE)
    if report.findings and not report.is_whole:
        yield Found("fail", "only a sample was checked", "`ramet db check` lists what is damaged")
    if report.log is not None and report.log.is_large:
        yield _warn(report.log)


def _warn(log: LogState) -> Found:
    detail = f"the write-ahead log has {log.bytes >> 20:,} MiB, more than {log.limit_bytes >> 20:,} MiB"
    if not log.readers:
        return Found("warn", detail, "the daemon cuts it within seconds; if it stays, read the log")
    readers = ", ".join(log.readers)
    return Found("warn", f"{detail}: {readers} reads it", "end the long read; the daemon then cuts it")
