"""Claude Code's tools that change files."""

import json

from ramet.model.memory.edit import FileEdit
from ramet.vendors.contract.edits.calls import EditCalls, decode, replacement, text, whole_file

_CREATED = "File created"
"""How the result of `Write` begins if there was no such file."""


def _read(tool: str, given: str, result: str) -> list[FileEdit]:
    values = decode(given)
    match tool:
        case "Edit":
            return replacement(values, ("file_path",), ("old_string",), ("new_string",))
        case "MultiEdit":
            path, parts = text(values, "file_path"), values.get("edits")
            named = (
                [{**part, "file_path": path} for part in parts if isinstance(part, dict)]
                if isinstance(parts, list)
                else []
            )
            return [each for part in named for each in _read("Edit", json.dumps(part), result)]
        case "Write":
            return whole_file(values, ("file_path",), ("content",), is_new=result.startswith(_CREATED))
        case "NotebookEdit":
            return _cell(text(values, "notebook_path"), text(values, "new_source"))
    return []


def _cell(path: str | None, source: str | None) -> list[FileEdit]:
    """A notebook is JSON: each line of a cell is a text of its own there."""
    if not path or not source:
        return []
    *lines, last = source.split("\n")
    written = [
        *(f"{json.dumps(line + chr(10), ensure_ascii=False)}," for line in lines),
        json.dumps(last, ensure_ascii=False),
    ]
    return [FileEdit(path=path, old=None, new="\n".join(written))]


EDITS = EditCalls(read=_read, shells=frozenset({"Bash", "BashOutput"}))
