"""The git repository around a directory, as far as the command line has to know it."""

import re
import subprocess
from pathlib import Path

_SECONDS = 10
_VERSION = re.compile(r"\d+(?:\.\d+)+")


def top_level(directory: Path) -> Path | None:
    """Where the repository's files are; in a linked worktree, where those of the main one are. None outside of git."""
    found = _git(directory, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir")
    if found is None:
        return None
    top, own, common = (Path(line) for line in found.splitlines())
    is_linked = own != common and common.name == ".git"
    return common.parent if is_linked else top


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
