"""A change to another program's file: shown as a difference, kept as a copy, written whole or not at all."""

import difflib
import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from ramet.installer import scoped_files

State = Literal["installed", "outdated", "foreign", "absent"]
"""The state of our entry: as we would write it, different, another program's with our name, or absent."""


class Change(NamedTuple):
    """What a file says, and what it would say."""

    vendor: str
    file: Path
    before: str | None
    """None if there is no file."""
    after: str | None
    state: State
    """Of our entry, before."""
    scope: Path
    """The folder that no link may lead a write out of: the project, or where the user's own settings are."""

    @property
    def diff(self) -> str:
        """As people read changes."""
        old, new = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        names = [str(self.file) if text is not None else "/dev/null" for text in (self.before, self.after)]
        lines = difflib.unified_diff(old, new, names[0], names[1])
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def back_up(change: Change, folder: Path) -> Path | None:
    """Keep a copy of the file, once for each text, in a folder that exists; returns its path.

    None if nothing would be lost.
    """
    if change.before is None or change.after == change.before:
        return None
    where, what = (hashlib.sha256(os.fsencode(part)).hexdigest()[:8] for part in (str(change.file), change.before))
    copy = folder / f"{change.file.name}.{where}.{what}"
    if not copy.exists():
        scoped_files.replace(copy, folder, None, change.before, mode=0o600)
    return copy


def apply(change: Change) -> None:
    """Write it, whole or not at all; a file that should not exist is deleted, and its folder if that is empty."""
    if change.after == change.before:
        return
    scoped_files.replace(change.file, change.scope, change.before, change.after)
    if change.after is None and change.file.parent.name.startswith("."):
        with suppress(OSError):  # it is not empty
            change.file.parent.rmdir()
