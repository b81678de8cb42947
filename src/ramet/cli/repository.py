"""The git repository around a directory, as far as the command line has to know it."""

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

_SECONDS = 10
_ANSWERS = 3
"""An older git answers an option that it does not know with the option itself."""
_VERSION = re.compile(r"\d+(?:\.\d+)+")


class Checkout(NamedTuple):
    """A directory's place in git."""

    top: Path
    """Where the files of this checkout are: of a linked worktree, its own."""
    project: Path
    """Where those of the repository are: of a linked worktree, the main one's."""


def find_checkout(directory: Path) -> Checkout | None:
    """The checkout that a directory is in; None outside of git, and where git is too old to say."""
    found = _git(directory, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir")
    lines = (found or "").splitlines()
    if len(lines) != _ANSWERS:
        return None
    top, own, common = map(Path, lines)
    is_linked = own != common and common.name == ".git"
    return Checkout(top, common.parent if is_linked else top)


def remote_of(directory: Path) -> str | None:
    """Where the repository was cloned from, as git has it; None where it was not."""
    found = _git(directory, "config", "--get", "remote.origin.url")
    return found.strip() or None if found else None


def git_version() -> tuple[int, ...] | None:
    """The version of the git in PATH; None where there is none that runs."""
    found = _VERSION.search(_git(Path("/"), "--version") or "")
    return tuple(map(int, found[0].split("."))) if found else None


def _git(directory: Path, *arguments: str) -> str | None:
    """What git prints, where it succeeds."""
    try:
        done = subprocess.run(
            ["git", "-C", str(directory), *arguments],  # noqa: S607  the git that the user has
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
