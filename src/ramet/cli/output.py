"""What people and programs see: tables and sentences, or one JSON document.

Agents wrote much of the text that is shown. Before a person sees it, everything that a terminal would interpret is
removed (`clean`); in JSON it is escaped, so that a program still gets the exact text.
"""

import io
import json
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO, TypeVar

import click

from ramet.cli.invocation import Invocation

if TYPE_CHECKING:
    import subprocess

    from msgspec import Struct
    from rich.table import Table

    from ramet.protocol.replies import Page

Row = TypeVar("Row")
Columns = Mapping[str, Callable[[Row], Any]]
"""Headings, each with how to make the cell below it from a row."""


class Styled(NamedTuple):
    """A cell in a colour, which only a terminal shows."""

    text: str
    style: str


_SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor movements
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f]).*?(?:\x07|\x1b\\|\x9c|$)"  # titles, clipboards, device strings
    r"|\x9b[0-?]*[ -/]*[@-~]"
    r"|\x1b[ -/]*[0-~]?",
    re.DOTALL,
)
_HARMFUL = [*range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
"""Delete, the second set of control characters, and what turns the direction of text around."""

_UNSEEN = [
    *(0xAD, 0x34F, 0x61C, 0x180E, 0x200B, 0x200E, 0x200F, 0xFEFF, 0xE0001),
    *range(0x2060, 0x2065),
    *range(0xFE00, 0xFE0E),
    *range(0xE0020, 0xE0080),
    *range(0xE0100, 0xE01F0),
]
"""Characters without a width: two names that differ in them look the same, and a text can hide in them."""

_JOINERS = re.compile("(?<![^\x00-\x7f])[\u200c\u200d]+|[\u200c\u200d]+(?![^\x00-\x7f])")
"""Joiners, which have no width either, except between letters that may need them: Persian, Devanagari, emoji."""

_DROP = dict.fromkeys([*(code for code in range(0x20) if chr(code) not in "\n\t"), *_HARMFUL, *_UNSEEN])
_ESCAPE = {code: json.dumps(chr(code)).strip('"') for code in [*_HARMFUL, *_UNSEEN, 0x200C, 0x200D]}


def clean(text: str) -> str:
    """The text without anything that a terminal would obey or would not show; line ends and tabs stay."""
    plain = _SEQUENCES.sub("", text).translate(_DROP)
    return plain if plain.isascii() else _JOINERS.sub("", plain)


def reveal(text: str) -> str:
    """The text of one line with everything that `clean` would remove written out, for people who review it."""
    plain = text.translate(_WRITTEN_OUT)
    return plain if plain.isascii() else _JOINERS.sub(lambda found: "".join(map(_write_out, found[0])), plain)


def _write_out(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_WRITTEN_OUT = {
    code: _write_out(chr(code)) for code in [*(code for code in range(0x20) if code != 0x09), *_HARMFUL, *_UNSEEN]
}


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
        case Styled(text, _):
            return cell(text)
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
        table.add_row(*(Text(cell(value), value.style if isinstance(value, Styled) else "") for value in row))
    return table


@contextmanager
def paged(invocation: Invocation) -> Iterator[None]:
    """Show everything that is printed inside in a pager, if it is longer than the screen. Leaving the pager early is no
    error.

    Only a terminal has a pager: never a pipe, and never JSON. `RAMET_PAGER`, or else `PAGER`, names it (default: less);
    `cat` or an empty value turns it off, and so does `NO_PAGER`. Print notes on standard error after the block: inside
    it they would be written across the pager's screen.
    """
    command = _find_pager(invocation)
    if not command:
        yield
        return
    screen = sys.stdout
    pages = _Pages(screen, command, {"LESS": "FRX", **invocation.environ})
    sys.stdout = pages
    try:
        with suppress(_PagerLeft):
            yield
    finally:
        sys.stdout = screen
        pages.finish()


def _find_pager(invocation: Invocation) -> list[str]:
    environ = invocation.environ
    is_off = invocation.as_json or "NO_PAGER" in environ or environ.get("TERM") == "dumb"
    if is_off or not sys.stdout.isatty():
        return []
    named = environ.get("RAMET_PAGER", environ.get("PAGER"))
    try:
        words = shlex.split("less" if named is None else named)
    except ValueError:  # a quote without its end
        return []
    return [] if words[:1] == ["cat"] else words


class _PagerLeft(Exception):
    """The person has left the pager, and nothing more need be printed."""


class _Pages(io.TextIOBase):
    """Standard output that is kept back until it is longer than the screen, and then goes to a pager."""

    def __init__(self, screen: TextIO, command: list[str], environ: Mapping[str, str]) -> None:
        self._screen = screen
        self._command = command
        self._environ = environ
        self._kept: list[str] | None = []
        """None when nothing is kept back any more."""
        self._rows = 0
        self._size = shutil.get_terminal_size()
        self._pager: subprocess.Popen[str] | None = None

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._screen.encoding

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._screen.fileno()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):  # click finds out like this what a stream takes
            raise TypeError("a text is needed")
        if self._kept is None:
            self._pass_on(text)
        else:
            self._kept.append(text)
            self._rows += self._count_rows(text)
            if self._rows >= self._size.lines:
                self._start_pager()
        return len(text)

    def flush(self) -> None:
        """Nothing waits here but what the screen may still have room for."""

    def finish(self) -> None:
        """Print what was kept back, or wait until the person leaves the pager."""
        if self._kept is not None:
            self._release()
        if self._pager is None:
            return self._screen.flush()
        with suppress(BrokenPipeError):
            if self._pager.stdin is not None:
                self._pager.stdin.close()
        while True:
            with suppress(KeyboardInterrupt):  # Ctrl-C is the pager's
                self._pager.wait()
                return None

    def _count_rows(self, text: str) -> int:
        lines = clean(text).split("\n")
        return len(lines) - 1 + sum((len(line) - 1) // self._size.columns for line in lines if line)

    def _start_pager(self) -> None:
        import subprocess  # noqa: PLC0415

        with suppress(OSError):  # a pager that cannot be started is no reason to show nothing
            self._pager = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                env=dict(self._environ),
                text=True,
                encoding=self.encoding,
                errors="replace",
            )
        self._release()

    def _release(self) -> None:
        kept, self._kept = self._kept or [], None
        for text in kept:
            self._pass_on(text)

    def _pass_on(self, text: str) -> None:
        if self._pager is None or self._pager.stdin is None:
            self._screen.write(text)
            return
        try:
            self._pager.stdin.write(text)
        except BrokenPipeError as error:
            raise _PagerLeft from error
