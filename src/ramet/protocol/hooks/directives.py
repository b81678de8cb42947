"""Requests and replies about directives."""

from typing import Annotated

from msgspec import Meta, Struct

from ramet.errors import FileMissing, InvalidParams, PathOutside, ProjectNotFound
from ramet.model.hooks.directive import Directive
from ramet.protocol.fields import Path
from ramet.protocol.operation import Operation, Request


class DirectivePaths(Struct, frozen=True, kw_only=True):
    """The directives that apply to a folder, outermost first, followed by those in the folders below it."""

    project: str
    items: list[str]


class DiscoverDirectives(Request[DirectivePaths], frozen=True, kw_only=True):
    """List the directives that apply to a folder: AGENTS.md, agent programs' own files and .directives/, there and
    above.
    """

    op = Operation(
        "agent.directives.discover",
        errors=(ProjectNotFound, PathOutside, InvalidParams),
        host="machine",
        audience="compatibility",
    )

    directory: Path
    down: bool = False
    """Whether to include the directives in the folders below."""


class Directives(Struct, frozen=True, kw_only=True):
    """Directives with their texts, each followed by its imports."""

    project: str
    items: list[Directive]
    missing: list[str] = []
    """Imported files that do not exist or are outside the project."""


class DereferenceDirective(Request[Directives], frozen=True, kw_only=True):
    """Read a directive and the files that it imports with @path."""

    op = Operation(
        "agent.directives.dereference",
        errors=(ProjectNotFound, PathOutside, InvalidParams, FileMissing),
        host="machine",
        audience="compatibility",
    )

    path: Path


class ResolveDirectives(Request[Directives], frozen=True, kw_only=True):
    """Read all directives that apply to some folders, including imports, each text once."""

    op = Operation(
        "agent.directives.resolve",
        errors=(ProjectNotFound, PathOutside, InvalidParams),
        host="machine",
        audience="compatibility",
    )

    directories: Annotated[list[Path], Meta(min_length=1, max_length=100)]
