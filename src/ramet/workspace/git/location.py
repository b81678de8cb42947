"""Where a repository is, found by reading files: git would read the repository's configuration to answer.

What is found here may have been written by an agent. That is safe: `git.view` takes data from it, and no program.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from ramet.config.git_folder import find_common, find_git_dir, read_small

__all__ = ["Location", "has_owner", "locate", "read_small"]


class Location(NamedTuple):
    """A checkout, and the folders that git keeps for it."""

    top: Path
    """Where its files are."""
    git_dir: Path
    """What belongs to this checkout alone: HEAD, the index."""
    common: Path
    """What all worktrees of the repository share: objects, refs, the configuration."""

    @property
    def is_linked(self) -> bool:
        """Whether this is a worktree that was added to a repository."""
        return self.git_dir != self.common


def locate(directory: Path) -> Location | None:
    """The checkout that a directory is in; None if it is in none."""
    folder = str(directory)
    while True:
        git_dir = find_git_dir(folder)
        if git_dir is not None:
            return Location(Path(folder), Path(git_dir), Path(find_common(git_dir)))
        above = os.path.dirname(folder)  # noqa: PTH120  before every git: four times as fast as Path
        if above == folder:
            return None
        folder = above


def has_owner(location: Location, environ: Mapping[str, str], safe_directories: Iterable[str] = ()) -> bool:
    """Whether the checkout belongs to this user, or to one that the user's own configuration calls safe.

    git has this rule too, but only applies it if it finds the repository itself.
    """
    users = {os.geteuid()}
    if 0 in users and environ.get("SUDO_UID", "").isdecimal():
        users.add(int(environ["SUDO_UID"]))
    places = (location.top, location.top / ".git", location.git_dir, location.common)
    if all(os.lstat(place).st_uid in users for place in places):
        return True
    return any(_matches(pattern, str(location.top)) for pattern in safe_directories)


def _matches(pattern: str, top: str) -> bool:
    if pattern.endswith("/*"):
        return top.startswith(pattern[:-1])
    return pattern in ("*", top)
