"""The commits that were made on one branch alone, and what they changed together."""

from typing import NamedTuple

from ramet.workspace.git.lines.file_history import ChangedFile, FileCommit, read_change, read_commits
from ramet.workspace.git.repository import Repository

_MOST_COMMITS = 200


class OwnCommits(NamedTuple):
    """Commits, the newest first, and their sum if nothing else is between them."""

    commits: list[FileCommit]
    net: list[ChangedFile] | None


def read(repository: Repository, branch: str, base: str, head: str, *, context: int) -> OwnCommits:
    """The commits of a branch behind `base` that no other branch has: what it merged belongs to others."""
    limit = f"--max-count={_MOST_COMMITS + 1}"
    others = ("--not", base, f"--exclude={branch}", "--branches", "--remotes")
    own = repository.git.run(repository.checkout, "rev-list", limit, head, *others).split()
    if not own or len(own) > _MOST_COMMITS:
        return OwnCommits([], None)
    between = repository.git.run(repository.checkout, "rev-list", limit, head, "--not", base).split()
    commits = read_commits(repository, own, context=context)
    net = read_change(repository, base, head, context=context) if between == own and len(own) > 1 else None
    return OwnCommits(commits, net)
