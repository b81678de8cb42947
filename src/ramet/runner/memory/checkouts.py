"""The checkout that a path is in, and the project that it is a checkout of."""

import os
from pathlib import Path
from typing import NamedTuple

from ramet.errors import FileMissing, InvalidParams, PathOutside, WorktreeError
from ramet.model.record.project import normal_path
from ramet.runner import projects
from ramet.runner.machine import Machine
from ramet.runner.projects import Site
from ramet.workspace.git.lines.lost_files import find_fate
from ramet.workspace.git.location import locate
from ramet.workspace.git.repository import Repository, find

_MOST_BYTES = 4 * 1024 * 1024
_MOST_LINES = 50_000
_SECONDS = 30.0


class Checkout(NamedTuple):
    """A project, and the checkout of its repository that somebody asks about."""

    site: Site
    repository: Repository
    prefix: str
    """The project's path below the top."""


class FileIn(NamedTuple):
    """A file of a checkout."""

    path: str
    text: str


def open_checkout(machine: Machine, path: str) -> Checkout:
    """The checkout around a path, which may be a worktree of an agent's."""
    normal = normal_path(path)
    if normal is None:
        raise InvalidParams(
            "path is not an absolute path", field="path", value=path, fix="give a path that starts with /"
        )
    folder = _existing_folder(Path(normal))
    location = locate(folder.resolve())
    if location is None:
        raise InvalidParams(
            f"{path} is not in a git repository", field="path", value=path, fix="ask about a file of a git checkout"
        )
    below = folder.resolve().relative_to(location.top.resolve())
    main = location.common.parent if location.is_linked else location.top
    site = projects.find(machine, str(main / below))
    try:
        found = find(machine.git.within(_SECONDS), str(location.top))
    except WorktreeError:
        found = None
    if found is None:
        raise InvalidParams(
            f"the repository of {path} has no commit", field="path", value=path, fix="commit the file, then ask again"
        )
    root = Path(os.path.realpath(site.root))
    if not root.is_relative_to(main.resolve()):
        raise InvalidParams(
            f"{path} is in {main}, a repository inside of {root}",
            field="path",
            value=path,
            fix=f"register it as a project: ramet project add {main}",
        )
    prefix = "" if root == main.resolve() else str(root.relative_to(main.resolve()))
    return Checkout(site, found, prefix)


def _existing_folder(path: Path) -> Path:
    folder = path if path.is_dir() else path.parent
    while not folder.is_dir():
        folder = folder.parent
    return folder


def read_file(checkout: Checkout, path: str) -> FileIn:
    """A text file of a checkout, by its absolute path."""
    top = checkout.repository.checkout.resolve()
    place = Path(normal_path(path) or path)
    real = place.parent.resolve() / place.name
    if not real.is_relative_to(top) or (real.exists() and not real.resolve().is_relative_to(top)):
        raise PathOutside(f"{path} leads out of {top}", field="path", value=path)
    relative = str(real.relative_to(top))
    if real.is_dir():
        raise InvalidParams(f"{path} is a directory", field="path", value=path, fix="name a file in it")
    if not real.is_file() or real.is_symlink():
        raise _missing(checkout, path, relative)
    if real.stat().st_size > _MOST_BYTES:
        raise _unreadable(path, f"is larger than {_MOST_BYTES // 2**20} MB")
    content = real.read_bytes()
    if b"\0" in content:
        raise _unreadable(path, "is a binary file")
    if content.count(b"\n") > _MOST_LINES:
        raise _unreadable(path, f"has more than {_MOST_LINES} lines")
    is_tracked = checkout.repository.git.judge(
        checkout.repository.checkout, "ls-files", "--error-unmatch", "--", f":(top,literal){relative}"
    )[0]
    if not is_tracked:
        raise InvalidParams(
            f"{path} is not tracked by git", field="path", value=path, fix=f"git add {relative}, then ask again"
        )
    return FileIn(relative, os.fsdecode(content))


def _unreadable(path: str, why: str) -> InvalidParams:
    return InvalidParams(f"{path} {why}", field="path", value=path, fix="ask about a text file of source code")


def _missing(checkout: Checkout, path: str, relative: str) -> FileMissing:
    fate = find_fate(checkout.repository, relative)
    if fate is None:
        return FileMissing(f"there is no file {path}", field="path", value=path)
    if fate.renamed_to is None:
        fix = f"see the commit: git show {fate.commit[:12]}"
        return FileMissing(f"{relative} was deleted in {fate.commit[:12]}", field="path", value=path, fix=fix)
    fix = f"ask about {fate.renamed_to}"
    message = f"{relative} was renamed to {fate.renamed_to} in {fate.commit[:12]}"
    return FileMissing(message, field="path", value=path, fix=fix)
