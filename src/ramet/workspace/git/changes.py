"""What changed between two commits, as git counts it."""

import os

from ramet.model.record.effort import Changes
from ramet.workspace.git.repository import Repository


def changes(repository: Repository, base: str, head: str) -> Changes:
    """Files and lines. A binary file has no lines; a renamed one is one that went and one that came."""
    if base == head:
        return Changes(files=[], insertions=0, deletions=0)
    options = ("--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")
    said = repository.git.run(repository.checkout, "diff", *options, base, head, "--")
    rows = [row.split("\t", 2) for row in said.split("\0") if row]
    return Changes(
        files=[os.fsencode(path).decode(errors="backslashreplace") for _, _, path in rows],
        insertions=sum(int(added) for added, _, _ in rows if added != "-"),
        deletions=sum(int(deleted) for _, deleted, _ in rows if deleted != "-"),
    )
