"""Files of a project, by any path that stays inside it.

A link may lead from one place of the project to another, as programs' own names for `AGENTS.md` often do; a link that
leads out is refused. The target of a path is found first, and then opened without following any link (`confined`): so
anything that is put there in between is refused, too.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from ramet.errors import FileMissing, InvalidParams, PathOutside
from ramet.workspace.files import confined

MAX_BYTES = 8 * 1024 * 1024

Kind = Literal["file", "directory", "other"]


class Place(NamedTuple):
    """The target of a path, below the folder that it has to stay in."""

    root: Path
    relative: str
    """Empty for the folder itself."""

    @property
    def path(self) -> Path:
        """The path itself, without any link."""
        return self.root / self.relative


def resolve(root: str | Path, path: str | Path) -> Place:
    """The target of a path, whether it exists or not; a relative one starts at `root`."""
    if "\0" in str(path):
        raise PathOutside("a path cannot have a NUL character", field="path", value=str(path))
    top, real = (Path(os.path.realpath(each)) for each in (root, Path(root) / path))
    if not real.is_relative_to(top):
        raise PathOutside(f"{path} is outside {root}", field="path", value=str(path))
    return Place(top, "" if real == top else str(real.relative_to(top)))


def kind_of(place: Place) -> Kind | None:
    """What exists there; None if there is nothing, or nothing that may be seen."""
    try:
        mode = place.path.stat(follow_symlinks=False).st_mode
    except OSError:
        return None
    if stat.S_ISREG(mode):
        return "file"
    return "directory" if stat.S_ISDIR(mode) else "other"


def read(root: str | Path, path: str | Path, max_bytes: int = MAX_BYTES) -> str:
    """A file's text."""
    found = read_bytes(root, path, max_bytes)
    try:
        return found.decode()
    except UnicodeDecodeError as error:
        value = str(path)
        raise InvalidParams(f"{path} is not UTF-8 text", field="path", value=value, fix="name a text file") from error


def read_bytes(root: str | Path, path: str | Path, max_bytes: int) -> bytes:
    """A file's bytes."""
    place = resolve(root, path)
    found = None
    with suppress(OSError):  # a name that is too long, a socket, a disk that fails
        found = confined.read(place.root, place.relative, max_bytes) if place.relative else None
    if found is None:
        problem = "is not a readable file, or is larger than"
        raise FileMissing(f"{path} {problem} {max_bytes:,} bytes", field="path", value=str(path))
    return found.data


def read_end(root: str | Path, path: str | Path, max_bytes: int = MAX_BYTES) -> confined.Read | None:
    """The last bytes of a file of any size; None if there is none that can be read."""
    place = resolve(root, path)
    with suppress(OSError):
        return confined.read(place.root, place.relative, max_bytes, is_end_enough=True)
    return None


def append(root: str | Path, path: str | Path, text: str) -> int:
    """Put a text behind a file's end; its size in bytes."""
    place = resolve(root, path)
    if not place.relative:
        raise PathOutside(
            f"{path} is the project's own directory", field="path", value=str(path), fix="name a file in the project"
        )
    try:
        return confined.append(place.root, place.relative, text.encode(errors="replace"))
    except OSError as error:
        fix = "name a file that can be written"
        raise InvalidParams(f"{path}: {error.strerror}", field="path", value=str(path), fix=fix) from error
