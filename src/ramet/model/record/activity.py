"""What an agent does now, in a few words: its newest prompt, and its newest tool call."""

import json
import re
from typing import Any, NamedTuple

_CHARACTERS = 200
_TELLING = (
    *("command", "cmd", "file_path", "notebook_path", "path", "pattern", "query", "url"),
    *("description", "subject", "prompt", "goal", "text", "message"),
)
"""The arguments that say what a tool call is about, the most telling first."""
_PATHS = ("file_path", "notebook_path", "path")
_GOING = re.compile(r"\Acd\s+[^;&|\n]*&&\s*")
"""A change of directory before the command itself."""
_MCP = re.compile(r"mcp__(.+?)__(.+)")


class Activity(NamedTuple):
    """What an agent was last asked for, and the tool that it called last since then."""

    prompt: str | None
    tool: str | None


def describe_call(tool: str, given: str) -> str:
    """A tool call in a few words: `Bash: make test`, `Edit: shop/cart.py`. `given` is the tool's input, as JSON."""
    name = " ".join(found.groups()) if (found := _MCP.fullmatch(tool)) else tool
    about = " ".join(_about(_decode(given)).split())
    return f"{name}: {about}"[:_CHARACTERS] if about else name


def _decode(given: str) -> Any:
    try:
        return json.loads(given)
    except ValueError:
        return None


def _about(given: Any) -> str:
    """The argument that says most: in some programs a command is a list, whose last part is what a shell runs."""
    if not isinstance(given, dict):
        return ""
    for name in _TELLING:
        value = given.get(name)
        if isinstance(value, list) and value:
            value = value[-1]
        if isinstance(value, str) and value.strip():
            return _short_path(value) if name in _PATHS else _GOING.sub("", value.strip())
    return ""


def _short_path(path: str) -> str:
    """The file and its folder: a worktree's whole path would fill the line."""
    return "/".join([part for part in path.split("/") if part][-2:])
