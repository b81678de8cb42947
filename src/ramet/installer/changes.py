"""A change to another program's file: shown as a difference, kept as a copy, written whole or not at all."""

import difflib
import hashlib
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from ramet.errors import ConfigError

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

    @property
    def diff(self) -> str:
        """As people read changes."""
        old, new = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        names = [str(self.file) if text is not None else "/dev/null" for text in (self.before, self.after)]
        lines = difflib.unified_diff(old, new, names[0], names[1])
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def read(file: Path) -> str | None:
    """The file's text as it is, line ends included; None if there is no file."""
    try:
        return file.read_bytes().decode() if file.exists() else None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read: {error}", fix="fix the file first") from error


def back_up(change: Change, folder: Path) -> Path | None:
    """Keep a copy of the file, once for each text; returns its path. None if nothing would be lost."""
    if change.before is None or change.after == change.before:
        return None
    where, what = (hashlib.sha256(os.fsencode(part)).hexdigest()[:8] for part in (str(change.file), change.before))
    copy = folder / f"{change.file.name}.{where}.{what}"
    if not copy.exists():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write(copy, change.before, mode=0o600)
    return copy


def apply(change: Change) -> None:
    """Write it, whole or not at all; a file that should not exist is deleted, and its folder if that is empty."""
    if change.after == change.before:
        return
    try:
        _apply(change.file.resolve(), change)
    except OSError as error:
        fix = f"make sure that {change.file.parent} is a folder that you can write to"
        raise ConfigError(f"{change.file} cannot be written: {error.strerror}", fix=fix) from error


def _apply(file: Path, change: Change) -> None:
    """To the file itself: a link to it stays one."""
    if change.after is not None:
        return write(file, change.after)
    file.unlink()
    with suppress(OSError):  # it is not empty
        if change.file.parent.name.startswith("."):
            change.file.parent.rmdir()
    return None


def write(file: Path, text: str, *, mode: int = 0o644) -> None:
    """Put the text there, whole or not at all; `mode` is for a file that was not there."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
        if file.exists():
            shutil.copymode(file, name)
        else:
            Path(name).chmod(mode)
        os.replace(name, file)  # noqa: PTH105
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
