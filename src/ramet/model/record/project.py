"""A project: a directory tree that agents work on, known by its absolute path."""

import posixpath
from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct


class Project(Struct, frozen=True, kw_only=True):
    """One row of `projects`."""

    id: int
    path: str
    name: str | None
    created_at: datetime
    remote: str | None = None
    """The git remote that identifies the project on several machines, without any password."""
    hosts: dict[str, str] = {}
    """The project's path on each machine that has it, if several share a database. Empty if it is unknown."""


def normal_path(path: str) -> str | None:
    """The path in the one form under which it is stored, or None where it names no absolute path.

    Purely lexical: the directory need not exist, and the engine never looks.
    """
    if not path.startswith("/") or "\0" in path:
        return None
    return "/" + posixpath.normpath(path).lstrip("/")


def place_inside(path: str, base: str, roots: Iterable[str]) -> str | None:
    """A path, taken from `base` where it is not absolute, in its normal form; None where none of the roots contains it.

    Lexical too: where a link leads is for whoever goes there to see.
    """
    normal = normal_path(posixpath.join(base, path))
    return normal if normal is not None and any(contains(root, normal) for root in roots) else None


def contains(project_path: str, path: str) -> bool:
    """Whether `path` is the project's directory or lies below it."""
    return path == project_path or path.startswith(project_path.rstrip("/") + "/")
