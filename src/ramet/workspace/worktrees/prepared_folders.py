"""Folders that a set-up command made, such as `node_modules`, kept for worktrees with the same lock files.

They are kept in RAMET_HOME, in which sandboxed agents cannot write, and taken before an agent has been in the worktree.
"""

import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from ramet.config.places import make_private
from ramet.errors import PathOutside, SetupFailed
from ramet.workspace.files import confined

_CLONE = 0x40049409
"""FICLONE: both files share their blocks until one of them is written to."""
_MOST_KEPT = 3
"""How many sets are kept for each project, the newest."""
_LOCK_FILE_BYTES = 64 * 1024 * 1024
_LOOK_SECONDS = 0.1


class Recipe(Struct, frozen=True, kw_only=True):
    """What a worktree is prepared with, and what of it is reused."""

    command: str
    lock_files: tuple[str, ...]
    folders: tuple[str, ...]
    uses_links: bool = False


class Wanted(Struct, frozen=True, kw_only=True):
    """A recipe for a worktree whose lock files were read."""

    recipe: Recipe
    key: str
    """The command and the lock files, as a hash."""
    is_reusable: bool
    """Whether there is something to reuse, and a lock file that says until when."""


def identify(directory: Path, recipe: Recipe) -> Wanted:
    """What a worktree with these lock files is prepared for."""
    digest = hashlib.sha256(repr((recipe.command, recipe.folders)).encode())
    has_lock = False
    for name in sorted(recipe.lock_files):
        with suppress(PathOutside):  # a link: what it leads to is not the project's
            found = confined.read(directory, name, _LOCK_FILE_BYTES)
            if found is not None:
                has_lock = True
                digest.update(repr((name, hashlib.sha256(found.data).hexdigest())).encode())
    return Wanted(recipe=recipe, key=digest.hexdigest()[:32], is_reusable=has_lock and bool(recipe.folders))


def restore(place: Path, directory: Path, wanted: Wanted) -> bool:
    """Put the kept folders into a worktree; False if there are none for its lock files. Nothing is overwritten."""
    kept = place / wanted.key
    if not kept.is_dir():
        return False
    os.utime(kept)
    for name in wanted.recipe.folders:
        if (kept / name).is_dir() and not os.path.lexists(directory / name) and _is_inside(directory, name):
            _copy(kept / name, directory / name, wanted)
    return True


def keep(place: Path, directory: Path, wanted: Wanted) -> None:
    """Keep what the command has made, all of it or nothing; the oldest sets of the project go."""
    made = [name for name in wanted.recipe.folders if _is_folder(directory, name)]
    if not made or (place / wanted.key).exists():
        return
    unfinished = Path(tempfile.mkdtemp(dir=place, prefix=".unfinished-"))
    try:
        for name in made:
            _copy(directory / name, unfinished / name, wanted)
        unfinished.rename(place / wanted.key)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    _forget_old(place)


@contextmanager
def one_at_a_time(place: Path, wanted: Wanted, timeout_seconds: float) -> Iterator[None]:
    """Of worktrees with the same lock files, only one is prepared at a time: the next one then reuses its folders."""
    make_private(place)
    descriptor = os.open(place / f"{wanted.key}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + timeout_seconds
    try:
        while not _lock(descriptor):
            if time.monotonic() > deadline:
                raise SetupFailed(f"another worktree has been prepared for more than {timeout_seconds:g} seconds")
            time.sleep(_LOOK_SECONDS)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_inside(directory: Path, name: str) -> bool:
    """Whether a path's folder is there, and leads nowhere else."""
    above = os.path.dirname("/".join(confined.parts(name)))  # noqa: PTH120  parts of a path that only leads down
    return not above or _is_folder(directory, above)


def _is_folder(directory: Path, name: str) -> bool:
    try:
        return confined.has_folder(directory, name)
    except PathOutside:
        return False


def _copy(source: Path, target: Path, wanted: Wanted) -> None:
    """Copy a folder; links stay links, and other special files are left out."""

    def copy_file(one: str, other: str) -> None:
        if not _clone(one, other):
            if wanted.recipe.uses_links:
                os.link(one, other)
                return
            shutil.copyfile(one, other)
        shutil.copystat(one, other)

    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(source, target, symlinks=True, copy_function=copy_file, ignore=_list_special)


def _list_special(folder: str, names: Sequence[str]) -> list[str]:
    paths = {name: Path(folder, name) for name in names}
    return [name for name, path in paths.items() if not (path.is_symlink() or path.is_file() or path.is_dir())]


def _clone(one: str, other: str) -> bool:
    """Copy a file on write, if the file system can."""
    try:
        with Path(one).open("rb") as source, Path(other).open("xb") as target:
            fcntl.ioctl(target.fileno(), _CLONE, source.fileno())
    except OSError:
        Path(other).unlink(missing_ok=True)
        return False
    return True


def _forget_old(place: Path) -> None:
    kept = [entry for entry in place.iterdir() if entry.is_dir() and not entry.name.startswith(".")]
    for old in sorted(kept, key=lambda entry: entry.stat().st_mtime, reverse=True)[_MOST_KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
