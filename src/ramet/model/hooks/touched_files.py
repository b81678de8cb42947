"""Which files a tool call of an agent is about, from what the tool was given."""

import posixpath
import re
from typing import Any

from ramet.model.hooks.directive import is_plain
from ramet.model.hooks.hook import HookEvent

_FIELDS = ("file_path", "notebook_path")
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.*\S)", re.MULTILINE)
_MOST = 100
_LONGEST = 4096


def touched_files(event: HookEvent) -> list[str]:
    """Absolute paths, each once; none where it cannot be told, as of a shell command."""
    given = event.tool_input
    if not isinstance(given, dict):
        return []
    named = [given[field] for field in _FIELDS if isinstance(given.get(field), str)]
    if event.tool == "apply_patch":
        named += _patched(given)
    plain = (name for name in named if len(name) <= _LONGEST and is_plain(name))
    absolute = (posixpath.normpath(posixpath.join(event.cwd or "", name)) for name in plain)
    return list(dict.fromkeys(path for path in absolute if path.startswith("/")))[:_MOST]


def _patched(given: dict[str, Any]) -> list[str]:
    patch = given.get("command") or given.get("input")
    return _PATCHED.findall(patch) if isinstance(patch, str) else []
