"""Requests and replies about projects."""

from msgspec import Struct

from ramet.errors import ProjectBusy, ProjectNotFound
from ramet.model.record.project import Project
from ramet.protocol.fields import Name, Path, ProjectRef, Text
from ramet.protocol.operation import Change, Operation, Pages, Request
from ramet.protocol.pages import Cursor, Limit
from ramet.protocol.replies import Page


class UpsertProject(Change[Project], frozen=True, kw_only=True):
    """Register a project by its absolute path, or change its name."""

    op = Operation("db.project.upsert")

    path: Path
    name: Text | None = None
    host: Name | None = None
    """The machine that has this path, if several machines share a database."""
    remote: Name | None = None
    """The git remote that identifies the project on several machines."""


class RemoveProject(Change[Project], frozen=True, kw_only=True):
    """Take a project off the list. Its records and its files stay, and registering its path again puts it back."""

    op = Operation("db.project.remove", errors=(ProjectNotFound, ProjectBusy))

    project: ProjectRef


class ListProjects(Request[Page[Project]], frozen=True, kw_only=True):
    """List all projects."""

    op = Operation("db.project.list", pages=Pages())

    removed: bool | None = None
    """Include those that are off the list."""
    limit: Limit | None = None
    cursor: Cursor | None = None


class Here(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The caller's directory, which selects the project: the nearest registered project around it. A git repository
    that is nearer is registered as a project.
    """

    directory: Path
    repository: Path | None = None
    """The root of the git repository around the directory; in a linked worktree, the root of the main one."""
    host: Name | None = None
    """The caller's machine, if several machines share a database."""
    remote: Name | None = None
    """The git remote that identifies the repository on several machines."""
