"""`agent.directives.*`: what a project tells agents, by the folder that they work in."""

from ramet.protocol.hooks.directives import (
    DereferenceDirective,
    DirectivePaths,
    Directives,
    DiscoverDirectives,
    ResolveDirectives,
)
from ramet.runner import projects
from ramet.runner.answers import answers
from ramet.runner.machine import Machine
from ramet.vendors import registry
from ramet.workspace.files import directives


@answers(DiscoverDirectives)
def discover(machine: Machine, request: DiscoverDirectives) -> DirectivePaths:
    """The operation `agent.directives.discover`."""
    site = projects.find(machine, request.directory, "directory")
    found = directives.discover(site.root, request.directory, registry.directive_files(), down=request.down)
    return DirectivePaths(project=str(site.root), items=[str(path) for path in found])


@answers(DereferenceDirective)
def dereference(machine: Machine, request: DereferenceDirective) -> Directives:
    """The operation `agent.directives.dereference`."""
    site = projects.find(machine, request.path)
    found = directives.dereference(site.root, request.path)
    return Directives(project=str(site.root), items=found.directives, missing=found.missing)


@answers(ResolveDirectives)
def resolve(machine: Machine, request: ResolveDirectives) -> Directives:
    """The operation `agent.directives.resolve`. The folders are all of one project."""
    site = projects.find(machine, request.directories[0], "directories")
    found = directives.resolve(site.root, request.directories, registry.directive_files())
    return Directives(project=str(site.root), items=found)
