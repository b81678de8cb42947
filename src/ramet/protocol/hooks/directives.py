"""Requests and replies about directives."""

from typing import Annotated

from msgspec import Meta, Struct

from ramet.errors import FileMissing, InvalidParams, PathOutside, ProjectNotFound
from ramet.model.hooks.directive import Directive
from ramet.protocol.fields import Path
from ramet.protocol.operation import Operation, Request


class DirectivePaths(Struct, frozen=True, kw_only=True):
    """The directives that hold in a folder, the outermost first; those below it behind them."""

    project: str
    items: list[str]


class DiscoverDirectives(Request[DirectivePaths], frozen=True, kw_only=True):
    """Which directives hold in a folder: AGENTS.md, agent programs' own files and .directives/ there and above."""

    op = Operation(
        "agent.directives.discover",
        errors=(ProjectNotFound, PathOutside, InvalidParams),
        host="machine",
        audience="compatibility",
    )

    directory: Path
    down: bool = False
    """Whether those in the folders below count as well."""


class Directives(Struct, frozen=True, kw_only=True):
    """Directives with their texts, what they import behind them."""

    project: str
    items: list[Directive]
    missing: list[str] = []
    """What they import that is not there, or not in the project."""


class DereferenceDirective(Request[Directives], frozen=True, kw_only=True):
    """What a directive says, and what it imports with @path."""

    op = Operation(
        "agent.directives.dereference",
        errors=(ProjectNotFound, PathOutside, InvalidParams, FileMissing),
        host="machine",
        audience="compatibility",
    )

    path: Path


class ResolveDirectives(Request[Directives], frozen=True, kw_only=True):
    """All that directives say about some folders, imports included, each text once."""

    op = Operation(
        "agent.directives.resolve",
        errors=(ProjectNotFound, PathOutside, InvalidParams),
        host="machine",
        audience="compatibility",
    )

    directories: Annotated[list[Path], Meta(min_length=1, max_length=100)]
