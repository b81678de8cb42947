"""The hash of each migration's text, so that a text that has landed cannot change unseen.

`sql/migrations/HASHES` has a row for each file, and one for each text that a file had on main before it was frozen:
the first migrations were edited after they had landed, and databases of their earlier texts exist.
"""

import hashlib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

_ABOUT = """\
# The SHA-256 of each migration. A row freezes a text: see "Adding a migration" in CONTRIBUTING.md.
# `make generate` adds the rows of new files and changes none. Superseded texts landed before texts were frozen."""
_DIALECTS = ("sqlite", "postgres")
_SUPERSEDED = "superseded"


class Row(NamedTuple):
    """One text that a migration has or had."""

    file: str
    dialect: str
    hash: str
    is_superseded: bool


def hash_text(text: str) -> str:
    """The hash of a migration's text."""
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def read_hashes() -> tuple[Row, ...]:
    """Every row of the list."""
    text = (files("ramet.store") / "sql" / "migrations" / "HASHES").read_text(encoding="utf-8")
    lines = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return tuple(Row(file, dialect, digest, more == [_SUPERSEDED]) for file, dialect, digest, *more in lines)


def superseded_hashes(number: int, dialect: str) -> list[str]:
    """The hashes of the texts that a migration had before it was frozen."""
    rows = (row for row in read_hashes() if row.is_superseded and row.dialect == dialect)
    return [row.hash for row in rows if int(row.file[:4]) == number]


def read_texts() -> dict[tuple[str, str], str]:
    """The text of each migration, by its file and dialect."""
    folder = files("ramet.store") / "sql" / "migrations"
    return {
        (file.name, dialect): file.read_text(encoding="utf-8")
        for dialect in _DIALECTS
        for file in (folder / dialect).iterdir()
        if file.name.endswith(".sql")
    }


def render_hashes() -> str:
    """The list, with a row for each file that has none yet. The rows that are there stay as they are."""
    rows = read_hashes()
    listed = {(row.file, row.dialect) for row in rows}
    added = [Row(*key, hash_text(text), False) for key, text in read_texts().items() if key not in listed]
    ordered = sorted((*rows, *added), key=lambda row: (row.file, row.dialect, not row.is_superseded))
    return "\n".join([_ABOUT, *map(_line, ordered), ""])


def _line(row: Row) -> str:
    return f"{row.file:<32} {row.dialect:<8} {row.hash}{f' {_SUPERSEDED}' if row.is_superseded else ''}"
