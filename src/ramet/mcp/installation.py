"""Adding the server to the files that a project or a user has for agent programs, and removing it again.

What an entry looks like, and in which file it is, is the vendor's affair (`tools`).
"""

from collections.abc import Mapping
from pathlib import Path

from ramet.errors import ConfigError
from ramet.installer import scoped_files
from ramet.installer.changes import Change, State
from ramet.vendors import registry
from ramet.vendors.contract.tool_settings import Tools

Place = tuple[Path, Path]
"""A file, and the folder that no link may lead out of."""


def plan_install(name: str, place: Place, command: str) -> Change:
    """The change that adds our entry, or brings it up to date. Another program's entry with our name is left alone."""
    tools = registry.tools()[name]
    file, scope = place
    before = scoped_files.read(file, scope)
    state = _find_state(tools, file, before, command)
    after = before
    if state == "absent":
        after = tools.install(before, command)
    elif state == "outdated" and before is not None:
        after = tools.install(tools.remove(before), command)
    return Change(name, file, before, after, state, scope)


def plan_remove(name: str, place: Place) -> Change:
    """The change that takes our entry out, and nothing else."""
    tools = registry.tools()[name]
    file, scope = place
    before = scoped_files.read(file, scope)
    state = _find_state(tools, file, before, command="")
    is_ours = before is not None and state in ("installed", "outdated")
    after = tools.remove(before) if is_ours and before is not None else before
    return Change(name, file, before, after, state, scope)


def find_place(name: str, project: Path) -> Place:
    """The file of a project that a program reads, or would read."""
    paths = [project / each for each in registry.tools()[name].files]
    return next((path for path in paths if path.exists()), paths[0]), project


def find_own_place(name: str, environ: Mapping[str, str]) -> Place | None:
    """The file that it reads in every project; None if it has none."""
    own = registry.tools()[name].own_file
    return None if own is None else own.find(environ)


def names_servers(name: str, file: Path) -> bool:
    """Whether a program looks for servers in files of this name."""
    known = registry.tools().get(name)
    if known is None:
        return False
    own = [] if known.own_file is None else [known.own_file.file]
    return file.name in {Path(each).name for each in (*known.files, *own)}


def _find_state(tools: Tools, file: Path, text: str | None, command: str) -> State:
    if text is None:
        return "absent"
    try:
        return tools.find_state(text, command)
    except ConfigError as error:
        raise ConfigError(f"{file}: {error.message}", fix=error.fix) from error
