"""`ramet import PATH` for the databases and files of the systems before Ramet."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from ramet.cli.invocation import Invocation
from ramet.cli.output import as_builtins, count, print_json, print_table, short_path
from ramet.cli.repository import find_checkout
from ramet.predecessors import registry, transfer
from ramet.predecessors.source import Source
from ramet.predecessors.transfer import Progress, Transferred

_TITLES = {"tract": "tract", "aurora": "Aurora", "workrail": "WorkRail", "gza": "gza", "engine": "Engine"}


_PLURALS = {"branch": "branches", "priority": "priorities"}


def run(invocation: Invocation, path: Path, dry_run: bool) -> None:
    """Import what is at a path, and say what became of it; only count its rows if nothing is to be written."""
    checkout = find_checkout(invocation.environ, invocation.cwd)
    project = str(invocation.cwd if checkout is None else checkout.project)
    sources = registry.require_sources(path.resolve(), project)
    longest = invocation.configuration.settings.daemon.max_request_bytes
    # All of them first: if one is damaged, nothing of the others is written either.
    counted = {source.identity: transfer.count_rows(source, longest) for source in sources}
    if dry_run:
        return _show_counts(invocation, sources, counted)
    if not invocation.as_json:
        click.echo(f"{count(len(sources), 'source')} with {sum(map(_total, counted.values())):,} rows")
    done = [_import(invocation, source) for source in sources]
    return _show(invocation, done)


def _total(tables: dict[str, int]) -> int:
    return sum(tables.values())


def _import(invocation: Invocation, source: Source) -> Transferred:
    with _progress(invocation) as progress:
        try:
            longest = invocation.configuration.settings.daemon.max_request_bytes
            return transfer.transfer(source, invocation.ask, progress, max_request_bytes=longest)
        except KeyboardInterrupt:
            click.echo("interrupted: run the same `ramet import` again to continue", err=True)
            raise


@contextmanager
def _progress(invocation: Invocation) -> Iterator[Progress | None]:
    """A line that says how far it is; only on a terminal."""
    if invocation.as_json or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415

    with Console(stderr=True).status("importing …") as status:
        yield lambda sent, total: status.update(f"importing {sent:,}/{total:,} rows")


def _show_counts(invocation: Invocation, sources: Sequence[Source], counted: dict[str, dict[str, int]]) -> None:
    if invocation.as_json:
        found = [
            {
                "system": source.system,
                "source": source.identity,
                "version": source.version,
                "path": str(source.path),
                "rows": _total(counted[source.identity]),
                "tables": counted[source.identity],
            }
            for source in sources
        ]
        return print_json({"found": found, "dry_run": True, "imported": None})
    rows = [
        [f"{_TITLES[source.system]} {source.version}", short_path(invocation, str(source.path)), table, number]
        for source in sources
        for table, number in counted[source.identity].items()
    ]
    print_table(["SYSTEM", "SOURCE", "TABLE", "ROWS"], rows, cut="SOURCE")
    return click.echo("nothing was written")


def _show(invocation: Invocation, done: Sequence[Transferred]) -> None:
    if invocation.as_json:
        return print_json({"dry_run": False, "imported": as_builtins(list(done))})
    rows = [
        [
            f"{_TITLES[each.system]} {each.version}",
            short_path(invocation, each.path),
            each.rows,
            each.new,
            each.known,
            each.changed,
        ]
        for each in done
    ]
    print_table(["SYSTEM", "SOURCE", "ROWS", "NEW", "KNOWN", "CHANGED"], rows, cut="SOURCE")
    added: dict[str, int] = {}
    for each in done:
        for kind, number in each.added.items():
            added[kind] = added.get(kind, 0) + number
    click.echo(f"added: {', '.join(_counted(number, kind) for kind, number in added.items()) or 'nothing'}")
    if kept := sum(each.kept for each in done):
        click.echo(f"{count(kept, 'row')} kept as they were, without a row of their own")
    for each in done:
        if each.new:
            click.echo(f"every row as it was: `ramet history log imported/{each.system}/{each.source}`")
    return None


def _counted(number: int, kind: str) -> str:
    return f"{number} {_PLURALS[kind]}" if number != 1 and kind in _PLURALS else count(number, kind)
