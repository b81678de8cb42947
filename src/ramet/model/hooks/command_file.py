"""A command file: markdown that says how to do a step of a skill; and which files of a skill an agent needs when.

Templates, and command files that no phase names, are for the whole effort. A command file of a phase is needed in that
phase; before the first phase is entered, that one is next.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ramet.model.hooks.directive import Directive, is_plain, make
from ramet.model.record.phase import parse_phases
from ramet.model.record.skill import SkillText

SKILL_TOOL = "Skill"
"""The tool with which an agent program invokes a skill by itself."""


def list_files(
    text: SkillText,
    templates: Mapping[str, Any] | None,
    phases: Sequence[Any] | None,
    current: str | None,
    *,
    with_templates: bool = True,
) -> list[Directive]:
    """The files that an agent needs in its current phase, as far as they can be read."""
    declared = parse_phases(phases)
    claimed = {path for phase in declared for path in phase.commands}
    now = next((phase for phase in declared if current in (None, phase.label)), None)
    wanted = [path for path in text.command_texts if path not in claimed] + list(now.commands if now else ())
    found = {path: text.command_texts[path] for path in wanted if path in text.command_texts}
    if with_templates:
        named = {str(path): text.template_texts.get(name) for name, path in (templates or {}).items()}
        found = {path: read for path, read in named.items() if read is not None} | found
    folder = text.file.rpartition("/")[0]
    return [make(f"{folder}/{path}", read) for path, read in found.items() if is_plain(path)]
