"""opencode's tools that change files."""

from ramet.model.memory.edit import FileEdit
from ramet.vendors.contract.edits.calls import EditCalls, decode, replacement, text, whole_file
from ramet.vendors.contract.edits.patches import read_patch


def _read(tool: str, given: str, result: str) -> list[FileEdit]:  # noqa: ARG001
    values = decode(given)
    match tool:
        case "edit":
            return replacement(values, ("filePath",), ("oldString",), ("newString",))
        case "write":
            return whole_file(values, ("filePath",), ("content",), is_new=False)
        case "patch" | "apply_patch":
            return read_patch(text(values, "patchText", "patch", "input") or "")
    return []


EDITS = EditCalls(read=_read, shells=frozenset({"bash"}))
