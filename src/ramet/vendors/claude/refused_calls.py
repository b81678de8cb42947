"""Claude Code's tools in the words of permission rules."""

from typing import Any

from ramet.model.work.permission_rule import Call

_EDITS = ("Edit", "MultiEdit", "NotebookEdit", "Write")
_READS = ("Glob", "Grep", "LS", "NotebookRead", "Read")


def read(tool: str, given: Any) -> Call:
    """What a call of a tool wants."""
    values = given if isinstance(given, dict) else {}
    if tool == "Bash" and (command := _text(values, "command")):
        return Call("run", command)
    if tool in _EDITS and (path := _text(values, "file_path", "notebook_path")):
        return Call("edit", path)
    if tool in _READS and (path := _text(values, "file_path", "notebook_path", "path")):
        return Call("read", path)
    if tool == "WebFetch" and (address := _text(values, "url")):
        return Call("fetch", address)
    return Call("tool", tool)


def _text(values: dict[str, Any], *names: str) -> str:
    found = (values.get(name) for name in names)
    return next((text for text in found if isinstance(text, str) and text), "")
