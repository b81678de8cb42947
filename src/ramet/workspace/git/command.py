"""Running git: the only place that does. Argument lists, no prompts, a bounded time, and an error that says why.

Nothing that a repository says can start a program here: no hook, filter, merge or diff driver, monitor, alias, helper,
signature check or transport. They would run with the daemon's rights, outside of the sandbox of whoever wrote them. git
runs in a view of the repository (`git.view`), which has none of its configuration. What is set here holds even so: for
git processes that git starts in other repositories, such as submodules.
"""

import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from ramet.errors import GitFailed
from ramet.workspace.git import links
from ramet.workspace.git.location import locate
from ramet.workspace.git.process import Done, Sample, execute, sample
from ramet.workspace.git.view import View, Views

_CONFIG = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "protocol.allow=never",
    "commit.gpgSign=false",
    "log.showSignature=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "core.quotePath=false",
    "advice.addEmbeddedRepo=false",
)
_OPTIONS = tuple(part for setting in _CONFIG for part in ("-c", setting))
_INHERITED = re.compile(r"GIT_(CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)|(AUTHOR|COMMITTER)_(NAME|EMAIL))")
"""The only GIT_ variables that reach git: who the user is. Others could lead it to another repository."""

_QUIET = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_EDITOR": "false"}
_NO_REPOSITORY = View({"GIT_DIR": os.devnull}, (), is_partial=False)
_ROLES = ("AUTHOR", "COMMITTER")
_TIMEOUT_SECONDS = 600
"""Long, because a checkout of a large repository is."""

_LOCKED = re.compile(r"\.lock': File exists|could not lock config file")
_LOCK_ATTEMPTS = 7
_LOCK_PAUSE_SECONDS = 0.05
_SAID_LENGTH = 2000
_PARTIAL = "This is a partial clone, and Ramet fetches nothing that is missing in it."


class Git:
    """The git program, with the environment that it is given."""

    def __init__(
        self,
        environ: Mapping[str, str],
        views: Path | Views,
        *,
        filters: Sequence[str] = (),
        timeout_seconds: float = _TIMEOUT_SECONDS,
    ) -> None:
        """`views` is the folder for what git sees of repositories, and `filters` are those that the user allows.

        What takes longer than the timeout is ended, and fails.
        """
        self._timeout_seconds = timeout_seconds
        kept = {key: value for key, value in environ.items() if not key.startswith("GIT_") or _INHERITED.fullmatch(key)}
        self._views = views if isinstance(views, Views) else Views(views, kept, filters)
        self._environ = kept | _QUIET

    @property
    def filters(self) -> tuple[str, ...]:
        """The content filters that the user allows."""
        return self._views.filters

    def within(self, timeout_seconds: float) -> "Git":
        """The same with another timeout."""
        return Git(self._environ, self._views, timeout_seconds=timeout_seconds)

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

    def sample(self, directory: str | Path, *arguments: str, most_bytes: int, index: Path | None = None) -> Sample:
        """The first bytes that git prints. It is ended if it prints more."""
        command, environ, _ = self._compose(directory, arguments, index)
        found = sample(command, environ, self._timeout_seconds, most_bytes, _name(arguments))
        if found.status != 0 and not found.is_cut:
            raise _failed(arguments, Done(found.status, b"", found.said))
        return found

    def identified(self, directory: str | Path) -> "Git":
        """The same with an identity that may commit: the user, if git knows it, else Ramet."""
        if self.ask(directory, "config", "--get", "user.name") and self.ask(directory, "config", "--get", "user.email"):
            return self
        names = {f"GIT_{role}_NAME": "Ramet" for role in _ROLES}
        addresses = {f"GIT_{role}_EMAIL": "ramet@localhost" for role in _ROLES}
        return Git(names | addresses | self._environ, self._views, timeout_seconds=self._timeout_seconds)

    def pass_on(self, source: Path, target: Path) -> None:
        """Give a new worktree the settings that belong to the checkout that it was made from alone."""
        found, new = locate(source), locate(target)
        options = self._views.open(found).options if found else ()
        for setting in options[1::2]:
            key, _, value = setting.partition("=")
            self.run("/", "config", "--file", f"{new.git_dir if new else target}/config.worktree", key, value)

    def _patiently(self, directory: str | Path, arguments: tuple[str, ...], stdin: str, index: Path | None) -> Done:
        """Run it again while another process holds one of git's locks, within a few seconds."""
        pause = _LOCK_PAUSE_SECONDS
        for _ in range(_LOCK_ATTEMPTS - 1):
            done = self._once(directory, arguments, stdin, index)
            if done.status == 0 or not _LOCKED.search(done.said):
                return done
            time.sleep(pause)
            pause *= 2
        return self._once(directory, arguments, stdin, index)

    def _once(self, directory: str | Path, arguments: tuple[str, ...], stdin: str, index: Path | None) -> Done:
        command, environ, is_partial = self._compose(directory, arguments, index)
        done = execute(command, environ, os.fsencode(stdin), self._timeout_seconds, _name(arguments))
        if done.status > 1 and is_partial:
            return done._replace(said=f"{done.said}\n{_PARTIAL}")
        return done

    def _compose(
        self, directory: str | Path, arguments: tuple[str, ...], index: Path | None
    ) -> tuple[list[str], dict[str, str], bool]:
        """The arguments of git in a checkout, its environment, and whether the repository is a partial clone."""
        location = locate(Path(directory).absolute())
        if location is None:
            view = _NO_REPOSITORY
        else:
            links.refuse(location, next(word for word in arguments if not word.startswith("-")))
            view = self._views.open(location, self._timeout_seconds)
        environ = self._environ | view.variables | ({"GIT_INDEX_FILE": str(index)} if index else {})
        return ["-C", str(directory), *_OPTIONS, *view.options, *arguments], environ, view.is_partial


def _failed(arguments: tuple[str, ...], done: Done) -> GitFailed:
    said = done.said[-_SAID_LENGTH:] or f"exit status {done.status}"
    fix = "fetch all of it: git fetch --refetch --no-filter" if _PARTIAL in said else None
    return GitFailed(f"{_name(arguments)} failed: {said}", fix=fix)


def _name(arguments: tuple[str, ...]) -> str:
    """The command without its options: `git worktree add`."""
    words = [word for word in arguments if not word.startswith("-")]
    return f"git {' '.join(words[: 2 if words[0] == 'worktree' else 1])}"
