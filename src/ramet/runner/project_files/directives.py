"""`agent.directives.*`: what a project tells agents, by the folder that they work in."""

from ramet.protocol.commands import (
    DereferenceDirective,
    DirectivePaths,
    Directives,
    DiscoverDirectives,
    ResolveDirectives,
)
from ramet.runner import projects
from ramet.runner.host import Workplace
from ramet.workspace.files import directives


def discover(workplace: Workplace, request: DiscoverDirectives) -> DirectivePaths:
    """The operation `agent.directives.discover`."""
    site = projects.find(workplace, request.directory, "directory")
    found = directives.discover(site.root, request.directory, down=request.down)
    return DirectivePaths(project=str(site.root), items=[str(path) for path in found])


def dereference(workplace: Workplace, request: DereferenceDirective) -> Directives:
    """The operation `agent.directives.dereference`."""
    site = projects.find(workplace, request.path)
    found = directives.dereference(site.root, request.path)
    return Directives(project=str(site.root), items=found.directives, missing=found.missing)


def resolve(workplace: Workplace, request: ResolveDirectives) -> Directives:
    """The operation `agent.directives.resolve`. The folders are all of one project."""
    site = projects.find(workplace, request.directories[0], "directories")
    return Directives(project=str(site.root), items=directives.resolve(site.root, request.directories))
