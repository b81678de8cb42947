"""Files that a session is told by its hooks: the project's standards when it starts, and the files of a skill that it
invokes.

A hook waits for this, and a broken file must not keep an agent from its work: what cannot be read is left out.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from ramet.errors import RametError
from ramet.model.hooks.command_file import SKILL_TOOL, list_files
from ramet.model.hooks.directive import FOLDER, STANDARDS, Directive
from ramet.model.hooks.hook import HookEvent
from ramet.protocol.hooks.hooks import HookFacts
from ramet.runner.project_files.skill_discovery import define
from ramet.vendors import registry
from ramet.workspace import surroundings
from ramet.workspace.files import directives, skills


def add(environ: Mapping[str, str], event: HookEvent, facts: HookFacts) -> HookFacts:
    """The facts of an event, with the files that it calls for."""
    is_skill = event.moment == "post_tool_use" and event.tool == SKILL_TOOL
    if event.cwd is None or not (is_skill or event.moment == "session_start"):
        return facts  # most events are tool calls, which wait
    top, _ = surroundings.find_top(Path(event.cwd))
    if is_skill:
        return replace(facts, skill_files=find_skill_files(top, environ, event.tool_input))
    return replace(facts, standards=find_standards(top))


def find_standards(root: Path) -> list[Directive]:
    """A project's standards, with the files that they import, each once."""
    found: dict[str, Directive] = {}
    for path in (root / FOLDER / name for name in STANDARDS):
        with suppress(RametError, OSError):
            found |= {each.path: each for each in directives.dereference(root, path).directives}
    return list(found.values())


def find_skill_files(root: Path, environ: Mapping[str, str], tool_input: object) -> list[Directive]:
    """The templates of the skill that a tool call names, and the command files that it starts with."""
    name = tool_input.get("skill") if isinstance(tool_input, dict) else None
    if not isinstance(name, str):
        return []
    with suppress(RametError, OSError):
        found = skills.find(root, environ, registry.skill_folders(), name)
        definition = None if found is None else define(found)
        if definition is not None and definition.text is not None:
            return list_files(definition.text, definition.templates, definition.phases, None)
    return []
