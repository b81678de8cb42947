"""What became of a file that is no longer there."""

from typing import NamedTuple

from ramet.workspace.git.repository import Repository


class Fate(NamedTuple):
    """The commit that removed a file, and its new name if it has one."""

    commit: str
    renamed_to: str | None


def find_fate(repository: Repository, path: str) -> Fate | None:
    """The last commit that removed a file; None if no commit did."""
    git, top = repository.git, repository.checkout
    named = f":(top,literal){path}"
    found = git.run(top, "log", "-1", "--format=%H", "--diff-filter=D", "--no-renames", "HEAD", "--", named).strip()
    if not found:
        return None
    said = git.run(top, "show", "--format=", "--name-status", "-z", "-M", "--diff-filter=R", found, "--")
    fields = said.split("\0")
    renames = {old: new for _, old, new in zip(fields[::3], fields[1::3], fields[2::3], strict=False)}
    return Fate(found, renames.get(path))
