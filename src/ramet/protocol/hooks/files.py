"""Requests and replies about the files of a project."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ramet.errors import FileMissing, InvalidParams, PathOutside, ProjectNotFound
from ramet.protocol.fields import Content, Path
from ramet.protocol.operation import Operation, Request

Offset = Annotated[int, Meta(ge=0, le=2**31 - 1)]

Limit = Annotated[int, Meta(ge=1, le=2**23)]


class FileText(Struct, frozen=True, kw_only=True):
    """A part of a file's text; `next` is the offset behind it, where there is more."""

    path: str
    content: str
    size: int
    """Of the whole text, in characters."""
    next: int | None


class ReadFile(Request[FileText], frozen=True, kw_only=True):
    """The text of a file in a project, a part at a time."""

    op = Operation(
        "fs.files.read",
        errors=(ProjectNotFound, PathOutside, InvalidParams, FileMissing),
        host="machine",
        audience="compatibility",
    )

    path: Path
    offset: Offset = 0
    limit: Limit = 1_000_000
    """How many characters at most."""


class Appended(Struct, frozen=True, kw_only=True):
    """A file that has grown."""

    path: str
    size: int


class AppendFile(Request[Appended], frozen=True, kw_only=True):
    """Put a text behind the end of a file in a project, which is made where it is new."""

    op = Operation(
        "fs.files.append",
        errors=(ProjectNotFound, PathOutside, InvalidParams),
        host="machine",
        audience="compatibility",
    )

    path: Path
    content: Content


class ResolvedPath(Struct, frozen=True, kw_only=True):
    """Where a path leads."""

    path: str
    relative: str
    """Seen from the project; empty for the project itself."""
    project: str
    project_id: int
    kind: Literal["file", "directory", "other"] | None
    """None where there is nothing."""


class ResolvePath(Request[ResolvedPath], frozen=True, kw_only=True):
    """Where a path leads, in which project, and what is there; a path that leads out is refused."""

    op = Operation(
        "fs.paths.resolve",
        errors=(ProjectNotFound, PathOutside, InvalidParams),
        host="machine",
        audience="compatibility",
    )

    path: Path
    base: Path | None = None
    """Where a relative path begins."""
