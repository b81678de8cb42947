"""Importing an archive of Ramet: verify it whole, then send its rows and show how far that is."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import msgspec

from ramet.cli.commands.memory.archives import file
from ramet.cli.commands.memory.archives.file import Archive, ImportReport
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, count, print_json
from ramet.cli.progress import working
from ramet.protocol.memory.archives import AddArchiveRows, AddedRows
from ramet.protocol.wire.exchange import decode_line


def import_archive(invocation: Invocation, path: Path, dry_run: bool) -> None:
    """Import an archive; with `dry_run`, only verify it."""
    with working(invocation, "verifying the archive"):
        archive = file.verify(path)
    if dry_run:
        return _show_dry(invocation, archive)

    def ask(part: AddArchiveRows) -> AddedRows:
        answer = invocation.connection.call_raw(part.op.name, msgspec.json.encode(part))
        return decode_line(AddArchiveRows, answer)

    with _progress(invocation, archive) as advance:
        report = file.send(archive, ask, advance)
    return _show(invocation, report)


@contextmanager
def _progress(invocation: Invocation, archive: Archive) -> Iterator[Callable[[int], None]]:
    if invocation.as_json or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415

    done = 0
    with Console(stderr=True).status("importing …") as status:

        def advance(rows: int) -> None:
            nonlocal done
            done += rows
            status.update(f"importing {done:,}/{archive.total:,} rows")

        yield advance


def _show_dry(invocation: Invocation, archive: Archive) -> None:
    if invocation.as_json:
        return print_json({"header": archive.header, "counts": archive.counts, "dry_run": True})
    sessions, messages = archive.counts.get("sessions", 0), archive.counts.get("messages", 0)
    return click.echo(
        f"the archive is intact: {count(sessions, 'session')} with {count(messages, 'message')}; nothing was written"
    )


def _show(invocation: Invocation, report: ImportReport) -> None:
    if invocation.as_json:
        return print_json(report)
    sessions, messages = report.added.get("sessions", 0), report.added.get("messages", 0)
    click.echo(
        f"{count(sessions, 'session')} imported with {count(messages, 'message')}; "
        f"{count(report.known, 'row')} had been here before"
    )
    for old, new in report.renamed.items():
        click.echo(clean(f"branch {old} is {new} here, because its name was taken"))
    return None
