"""The tools that change files, of a program of the user's own that prints stream events.

`edit` has `path`, `old` and `new`; `write` has `path` and `content`, and `is_new` if there was no such file.
"""

from ramet.model.memory.edit import FileEdit
from ramet.vendors.contract.edits.calls import EditCalls, decode, replacement, whole_file


def _read(tool: str, given: str, result: str) -> list[FileEdit]:  # noqa: ARG001
    values = decode(given)
    match tool:
        case "edit":
            return replacement(values, ("path",), ("old",), ("new",))
        case "write":
            return whole_file(values, ("path",), ("content",), is_new=values.get("is_new") is True)
    return []


EDITS = EditCalls(read=_read, shells=frozenset({"shell"}))
