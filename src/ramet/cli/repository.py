"""The git repository around a directory, as far as the command line has to know it."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ramet.errors import GitFailed
from ramet.workspace.git import safe_config
from ramet.workspace.git.location import has_owner, locate, read_small
from ramet.workspace.git.process import execute

_SECONDS = 10
_CONFIG_BYTES = 1024 * 1024
_VERSION = re.compile(r"\d+(?:\.\d+)+")


class Checkout(NamedTuple):
    """A directory's place in git."""

    top: Path
    """Where the files of this checkout are: of a linked worktree, its own."""
    project: Path
    """Where those of the repository are: of a linked worktree, the main one's."""


def find_checkout(environ: Mapping[str, str], directory: Path) -> Checkout | None:
    """The checkout that a directory is in; None outside of git, and if it belongs to another user."""
    found = locate(directory)
    if found is None or not (has_owner(found, environ) or has_owner(found, environ, _safe_directories(environ))):
        return None
    is_linked = found.is_linked and found.common.name == ".git"
    return Checkout(found.top, found.common.parent if is_linked else found.top)


def remote_of(environ: Mapping[str, str], directory: Path) -> str | None:
    """Where the repository was cloned from, as git has it; None if it was not."""
    found = locate(directory)
    config = read_small(found.common / "config", _CONFIG_BYTES) if found else None
    said = _git(environ, "config", "--file", "-", "--get", "remote.origin.url", stdin=config) if config else None
    return said.decode(errors="replace").strip() or None if said else None


def git_version(environ: Mapping[str, str]) -> tuple[int, ...] | None:
    """The version of the git in PATH; None if there is none that runs."""
    found = _VERSION.search((_git(environ, "--version") or b"").decode(errors="replace"))
    return tuple(map(int, found[0].split("."))) if found else None


def _safe_directories(environ: Mapping[str, str]) -> list[str]:
    """The directories of others that the user trusts git with."""
    return safe_config.safe_directories(safe_config.parse(_git(environ, "config", "--list", "-z") or b""), environ)


def _git(environ: Mapping[str, str], *arguments: str, stdin: bytes = b"") -> bytes | None:
    """What git prints outside of any repository, if it succeeds."""
    try:
        done = execute(["-C", "/", *arguments], {**environ, "GIT_DIR": os.devnull}, stdin, _SECONDS)
    except GitFailed:
        return None
    return done.out if done.status == 0 else None
