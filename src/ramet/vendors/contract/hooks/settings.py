"""Where an agent program looks for its hooks, and our entries there: one command line, which never changes.

A project's settings are shared by everybody who works on it, so the command line there names no machine's paths and
does nothing if Ramet is not installed. A program may trust a hook by its hash, and not run a changed one until somebody
has looked at it. So whatever may change is in the program that the command line starts (`ramet.hooks.program`).

Only events that Ramet does something with (`Hooks.events`) are asked for: each costs the agent a process.
"""

import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from ramet.config.files import user_home

Scope = Literal["user", "project", "local"]
"""Whose settings: the user's own in every directory, those that everyone on a project shares, or the user's own in one
project.
"""

Position = tuple[str, int, int]
"""Where one of our entries is in a file: the event, the group among its groups, the entry in the group."""

MARK = "# ramet hooks"
"""At the end of our command lines; an entry with it is ours."""

_PLAIN = re.compile(r"[\w./-]+", re.ASCII)

START = 'h="${RAMET_HOME:-${XDG_DATA_HOME:-$HOME/.local/share}/ramet}/hook"; [ ! -x "$h" ] || exec "$h"'
"""Starts the hook program; the vendor's name follows as its argument."""

_SECONDS = 10
_OTHER_SECONDS = {"SessionStart": 30, "PreCompact": 30, "SessionEnd": 3}
"""When a context window begins or is compacted, much is read; when a program ends, it waits for nobody. Our own
deadlines (`hooks.deadline_ms`) end sooner.
"""


class Program(NamedTuple):
    """An agent program: its settings files, and our entries in them."""

    name: str
    folder: str
    """Of its settings, in a project or in the user's home."""
    folder_variable: str
    """The environment variable that names another folder than that in the user's home."""
    file: str
    command: str
    events: tuple[str, ...]
    """The hooks that get an entry."""
    find_switch: Callable[[Path, Path], str | None]
    """The setting that turns off all hooks, in words: by the settings file and the folder that it has to be in."""
    find_advice: Callable[[Path, Path, list[Position]], str | None] | None = None
    """What is left to do by hand before the program runs our hooks: by the user's own settings file, the file that has
    our entries, and their positions. None if the program runs hooks without asking.
    """
    status_line: dict[str, Any] | None = None
    """Its `statusLine`, if the program has one."""
    local_file: str | None = None
    """The file beside `file` that is not shared; None if the program has no such file, and `file` itself is not shared
    then.
    """
    shows_command: bool = False
    """Whether people see the command line in the program's own screens, so that it should be short."""
    reads_above: bool = False
    """Whether it reads a project's settings also if it is started in a folder below them."""
    shares_worktrees: bool = False
    """Whether in a linked worktree it reads the hooks of the main checkout; and only if the worktree has its folder,
    too.
    """

    def settings_file(self, scope: Scope, project: Path, environ: Mapping[str, str]) -> Path:
        """The file that the program reads."""
        named = environ.get(self.folder_variable) if scope == "user" else None
        root = self.settings_root(scope, project, environ)
        name = self.local_file or self.file if scope == "local" else self.file
        return root / name if named else root / self.folder / name

    def settings_root(self, scope: Scope, project: Path, environ: Mapping[str, str]) -> Path:
        """The folder that a link in a scope's settings may not lead out of."""
        if scope != "user":
            return project
        named = environ.get(self.folder_variable)
        return Path(named) if named else user_home(environ)

    def in_scope(self, scope: Scope, hook_program: Path, environ: Mapping[str, str]) -> Self:
        """The program with the command line of a scope. The user's own settings are for one machine, so they can name
        the hook program itself; the vendor's name and our mark follow it in any case.
        """
        if scope != "user" or not self.shows_command:
            return self
        command = f"{_shown(hook_program, user_home(environ))} {self.name} {MARK}"
        line = None if self.status_line is None else {**self.status_line, "command": command}
        return self._replace(command=command, status_line=line)

    @property
    def timeouts_seconds(self) -> dict[str, int]:
        """By event. All programs read seconds."""
        return {event: _OTHER_SECONDS.get(event, _SECONDS) for event in self.events}

    def groups(self) -> dict[str, dict[str, Any]]:
        """Our entry for each event. It has no matcher, so it is called for every tool."""
        return {
            event: {"hooks": [{"type": "command", "command": self.command, "timeout": seconds}]}
            for event, seconds in self.timeouts_seconds.items()
        }


def _shown(path: Path, home: Path) -> str:
    """A path for a shell, short if the shell can complete it."""
    below = str(path.relative_to(home)) if path.is_relative_to(home) else ""
    return f"~/{below}" if below and _PLAIN.fullmatch(below) else shlex.quote(str(path))
