"""Running git: argument lists, no hooks, no prompts, a bounded time, and an error with git's own message.

A repository's own hooks and helper programs never run here: they would run with the daemon's rights, at unexpected
moments. The user's configuration for the content of files (filters, line endings) does apply, because otherwise a
worktree would have other files than the user's own checkout.
"""

import os
import re
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ramet.errors import GitFailed

_CONFIG = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "protocol.ext.allow=never",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "core.quotePath=false",
    "advice.addEmbeddedRepo=false",
)
_OPTIONS = tuple(part for setting in _CONFIG for part in ("-c", setting))
_INHERITED = re.compile(r"GIT_(CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)|(AUTHOR|COMMITTER)_(NAME|EMAIL))")
"""The only GIT_ variables that reach git: who the user is. Others could lead it to another repository."""

_ROLES = ("AUTHOR", "COMMITTER")
_TIMEOUT_SECONDS = 600
"""Long, because a checkout of a large repository is."""

_LOCKED = re.compile(r"\.lock': File exists|could not lock config file")
_LOCK_ATTEMPTS = 7
_LOCK_PAUSE_SECONDS = 0.05
_SAID_LENGTH = 2000


class _Done(NamedTuple):
    status: int
    out: bytes
    said: str


class Git:
    """The git program, with the environment that it is given."""

    def __init__(self, environ: Mapping[str, str], timeout_seconds: float = _TIMEOUT_SECONDS) -> None:
        """What takes longer than the timeout is ended, and fails."""
        self._timeout_seconds = timeout_seconds
        kept = {key: value for key, value in environ.items() if not key.startswith("GIT_") or _INHERITED.fullmatch(key)}
        self._environ = kept | {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}

    def run(self, directory: str | Path, *arguments: str, stdin: str = "", index: Path | None = None) -> str:
        """What git prints. `index` takes the place of the worktree's own; names come as `os.fsdecode` gives them."""
        done = self._patiently(directory, arguments, stdin, index)
        if done.status != 0:
            raise _failed(arguments, done)
        return os.fsdecode(done.out)

    def ask(self, directory: str | Path, *arguments: str) -> str | None:
        """The line that git answers with, or None if it answers no, which is exit status 1."""
        is_yes, said = self.judge(directory, *arguments)
        return said.removesuffix("\n") if is_yes else None

    def judge(self, directory: str | Path, *arguments: str, stdin: str = "") -> tuple[bool, str]:
        """Whether git answers yes or no, which is exit status 1, and what it prints with it."""
        done = self._patiently(directory, arguments, stdin, None)
        if done.status not in (0, 1):
            raise _failed(arguments, done)
        return done.status == 0, os.fsdecode(done.out)

    def identified(self, directory: str | Path) -> "Git":
        """The same with an identity that may commit: the user, if git knows it, else Ramet."""
        if self.ask(directory, "config", "--get", "user.name") and self.ask(directory, "config", "--get", "user.email"):
            return self
        names = {f"GIT_{role}_NAME": "Ramet" for role in _ROLES}
        addresses = {f"GIT_{role}_EMAIL": "ramet@localhost" for role in _ROLES}
        return Git(names | addresses | self._environ, self._timeout_seconds)

    def _patiently(self, directory: str | Path, arguments: tuple[str, ...], stdin: str, index: Path | None) -> _Done:
        """Run it again while another process holds one of git's locks, within a few seconds."""
        pause = _LOCK_PAUSE_SECONDS
        for _ in range(_LOCK_ATTEMPTS - 1):
            done = self._once(directory, arguments, stdin, index)
            if done.status == 0 or not _LOCKED.search(done.said):
                return done
            time.sleep(pause)
            pause *= 2
        return self._once(directory, arguments, stdin, index)

    def _once(self, directory: str | Path, arguments: tuple[str, ...], stdin: str, index: Path | None) -> _Done:
        command = ["git", "-C", str(directory), *_OPTIONS, *arguments]
        environ = self._environ | ({"GIT_INDEX_FILE": str(index)} if index else {})
        try:
            process = subprocess.Popen(
                command,
                env=environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except FileNotFoundError:
            raise GitFailed("git is not installed, or not in PATH", fix="install git 2.25 or newer") from None
        except OSError as error:
            raise GitFailed(
                f"git could not be started: {error.strerror}", fix="try again when fewer processes are running"
            ) from error
        with process:
            try:
                out, said = process.communicate(os.fsencode(stdin), self._timeout_seconds)
            except subprocess.TimeoutExpired:
                _end(process)
                raise GitFailed(f"{_name(arguments)} took longer than {self._timeout_seconds:g} seconds") from None
            except BaseException:
                _end(process)
                raise
        return _Done(process.returncode, out, said.decode(errors="backslashreplace").strip())


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End git and the filters that it started; what they hold open would keep us waiting."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _failed(arguments: tuple[str, ...], done: _Done) -> GitFailed:
    said = done.said[-_SAID_LENGTH:] or f"exit status {done.status}"
    fix = None
    if "dubious ownership" in said:
        fix = "the repository belongs to another user; add it to safe.directory, see `git help config`"
    return GitFailed(f"{_name(arguments)} failed: {said}", fix=fix)


def _name(arguments: tuple[str, ...]) -> str:
    """The command without its options: `git worktree add`."""
    words = [word for word in arguments if not word.startswith("-")]
    return " ".join(["git", *words[: 2 if words[0] == "worktree" else 1]])
