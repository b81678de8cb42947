"""A project: a directory tree that agents work on, known by its absolute path."""

import posixpath
from datetime import datetime

from msgspec import Struct


class Project(Struct, frozen=True, kw_only=True):
    """One row of `projects`."""

    id: int
    path: str
    name: str | None
    created_at: datetime


def normal_path(path: str) -> str | None:
    """The path in the one form under which it is stored, or None where it names no absolute path.

    Purely lexical: the directory need not exist, and the engine never looks.
    """
    if not path.startswith("/") or "\0" in path:
        return None
    return "/" + posixpath.normpath(path).lstrip("/")


def contains(project_path: str, path: str) -> bool:
    """Whether `path` is the project's directory or lies below it."""
    return path == project_path or path.startswith(project_path.rstrip("/") + "/")
