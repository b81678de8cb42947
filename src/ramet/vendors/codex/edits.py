"""Codex's tools that change files.

Its transcript has the patch. Its stream only names the files of a patch (`file_change`), so there the files themselves
have to say what changed, as for a command.
"""

from ramet.model.memory.edit import FileEdit
from ramet.vendors.contract.edits.calls import EditCalls, decode, text
from ramet.vendors.contract.edits.patches import BEGIN, read_patch


def _read(tool: str, given: str, result: str) -> list[FileEdit]:  # noqa: ARG001
    if BEGIN not in given:
        return []
    values = decode(given)
    if not values:
        return read_patch(given)
    patch = text(values, "input", "patch", "command", "cmd") or ""
    command = values.get("command")
    if isinstance(command, list):
        patch = "\n".join(part for part in command if isinstance(part, str))
    return read_patch(patch)


EDITS = EditCalls(
    read=_read,
    shells=frozenset({"command_execution", "file_change", "shell", "exec_command", "local_shell", "shell_command"}),
)
