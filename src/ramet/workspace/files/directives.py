"""Directives on the disk: which ones hold in a folder, what they say, and what they import.

Only what is inside the project counts, links and imports included. What cannot be read, or has a name that could pass
for something else where it is told, is passed over; and there is a bound for everything, because hooks wait for this: a
broken file of somebody's must not keep an agent from its work.
"""

import itertools
import os
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ramet.errors import RametError
from ramet.model.hooks.directive import (
    FILE_NAME,
    FOLDER,
    Directive,
    OwnDirectives,
    find_imports,
    is_plain,
    make,
)
from ramet.workspace.files import project_files

MAX_BYTES = 256 * 1024
_MOST_FOLDERS = 2000
_MOST_DEEP = 6
_MOST_HOPS = 5
"""How far imports may lead from the file that began."""
_MOST_LEVELS = 64
_MOST_FILES = 100
"""In one folder, imported by one file, and imported in all."""
_PACKAGES = frozenset({"node_modules", "site-packages", "venv", ".venv"})
"""What is in them is other people's: they make no rules for whoever reads it."""
_PASSED_OVER = _PACKAGES | {"__pycache__", "target", "dist", "build"}


class Dereferenced(NamedTuple):
    """A directive, then what it imports, each once; and what it names that is not there."""

    directives: list[Directive]
    missing: list[str]


def discover(root: str | Path, directory: str | Path, own_names: Sequence[str], *, down: bool = False) -> list[Path]:
    """The directives that hold in a folder: the project's first, the folder's own last. `own_names` are the names that
    agent programs have for such files. With `down`, those in the folders below it follow.
    """
    place = project_files.resolve(root, directory)
    folders = [*_folders_down_to(place), *(_folders_below(place.path) if down else ())]
    return [path for folder in folders for path in _directives_of(place.root, folder, own_names)]


def dereference(root: str | Path, path: str | Path) -> Dereferenced:
    """What a directive says, and what it imports."""
    found: dict[Path, Directive] = {}
    missing: dict[str, None] = {}
    _follow(root, Path(path), _MOST_HOPS, found, missing)
    return Dereferenced(list(found.values()), list(missing))


def resolve(
    root: str | Path,
    directories: Iterable[str | Path],
    own_names: Sequence[str],
    *,
    without: Container[str] = frozenset(),
) -> list[Directive]:
    """All that holds in some folders, with what it imports: the outermost first, the same text only once. `without`
    are the paths of files that are known.
    """
    found: dict[str, Directive] = {}
    for directory in directories:
        for path in discover(root, directory, own_names):
            with suppress(RametError):
                for directive in dereference(root, path).directives if str(path) not in without else ():
                    if directive.path not in without:
                        found.setdefault(directive.hash, directive)
    return list(found.values())


def find_own(root: str | Path, directory: str | Path, own: OwnDirectives, cwd: str | Path) -> set[str]:
    """The paths of what a program that works in `cwd` has read by itself when it gets to a folder."""
    place, here = project_files.resolve(root, directory), Path(cwd).resolve()
    folders = [folder for folder in _folders_down_to(place) if own.below or here.is_relative_to(folder)]
    paths = set()
    for candidate in (folder / own.name for folder in folders if os.path.lexists(folder / own.name)):
        with suppress(RametError):
            read = dereference(root, candidate).directives
            paths |= {directive.path for directive in (read if own.with_imports else read[:1])}
    return paths


def _follow(root: str | Path, path: Path, hops: int, found: dict[Path, Directive], missing: dict[str, None]) -> None:
    real = project_files.resolve(root, path).path
    if real in found or len(found) >= _MOST_FILES or not is_plain(str(real)):
        return
    found[real] = directive = make(str(real), project_files.read(root, real, MAX_BYTES))
    for named in find_imports(directive.text)[:_MOST_FILES] if hops else ():
        try:
            _follow(root, real.parent / named, hops - 1, found, missing)
        except RametError:
            if "/" in named or "." in named:
                missing[named] = None


def _directives_of(root: Path, folder: Path, own_names: Sequence[str]) -> Iterator[Path]:
    """The directives that are in a folder; the same file under two names is one."""
    # Hooks ask this of every folder up to the top. Most have none, and to find out where a path leads takes long.
    named = [folder / name for name in (FILE_NAME, *own_names)]
    candidates, inner = [path for path in named if os.path.lexists(path)], folder / FOLDER
    with suppress(OSError, RametError):
        if os.path.lexists(inner):
            candidates += sorted(project_files.resolve(root, inner).path.glob("*.md"))[:_MOST_FILES]
    real: dict[Path, None] = {}
    for candidate in candidates:
        with suppress(RametError):
            place = project_files.resolve(root, candidate)
            if project_files.kind_of(place) == "file" and is_plain(str(place.path)):
                real[place.path] = None
    yield from real


def _folders_down_to(place: project_files.Place) -> Iterator[Path]:
    """The project, and the folders on the way down from it, as far as they are the project's own."""
    folder = place.root
    yield folder
    for name in Path(place.relative).parts[:_MOST_LEVELS]:
        if name in _PACKAGES:
            return
        folder /= name
        yield folder


def _folders_below(top: Path) -> Iterator[Path]:
    """The folders below one, in order, as many as can be looked at, but for hidden ones and what tools produced."""
    for folder, names, _ in itertools.islice(os.walk(top), _MOST_FOLDERS):
        is_deep = len(Path(folder).relative_to(top).parts) >= _MOST_DEEP
        names[:] = [] if is_deep else sorted(name for name in names if not _is_passed_over(name))
        if Path(folder) != top:
            yield Path(folder)


def _is_passed_over(name: str) -> bool:
    return name.startswith(".") or name in _PASSED_OVER
