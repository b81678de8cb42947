"""`ramet export`: write sessions to a file, as an archive of Ramet, as ATIF or as Markdown."""

import os
import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.commands.record.project_scope import find_scope
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, count, print_json, short_path
from ramet.protocol.memory.archives import Export, ExportFormat, ExportReport

_ENDINGS: dict[ExportFormat, str] = {"ramet": ".ramet", "atif": ".json", "markdown": ".md"}
_NUMBERED = re.compile(r"([ser])(\d+)")
_LOOK_SECONDS = 0.5
_FIELDS = {"s": "session_id", "e": "effort_id", "r": "run_id"}


@click.command(
    cls=Command,
    examples=[
        "ramet export s7 --format markdown",
        "ramet export e12 --format atif --output e12.json",
        "ramet export . --output project.ramet",
        "ramet export --all --output everything.ramet",
        "ramet export s7 --format markdown --output - | less",
    ],
)
@click.argument("name", metavar="[SESSION|EFFORT|RUN|PROJECT]", required=False)
@click.option("-A", "--all", "everything", is_flag=True, help="Export everything.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["ramet", "atif", "markdown"]),
    default="ramet",
    help="ramet is complete and can be imported again (default: ramet).",
)
@click.option("--output", metavar="FILE", help="The new file, or - for standard output (default: one named after it).")
@click.pass_obj
def export(invocation: Invocation, name: str | None, everything: bool, form: ExportFormat, output: str | None) -> None:
    """Export a session, an effort, a run, a project or everything (default: this project).

    Sessions take the sessions below them along. The file can be read by you alone. Secrets were removed when texts were
    stored; an export adds nothing. ATIF has one JSON document per line, one for each session that no other spawned.
    """
    if name is not None and everything:
        raise click.UsageError("give a name or --all, not both.")
    to_stdout = output == "-"
    with _target(invocation, name, form, output) as target:
        request = _request(invocation, name, str(target), form, everything=everything)
        with _progress(invocation, target):
            report = invocation.ask(request)
        if to_stdout:
            with target.open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            return
    _say(invocation, report)


def _request(invocation: Invocation, name: str | None, path: str, form: ExportFormat, *, everything: bool) -> Export:
    if everything:
        return Export(path=path, format=form, all=True)
    if name is None:
        project = find_scope(invocation, everywhere=False).project_id
        if project is None:
            raise click.UsageError("this directory is in no project; give a name, or --all.")
        return Export(path=path, format=form, project=project)
    if found := _NUMBERED.fullmatch(name):
        return Export(path=path, format=form, **{_FIELDS[found[1]]: int(found[2])})  # type: ignore[arg-type]
    if ":" in name and not Path(name).exists():
        return Export(path=path, format=form, session_id=references.session(name))
    return Export(path=path, format=form, project=references.path(name))


@contextmanager
def _target(invocation: Invocation, name: str | None, form: ExportFormat, output: str | None) -> Iterator[Path]:
    """Where the daemon writes: the file itself, or one that is only copied to standard output."""
    if output != "-":
        label = name if name is not None and _NUMBERED.fullmatch(name) else "ramet-export"
        yield Path(references.path(output or f"{label}{_ENDINGS[form]}"))
        return
    if sys.stdout.isatty() and form == "ramet":
        raise click.UsageError("an archive is no text; give a file with --output, or a pipe.")
    folder = Path(tempfile.mkdtemp(prefix="export-", dir=invocation.places.home))
    try:
        yield folder / "export"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _progress(invocation: Invocation, target: Path) -> Iterator[None]:
    """A line with the bytes that were written; only on a terminal."""
    if invocation.as_json or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console  # noqa: PLC0415

    done = threading.Event()
    partial = f"{target}.partial"
    with Console(stderr=True).status("exporting …") as status:

        def watch() -> None:
            while not done.wait(_LOOK_SECONDS):
                if os.path.exists(partial):  # noqa: PTH110
                    status.update(f"exporting · {os.stat(partial).st_size:,} bytes")  # noqa: PTH116

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()


def _say(invocation: Invocation, report: ExportReport) -> None:
    if invocation.as_json:
        return print_json(report)
    sessions, messages = report.counts.get("sessions", 0), report.counts.get("messages", 0)
    return click.echo(
        clean(
            f"exported {count(sessions, 'session')} with {count(messages, 'message')} to "
            f"{short_path(invocation, report.path)} ({report.bytes:,} bytes)"
        )
    )
