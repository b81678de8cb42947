"""Our hooks and tools in the files of agent programs: every place where they may be, and the changes that remove them.

A place is known from the record of installations, from a registered project, or because it is the user's own settings.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import get_args

from ramet.cli.invocation import Invocation
from ramet.errors import ConfigError
from ramet.hooks import installation as hooks
from ramet.installer import exclude_block
from ramet.installer.changes import Change
from ramet.installer.install_record import Place, list_places
from ramet.mcp import installation as tools
from ramet.vendors import registry
from ramet.vendors.contract.hooks.settings import Scope


def plan_removals(invocation: Invocation, projects: Iterable[Path]) -> tuple[list[Change], list[str]]:
    """The changes that remove our entries, and what is wrong with files that cannot be read."""
    changes: dict[Path, Change] = {}
    problems: list[str] = []
    for place in dict.fromkeys(_list_places(invocation, projects)):
        try:
            change = _plan(place)
        except ConfigError as error:
            problems.append(error.message)
            continue
        if change is not None and change.diff:
            changes.setdefault(change.file, change)
    return list(changes.values()), list(dict.fromkeys(problems))


def _list_places(invocation: Invocation, projects: Iterable[Path]) -> Iterator[Place]:
    yield from list_places(invocation.places.home)
    folders = list(dict.fromkeys([*projects, invocation.cwd]))
    for name, program in registry.settings().items():
        for scope in get_args(Scope):
            for folder in folders:
                root = program.settings_root(scope, folder, invocation.environ)
                yield Place(name, program.settings_file(scope, folder, invocation.environ), root)
    for name, each in registry.tools().items():
        yield from (Place(name, folder / file, folder) for folder in folders for file in each.files)
        if (own := tools.find_own_place(name, invocation.environ)) is not None:
            yield Place(name, *own)


def _plan(place: Place) -> Change | None:
    """The change to one file: git's list of ignored files, the program's file of tools, or one of hooks."""
    if place.vendor == exclude_block.OWNER:
        return exclude_block.plan_remove(place.scope)
    if tools.names_servers(place.vendor, place.file):
        return tools.plan_remove(place.vendor, (place.file, place.scope))
    program = registry.settings().get(place.vendor)
    return None if program is None else hooks.plan_remove(program, place.file, place.scope)
