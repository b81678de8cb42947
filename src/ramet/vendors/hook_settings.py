"""Where agent programs look for their hooks, and what each is told: one command line, which never changes.

A project's settings are shared by everybody who works on it, so the command line names no machine's paths and does
nothing where Ramet is not installed. Codex trusts a hook by its hash: a changed one is not run until somebody has
looked at it, so what may change stands in the program that the command line starts (`ramet.hooks.program`).

Only events that Ramet does something with (`EVENTS` of the vendor) are asked for: each costs the agent a process.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ramet.config.files import user_home
from ramet.vendors.hook_registry import VENDORS

Scope = Literal["project", "user"]

MARK = "# ramet hooks"
"""At the end of our command lines; by it an entry is known as ours."""

_START = 'h="${RAMET_HOME:-${XDG_DATA_HOME:-$HOME/.local/share}/ramet}/hook"; [ ! -x "$h" ] || exec "$h"'

_SECONDS = 10
_OTHER_SECONDS = {"SessionStart": 30, "PreCompact": 30, "SessionEnd": 3}
"""Where a context window begins or is compacted, much is read; when a program ends, it waits for nobody. Our own
deadlines (`hooks.deadline_ms`) end sooner.
"""


class Program(NamedTuple):
    """An agent program: its files, and our entries in them."""

    name: str
    folder: str
    """Of its settings, in a project or in the user's home."""
    folder_variable: str
    """The environment variable that names another one than that in the user's home."""
    file: str
    command: str
    status_line: dict[str, Any] | None
    """Its `statusLine`, where the program has one."""
    advice: str | None = None
    """What is left to do by hand, where the program asks before it runs hooks."""
    shares_worktrees: bool = False
    """Whether in a linked worktree it reads the hooks of the main checkout; and only where the worktree has its folder,
    too.
    """

    def settings_file(self, scope: Scope, project: Path, environ: Mapping[str, str]) -> Path:
        """The file that the program reads."""
        if scope == "project":
            return project / self.folder / self.file
        named = environ.get(self.folder_variable)
        return (Path(named) if named else user_home(environ) / self.folder) / self.file

    @property
    def timeouts_seconds(self) -> dict[str, int]:
        """By event. Both programs read seconds."""
        return {event: _OTHER_SECONDS.get(event, _SECONDS) for event in VENDORS[self.name].EVENTS}

    def groups(self) -> dict[str, dict[str, Any]]:
        """Our entry for each event. There is no matcher: it holds for every tool."""
        return {
            event: {"hooks": [{"type": "command", "command": self.command, "timeout": seconds}]}
            for event, seconds in self.timeouts_seconds.items()
        }


PROGRAMS = {
    program.name: program
    for program in (
        Program(
            "claude",
            folder=".claude",
            folder_variable="CLAUDE_CONFIG_DIR",
            file="settings.json",
            command=f"{_START} claude {MARK}",
            status_line={"type": "command", "command": f"{_START} claude {MARK}", "padding": 0},
        ),
        Program(
            "codex",
            folder=".codex",
            folder_variable="CODEX_HOME",
            file="hooks.json",
            # Codex starts it with the user's own shell, which may be one that does not understand this.
            command=f"/bin/sh -c '{_START} codex {MARK}'",
            status_line=None,
            advice='codex runs new hooks only when you trust them: start it once, and choose "Trust all and continue"',
            shares_worktrees=True,
        ),
    )
}
