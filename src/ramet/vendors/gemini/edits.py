"""Gemini CLI's tools that change files."""

from ramet.model.memory.edit import FileEdit
from ramet.vendors.contract.edits.calls import EditCalls, decode, replacement, whole_file

_CREATED = "Successfully created"


def _read(tool: str, given: str, result: str) -> list[FileEdit]:
    values = decode(given)
    match tool:
        case "replace" | "edit":
            return replacement(values, ("file_path",), ("old_string",), ("new_string",))
        case "write_file":
            return whole_file(values, ("file_path",), ("content",), is_new=_CREATED in result)
    return []


EDITS = EditCalls(read=_read, shells=frozenset({"run_shell_command"}))
