"""Requests and replies about projects."""

from msgspec import Struct

from ramet.model.record.project import Project
from ramet.protocol.fields import Name, Path, Text
from ramet.protocol.operation import Change, Operation, Request
from ramet.protocol.replies import Page


class UpsertProject(Change[Project], frozen=True, kw_only=True):
    """Register a project by its absolute path, or change its name."""

    op = Operation("db.project.upsert")

    path: Path
    name: Text | None = None
    host: Name | None = None
    """The machine that the path is on, where several share a database."""
    remote: Name | None = None
    """The git remote by which several machines know the same project."""


class ListProjects(Request[Page[Project]], frozen=True, kw_only=True):
    """All projects."""

    op = Operation("db.project.list")


class Here(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the user is, from which the project follows: the nearest one around; a repository that is nearer becomes
    one.
    """

    directory: Path
    repository: Path | None = None
    """The root of the git repository around it; of a linked worktree, the main one's."""
    host: Name | None = None
    """The machine, if several share a database."""
    remote: Name | None = None
    """The git remote by which several machines know the same repository."""
