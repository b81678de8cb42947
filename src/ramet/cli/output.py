"""What people and programs see: tables and sentences, or one JSON document.

Much of what is shown was written by agents. Before a person sees it, everything that a terminal would obey is
taken out (`clean`); in JSON it is escaped, so that a program still gets exactly what was said.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ramet.cli.invocation import Invocation

if TYPE_CHECKING:
    from msgspec import Struct
    from rich.table import Table

    from ramet.protocol.replies import Page

Row = TypeVar("Row")
Columns = Mapping[str, Callable[[Row], Any]]
"""Headings, each with how to make the cell below it from a row."""

_SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor movements
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f]).*?(?:\x07|\x1b\\|\x9c|$)"  # titles, clipboards, device strings
    r"|\x9b[0-?]*[ -/]*[@-~]"
    r"|\x1b[ -/]*[0-~]?",
    re.DOTALL,
)
_HARMFUL = [*range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
"""Delete, the second set of control characters, and what turns the direction of text around."""

_DROP = dict.fromkeys([*(code for code in range(0x20) if chr(code) not in "\n\t"), *_HARMFUL])
_ESCAPE = {code: f"\\u{code:04x}" for code in _HARMFUL}


def clean(text: str) -> str:
    """The text without anything that a terminal would obey; line ends and tabs stay."""
    return _SEQUENCES.sub("", text).translate(_DROP)


def as_builtins(value: Any) -> Any:
    """A reply as its JSON document has it."""
    import msgspec  # noqa: PLC0415

    return msgspec.to_builtins(value)


def print_json(value: Any, *, indent: int | None = 2) -> None:
    """One JSON document: a reply, or anything that holds some."""
    is_unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    text = json.dumps(as_builtins(value), indent=indent, ensure_ascii=not is_unicode)
    click.echo(text.translate(_ESCAPE))


def say(invocation: Invocation, reply: Any, sentence: str) -> None:
    """The reply for programs, a sentence for people."""
    if invocation.as_json:
        print_json(reply)
    else:
        click.echo(clean(sentence))


def show_row(invocation: Invocation, reply: "Struct") -> None:
    """One thing: every field that has a value; whether a request found its work done is no part of the thing."""
    if invocation.as_json:
        return print_json(reply)
    fields = as_builtins(reply).items()
    return print_fields({name: value for name, value in fields if value is not None and name != "already"})


def show_items(
    invocation: Invocation, reply: "Page[Row]", columns: Columns[Row], nothing: str, *, cut: str | None = None
) -> None:
    """A list as a table, or in words that there is nothing. On a terminal the column `cut` gives way to the others."""
    if invocation.as_json:
        print_json(reply)
    elif reply.items:
        print_table(list(columns), pick_cells(reply.items, columns), cut)
    else:
        click.echo(nothing)


def print_fields(fields: Mapping[str, Any]) -> None:
    """Names and values, one below the other."""
    width = max(map(len, fields), default=0)
    for name, value in fields.items():
        click.echo(f"{name:{width}}  {cell(value)}")


def print_table(headings: Sequence[str], rows: Sequence[Sequence[Any]], cut: str | None = None) -> None:
    """A table: fitted to a terminal, or aligned text with every character of it for anything else."""
    if sys.stdout.isatty():
        from rich.console import Console  # noqa: PLC0415

        return Console().print(as_table(headings, rows, cut))
    cells = [[cell(value) for value in row] for row in rows]
    widths = [max(len(row[index]) for row in [headings, *cells]) for index in range(len(headings))]
    for row in [headings, *cells]:
        click.echo("  ".join(f"{text:{width}}" for text, width in zip(row, widths, strict=True)).rstrip())
    return None


def cell(value: Any) -> str:
    """A value on one line."""
    match value:
        case None | "":
            return "-"
        case bool():
            return "yes" if value else "no"
        case datetime():
            return value.isoformat().replace("+00:00", "Z")
        case list() if all(isinstance(item, str) for item in value):
            return clean(", ".join(value) or "-")
        case list() | dict():
            return clean(json.dumps(value, ensure_ascii=False))
        case _:
            return " ".join(clean(str(value)).split())


def short_path(invocation: Invocation, path: str) -> str:
    """A path as people write it: from the current directory on, or from their home."""
    from pathlib import Path  # noqa: PLC0415

    place, home = Path(path), Path(invocation.environ.get("HOME") or "/")
    if place.is_relative_to(invocation.cwd):
        return str(place.relative_to(invocation.cwd))
    return f"~/{place.relative_to(home)}" if home != Path("/") and place.is_relative_to(home) else path


def count(number: int, noun: str) -> str:
    """`1 commit`, `2 commits`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def pick_cells(rows: Sequence[Row], columns: Columns[Row]) -> list[list[Any]]:
    """The cells below the headings."""
    return [[pick(row) for pick in columns.values()] for row in rows]


def as_table(headings: Sequence[str], rows: Sequence[Sequence[Any]], cut: str | None) -> "Table":
    """A table for a terminal."""
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=None, pad_edge=False, header_style="bold", expand=cut is not None)
    for index, heading in enumerate(headings):
        is_cut = heading == cut
        table.add_column(
            heading,
            overflow="ellipsis" if is_cut else "fold",
            no_wrap=is_cut or index == 0,  # the first column names the row
            ratio=1 if is_cut else None,
        )
    for row in rows:
        table.add_row(*(Text(cell(value)) for value in row))
    return table
