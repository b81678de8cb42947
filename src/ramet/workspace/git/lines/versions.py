"""The texts of files in commits, many with one process."""

import os
from collections.abc import Sequence

from ramet.workspace.git.repository import Repository

_MOST_BYTES = 8 * 1024 * 1024


def read_versions(repository: Repository, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """The texts of files by commit and name. What does not exist, is huge or binary is left out."""
    asked = [(commit, path) for commit, path in wanted if "\n" not in path]
    if not asked:
        return {}
    stdin = "".join(f"{commit}:{path}\n" for commit, path in asked)
    said = os.fsencode(repository.git.run(repository.checkout, "cat-file", "--batch", stdin=stdin))
    found: dict[tuple[str, str], str] = {}
    at = 0
    for key in asked:
        end = said.find(b"\n", at)
        if end < 0:
            break
        words = said[at:end].rsplit(b" ", 2)
        at = end + 1
        if len(words) != 3 or not words[2].isdigit():
            continue
        size = int(words[2])
        content = said[at : at + size]
        at += size + 1
        if words[1] == b"blob" and size <= _MOST_BYTES and b"\0" not in content:
            found[key] = os.fsdecode(content)
    return found
