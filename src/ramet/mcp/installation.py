"""Adding the server to the files that a project has for agent programs, and removing it again.

What an entry looks like, and in which file it is, is the vendor's affair (`tools`).
"""

from pathlib import Path

from ramet.errors import ConfigError
from ramet.installer import scoped_files
from ramet.installer.changes import Change, State
from ramet.vendors import registry
from ramet.vendors.contract.tool_settings import Tools


def plan_install(name: str, project: Path, command: str) -> Change:
    """The change that adds our entry, or brings it up to date. Another program's entry with our name is left alone."""
    tools = registry.tools()[name]
    file, before = _read(tools, project)
    state = _find_state(tools, file, before, command)
    after = before
    if state == "absent":
        after = tools.install(before, command)
    elif state == "outdated" and before is not None:
        after = tools.install(tools.remove(before), command)
    return Change(name, file, before, after, state, project)


def plan_remove(name: str, project: Path) -> Change:
    """The change that takes our entry out, and nothing else."""
    tools = registry.tools()[name]
    file, before = _read(tools, project)
    state = _find_state(tools, file, before, command="")
    is_ours = before is not None and state in ("installed", "outdated")
    after = tools.remove(before) if is_ours and before is not None else before
    return Change(name, file, before, after, state, project)


def _read(tools: Tools, project: Path) -> tuple[Path, str | None]:
    """The file that the program reads, and its text as it is, line ends included."""
    paths = [project / name for name in tools.files]
    file = next((path for path in paths if path.exists()), paths[0])
    return file, scoped_files.read(file, project)


def _find_state(tools: Tools, file: Path, text: str | None, command: str) -> State:
    if text is None:
        return "absent"
    try:
        return tools.find_state(text, command)
    except ConfigError as error:
        raise ConfigError(f"{file}: {error.message}", fix=error.fix) from error
