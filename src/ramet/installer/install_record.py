"""The places where our entries were written, so that all of them can be removed again: `installed.json` in a folder.

It is a list of where to look, never of what to remove: a file that no longer has our entry is left alone.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ramet.installer import scoped_files
from ramet.installer.changes import Change

NAME = "installed.json"
_VERSION = 1


class Place(NamedTuple):
    """A file of an agent program, and the folder that no link may lead a write out of."""

    vendor: str
    file: Path
    scope: Path


def remember(folder: Path, changes: Iterable[Change]) -> None:
    """Add the files that were written to the record, which is in a folder that exists."""
    known = list_places(folder)
    written = [Place(each.vendor, each.file, each.scope) for each in changes if each.after is not None]
    places = list(dict.fromkeys([*known, *written]))
    if places == known:
        return
    rows = [{"vendor": vendor, "file": str(file), "scope": str(scope)} for vendor, file, scope in places]
    text = json.dumps({"version": _VERSION, "places": rows}, indent=2) + "\n"
    file = folder / NAME
    scoped_files.replace(file, folder, scoped_files.read(file, folder), text, mode=0o600)


def list_places(folder: Path) -> list[Place]:
    """The files, as far as the record can be read."""
    text = scoped_files.read(folder / NAME, folder)
    try:
        document = json.loads(text or "{}")
        rows = document["places"] if document.get("version") == _VERSION else []
        return [Place(str(row["vendor"]), Path(row["file"]), Path(row["scope"])) for row in rows]
    except (ValueError, TypeError, KeyError, AttributeError):
        return []
