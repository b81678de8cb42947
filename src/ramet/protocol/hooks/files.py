"""Requests and replies about the files of a project."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ramet.errors import FileMissing, InvalidParams, PathOutside, ProjectNotFound
from ramet.protocol.fields import Content, Path
from ramet.protocol.operation import Operation, Request

Offset = Annotated[int, Meta(ge=0, le=2**31 - 1)]

Limit = Annotated[int, Meta(ge=1, le=2**23)]


class FileText(Struct, frozen=True, kw_only=True):
    """A part of a file's text. `next` is the offset of the following part, or null at the end of the file."""

    path: str
    content: str
    size: int
    """The length of the whole text, in characters."""
    next: int | None


class ReadFile(Request[FileText], frozen=True, kw_only=True):
    """Read the text of a file in a project, one part at a time."""

    op = Operation(
        "fs.files.read",
        errors=(ProjectNotFound, PathOutside, InvalidParams, FileMissing),
        host="machine",
        audience="compatibility",
    )

    path: Path
    offset: Offset = 0
    limit: Limit = 1_000_000
    """The maximum number of characters to return."""


class Appended(Struct, frozen=True, kw_only=True):
    """A file, and its size after the text was appended."""

    path: str
    size: int


class AppendFile(Request[Appended], frozen=True, kw_only=True):
    """Append a text to a file in a project. The file is created if it does not exist."""

    op = Operation(
        "fs.files.append",
        errors=(ProjectNotFound, PathOutside, InvalidParams),
        host="machine",
        audience="compatibility",
    )

    path: Path
    content: Content


class ResolvedPath(Struct, frozen=True, kw_only=True):
    """A resolved path."""

    path: str
    relative: str
    """The path relative to the project; empty for the project itself."""
    project: str
    project_id: int
    kind: Literal["file", "directory", "other"] | None
    """None if nothing exists at the path."""


class ResolvePath(Request[ResolvedPath], frozen=True, kw_only=True):
    """Resolve a path to its project and its kind. A path that leads out of the project is refused."""

    op = Operation(
        "fs.paths.resolve",
        errors=(ProjectNotFound, PathOutside, InvalidParams),
        host="machine",
        audience="compatibility",
    )

    path: Path
    base: Path | None = None
    """The directory that a relative path starts from."""
