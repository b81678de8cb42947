"""`ramet import`: show what agent programs have stored, ask, import it, and say what was done."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import click

from ramet.cli.command import Command
from ramet.cli.commands.memory.imports import discovery, other_documents
from ramet.cli.commands.memory.imports.importer import Importer, Place, Results, Watcher
from ramet.cli.commands.memory.imports.requests import Pipeline
from ramet.cli.commands.record.project_scope import own_host
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, count, print_json, print_table, short_path
from ramet.cli.repository import find_checkout
from ramet.cli.times import duration
from ramet.config.files import user_home
from ramet.errors import EXIT_FAILURE
from ramet.model.memory.stored_session import Head, Source
from ramet.model.record.project import contains, normal_path
from ramet.vendors import registry

_KILO = 1024
_LOOK_SECONDS = 2.0
"""How long the first lines of sessions are read to show their projects; then the rest is left out."""
_MOST_SHOWN = 20


@click.command(
    "import",
    cls=Command,
    examples=[
        "ramet import",
        f"ramet import {registry.PREFERRED[0]} --since 2026-01-01",
        "ramet import ~/backup/projects --yes",
        "ramet import --project . --dry-run",
        "ramet import .gza/gza.db",
    ],
)
@click.argument("names", metavar="[PROGRAM|PATH]...", nargs=-1)
@click.option(
    "--since",
    metavar="DATE",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]),
    help="Only sessions that changed on or after this date.",
)
@click.option("--project", metavar="DIR", help="Only sessions that were in this directory or below it.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--dry-run", is_flag=True, help="Show what would be imported, and write nothing.")
@click.pass_obj
def import_command(
    invocation: Invocation,
    names: Sequence[str],
    since: datetime | None,
    project: str | None,
    yes: bool,
    dry_run: bool,
) -> None:
    """Import the sessions that agent programs have stored on this machine.

    Shows what was found first: of every program, of the named PROGRAMs, or in a file or folder at PATH. Sessions keep
    their times, usage and sub-agents, and secrets are removed. Files are only read. An import that was interrupted
    continues when you run it again; sessions that have not changed are not read again. Exits with 1 if a session could
    not be read to its end.

    PATH may also be a database of tract (schema versions 2 to 4), gza (1 to 5) or Engine v3, a checkpoint of Aurora, or
    a session of WorkRail (version 1): every row of it is imported once, and nothing of it starts to run.
    """
    programs = [name for name in names if not _import_document(invocation, name, dry_run=dry_run)]
    if names and not programs:
        return None  # no name at all would mean every program
    names = programs
    sources = _choose(invocation, names, since, project)
    heads = _look_at(sources)
    surveys = survey(sources, heads)
    if not invocation.as_json:
        show_found(surveys)
    if dry_run or not sources:
        return _show_dry(invocation, surveys, is_dry=dry_run)
    if not yes and not _confirm(invocation):
        return click.echo("nothing was imported")
    results = run(invocation, sources)
    show_results(invocation, surveys, results)
    if results.failed:
        click.get_current_context().exit(EXIT_FAILURE)
    return None


def _import_document(invocation: Invocation, name: str, *, dry_run: bool) -> bool:
    """Import a document of another system; whether it is one."""
    if name in registry.sessions():
        return False
    path = discovery.existing(invocation, name)
    document = other_documents.find(path)
    if document is not None:
        document.run(invocation, path, dry_run)
    return document is not None


def _choose(invocation: Invocation, names: Sequence[str], since: datetime | None, project: str | None) -> list[Source]:
    """The sources that the user means."""
    sources = discovery.discover(invocation, names)
    if since is not None:
        since_ms = since.astimezone().timestamp() * 1000
        sources = [each for each in sources if each.changed_ms >= since_ms]
    if project is None:
        return sources
    folder = normal_path(str(invocation.cwd / Path(project).expanduser())) or "/"
    return [each for each in sources if _is_within(folder, discovery.find_head(each))]


def _is_within(folder: str, head: Head | None) -> bool:
    directory = normal_path(head.cwd) if head is not None and head.cwd else None
    return directory is not None and contains(folder, directory)


def _look_at(sources: Sequence[Source]) -> dict[str, Head | None]:
    """What the sessions say of themselves, as many as can be read in a moment."""
    deadline, heads = time.monotonic() + _LOOK_SECONDS, {}
    for source in reversed(sources):
        if time.monotonic() > deadline:
            break
        heads[source.key] = discovery.find_head(source)
    return heads


def survey(sources: Sequence[Source], heads: dict[str, Head | None]) -> list[discovery.Survey]:
    """What was found of each program."""
    by_vendor: dict[str, list[Source]] = {}
    for source in sources:
        by_vendor.setdefault(source.vendor, []).append(source)
    return [discovery.Survey.of(vendor, found, heads) for vendor, found in sorted(by_vendor.items())]


def show_found(surveys: Sequence[discovery.Survey]) -> None:
    """A table of what was found, one row for each program."""
    if not surveys:
        return click.echo("no stored sessions were found")
    headings = ["PROGRAM", "SESSIONS", "FIRST", "LAST", "SIZE", "PROJECTS"]
    rows = [
        [
            each.vendor,
            each.sessions,
            f"{each.first:%Y-%m-%d}",
            f"{each.last:%Y-%m-%d}",
            size(each.size_bytes),
            each.projects,
        ]
        for each in surveys
    ]
    return print_table(headings, rows)


def size(count_bytes: float) -> str:
    """`1.2 GB`."""
    for unit in ("B", "KB", "MB"):
        if count_bytes < _KILO:
            return f"{count_bytes:.0f} {unit}" if unit == "B" else f"{count_bytes:.1f} {unit}"
        count_bytes /= _KILO
    return f"{count_bytes:.1f} GB"


def _confirm(invocation: Invocation) -> bool:
    if invocation.as_json or not sys.stdin.isatty():
        raise click.UsageError("import asks for confirmation, and this is no terminal; give --yes or --dry-run.")
    return click.confirm("Import them?", default=True, err=True)


def _show_dry(invocation: Invocation, surveys: Sequence[discovery.Survey], *, is_dry: bool) -> None:
    if invocation.as_json:
        print_json({"found": [_survey_json(each) for each in surveys], "dry_run": is_dry, "imported": None})
    elif is_dry:
        click.echo("nothing was written")


def _survey_json(found: discovery.Survey) -> dict[str, Any]:
    return {**found._asdict(), "first": found.first.isoformat(), "last": found.last.isoformat()}


# Importing.


def list_new(invocation: Invocation, sources: Sequence[Source]) -> list[Source]:
    """Those that were never imported."""
    known = _make_importer(invocation, lambda _sessions, _bytes: None).list_known()
    return [each for each in sources if (each.vendor, each.key) not in known]


def run(invocation: Invocation, sources: Sequence[Source]) -> Results:
    """Import the sources, showing how far that is on a terminal."""
    with _progress(invocation, sources) as watch:
        try:
            return _make_importer(invocation, watch).run(sources)
        except KeyboardInterrupt:
            click.echo("interrupted: run `ramet import` again to continue", err=True)
            raise


def _make_importer(invocation: Invocation, watch: Watcher) -> Importer:
    @lru_cache(maxsize=4096)
    def locate(directory: str | None) -> Place:
        return find_project(invocation, directory)

    return Importer(
        invocation.ask,
        locate,
        host=own_host(invocation),
        max_request_bytes=invocation.configuration.settings.daemon.max_request_bytes,
        watch=watch,
        sender=Pipeline(invocation.connection, invocation.redact),
    )


def find_project(invocation: Invocation, directory: str | None) -> Place:
    """The project that a session's directory belongs to: the main repository of the checkout around it. A directory
    that is gone belongs to the repository that it was in; outside of one, it is a project itself.
    """
    home = user_home(invocation.environ)
    if directory is None:
        return Place(str(home), is_repository=False)
    place = Path(directory)
    nearest = next((each for each in (place, *place.parents) if each.is_dir()), Path("/"))
    checkout = find_checkout(invocation.environ, nearest)
    if checkout is None or (nearest != place and (nearest == home or nearest in home.parents)):
        return Place(directory, is_repository=False)
    return Place(str(checkout.project), is_repository=True)


@contextmanager
def _progress(invocation: Invocation, sources: Sequence[Source]) -> Iterator[Watcher]:
    """A line that says how far it is; only on a terminal."""
    if invocation.as_json or not sys.stderr.isatty():
        yield lambda _sessions, _bytes: None
        return
    from rich.console import Console  # noqa: PLC0415

    total, started = sum(each.size_bytes for each in sources), time.monotonic()
    with Console(stderr=True).status("importing …") as status:

        def watch(done_sessions: int, done_bytes: int) -> None:
            took = duration(time.monotonic() - started)
            status.update(f"importing {done_sessions}/{len(sources)} · {size(done_bytes)} of {size(total)} · {took}")

        yield watch


def show_results(invocation: Invocation, surveys: Sequence[discovery.Survey], results: Results) -> None:
    """What became of the sessions."""
    failed = [
        {"path": each.source.path, "vendor": each.source.vendor, "reason": each.reason} for each in results.failed
    ]
    told = {
        "new": len(results.new),
        "continued": len(results.continued),
        "unchanged": results.unchanged,
        "recorded": results.recorded,
        "empty": results.empty,
        "entries": results.entries,
        "skipped_lines": results.skipped_lines,
        "failed": failed,
    }
    if invocation.as_json:
        return print_json({"found": [_survey_json(each) for each in surveys], "dry_run": False, "imported": told})
    click.echo(
        f"{count(len(results.new), 'session')} imported with {results.entries:,} entries, "
        f"{len(results.continued)} continued, {results.unchanged} unchanged"
    )
    notes = [
        (results.recorded, "already recorded, because Ramet ran their agents, or purged"),
        (results.empty, "without a conversation"),
        (results.skipped_lines, "lines skipped, because they could not be read"),
    ]
    for number, what in notes:
        if number:
            click.echo(f"{number} {what}")
    for failure in results.failed[:_MOST_SHOWN]:
        click.echo(clean(f"failed: {short_path(invocation, failure.source.path)}: {failure.reason}"), err=True)
    if len(results.failed) > _MOST_SHOWN:
        click.echo(f"{len(results.failed) - _MOST_SHOWN} more failed: --json lists them", err=True)
    return None
