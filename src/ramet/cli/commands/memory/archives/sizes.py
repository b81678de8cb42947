"""`ramet db size`: the parts of the database, and Ramet's files beside it."""

from collections.abc import Iterator
from pathlib import Path

import click
from msgspec.structs import replace

from ramet.cli.invocation import Invocation
from ramet.cli.output import print_json, print_table
from ramet.cli.progress import working
from ramet.protocol.memory.archives import DatabaseSize, SizePart, SizeReport

_MOST_SHOWN = 15
_KILO = 1024


def show_sizes(invocation: Invocation) -> None:
    """Ask for the parts, add the files, and show them."""
    with working(invocation, "measuring the database"):
        report = _add_files(invocation, invocation.ask(DatabaseSize()))
    if invocation.as_json:
        return print_json(report)
    rows = [
        [part.name, part.kind, _size(part.bytes), "" if part.rows is None else f"{part.rows:,}"]
        for part in report.parts[:_MOST_SHOWN]
    ]
    print_table(["PART", "KIND", "SIZE", "ROWS"], rows)
    left = report.parts[_MOST_SHOWN:]
    if left:
        click.echo(f"{len(left)} smaller parts: {_size(sum(part.bytes for part in left))}")
    by_kind = {kind: _size(sum(p.bytes for p in report.parts if p.kind == kind)) for kind in _kinds(report)}
    return click.echo(f"total {_size(report.total_bytes)}: " + ", ".join(f"{k} {v}" for k, v in by_kind.items()))


def _kinds(report: SizeReport) -> list[str]:
    return list(dict.fromkeys(part.kind for part in report.parts))


def _add_files(invocation: Invocation, report: SizeReport) -> SizeReport:
    parts = [*report.parts, *_files(invocation)]
    parts.sort(key=lambda part: (-part.bytes, part.name))
    return replace(report, parts=parts, total_bytes=sum(part.bytes for part in parts))


def _files(invocation: Invocation) -> Iterator[SizePart]:
    places = invocation.places
    groups = {
        "backups": list(places.backups.glob("*.db")) if places.backups.is_dir() else [],
        "search index": list(places.home.glob("search.db*")),
        "logs": list(places.home.glob("*.log*")),
    }
    for name, files in groups.items():
        size = sum(_bytes(each) for each in files)
        if size:
            yield SizePart(name=name, kind="index" if name == "search index" else "file", bytes=size, rows=len(files))


def _bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _size(number: float) -> str:
    """`1.2 MB`."""
    for unit in ("B", "KB", "MB"):
        if number < _KILO:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= _KILO
    return f"{number:.1f} GB"
