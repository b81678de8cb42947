"""Golden screens: what a person sees at a terminal of a given width, kept in `tests/golden/screens/NAME-COLUMNS.txt`.

The screen is that of the real command line on a real pseudo terminal, with a real daemon behind it. Ids are stable
because each test starts with an empty database; ages are stable because a test sets them (`set_age`). To rewrite the
files, run `RAMET_REWRITE_GOLDEN=1 .venv/bin/pytest tests/cli/screens`, and read `git diff` before you commit.
"""

import os
import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.cli.command_line import CommandLine
from tests.cli.terminal import at_terminal

from ramet.cli.output import clean

FOLDER = Path(__file__).parents[2] / "golden" / "screens"
WIDTHS = (80, 140)
REWRITE = "RAMET_REWRITE_GOLDEN"
_ERASED = re.compile(r"[^\n]*\n(?:\x1b\[\?25h)?\r\x1b\[1A\x1b\[2K")
"""The line of a spinner, which the terminal erases when it is done."""
_MARGIN_SECONDS = 30
"""An age is shown in hours and minutes, so that it stays the same for this long."""


def check_screen(ramet: CommandLine, name: str, *arguments: str, columns: int) -> str:
    """The screen of a command, which must be as its golden file has it, and no wider than the terminal."""
    seen = at_terminal(ramet, *arguments, columns=columns)
    assert seen.status == 0
    text = "".join(f"{line.rstrip()}\n" for line in clean(_ERASED.sub("", seen.text)).splitlines())
    assert max(map(len, text.splitlines())) <= columns, text
    file = FOLDER / f"{name}-{columns}.txt"
    if REWRITE in os.environ:
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8"), f"rewrite it with {REWRITE}=1"
    return seen.text


def set_age(ramet: CommandLine, table: str, row_id: int, *, minutes: int, column: str = "created_at") -> None:
    """Let something have happened so many minutes ago. Give an hour or more: what is younger is shown to the second."""
    moment = datetime.now(UTC) - timedelta(minutes=minutes, seconds=_MARGIN_SECONDS)
    text = f"{moment.isoformat(timespec='milliseconds').removesuffix('+00:00')}Z"
    with closing(sqlite3.connect(_database(ramet), timeout=10)) as database, database:
        database.execute(f"UPDATE {table} SET {column} = ? WHERE id = ?", (text, row_id))


def _database(ramet: CommandLine) -> Path:
    (found,) = (ramet.home / "ramet").rglob("ramet.db")
    return found
