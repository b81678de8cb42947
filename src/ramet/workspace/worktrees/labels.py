"""Labels: beside each worktree a small file that says whose it is. A worktree without one is not ours.

An effort's number is only unique within one database, and starts again when a database does; so a directory or a branch
of the right name proves nothing. The label names the owner in a way that no other effort has.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from ramet.workspace.files import confined

BRANCH_PREFIX = "ramet/"
_SUFFIX = ".json"
_MAX_BYTES = 100_000
_NAMES = 1000
_SLUG_LENGTH = 40


class Label(Struct, frozen=True, kw_only=True):
    """Whose worktree it is."""

    owner: str | None
    project: str
    is_ready: bool = False
    """False while it is being made: whoever finds it so then may make it anew."""
    prepared_for: str | None = None
    """The command and the lock files for which it was last prepared, as a hash."""
    port_base: int | None = None
    """The first of its ten ports."""
    is_used: bool = False
    """Whether an agent has been in it."""


def home(folder: Path, project_path: str) -> Path:
    """Where a project's worktrees are: a readable name, and what tells it from all others."""
    slug = re.sub(r"[^a-z0-9._-]+", "-", Path(project_path).name.lower()).strip(".-")[:_SLUG_LENGTH]
    return folder / f"{slug or 'project'}-{hashlib.sha256(os.fsencode(project_path)).hexdigest()[:8]}"


def read(place: Path, name: str) -> Label | None:
    """The label of a worktree."""
    if not place.is_dir():
        return None
    found = confined.read(place, name + _SUFFIX, _MAX_BYTES)
    try:
        return msgspec.json.decode(found.data, type=Label) if found else None
    except msgspec.DecodeError:
        return None


def write(place: Path, name: str, label: Label) -> None:
    """Put a label on a worktree, in place of the one it has."""
    confined.write(place, name + _SUFFIX, msgspec.json.encode(label))


def remove(place: Path, name: str) -> None:
    """Take the label off."""
    with suppress(FileNotFoundError):
        (place / (name + _SUFFIX)).unlink()


def labelled(place: Path) -> set[str]:
    """The names of all worktrees that have one."""
    return {entry.name.removesuffix(_SUFFIX) for entry in place.iterdir() if entry.name.endswith(_SUFFIX)}


def names(name: str) -> Iterator[str]:
    """A name and, where it is taken, those that follow it."""
    yield name
    yield from (f"{name}-{number}" for number in range(2, _NAMES))
