"""The machine: operations that are answered with this machine's disk at hand, beside the database.

An operation of it is a plain function that may look at files and run git, and asks the engine for all else. The daemon
runs it on a thread, `ramet.open` where it is called.
"""

import time
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from ramet.clock import Clock, SystemClock
from ramet.config.environment import read_environment
from ramet.config.host import find_host
from ramet.config.layers import load
from ramet.config.settings import Places, Settings
from ramet.errors import ConfigError
from ramet.model.instant import to_datetime
from ramet.model.redaction import Redactor
from ramet.protocol.operation import Ask
from ramet.vendors import registry
from ramet.workspace.git.command import Git

_MOST_REDACTORS = 32
"""How many projects' patterns are kept ready; each takes memory."""


class Machine:
    """One machine, and one database that can be asked."""

    def __init__(
        self, ask: Ask, settings: Settings, places: Places, environ: Mapping[str, str], *, clock: Clock | None = None
    ) -> None:
        self.ask = ask
        self._clock = clock or SystemClock()
        self.settings = settings
        self.host = find_host(settings)
        self.places = places
        self.environ = environ
        self.git = Git(environ, places.home / "git", filters=settings.worktree.git_filters)
        self.on_landing: Callable[[], None] = lambda: None
        """Called when something was queued to land here."""
        self._denied = read_environment(environ, settings).denied
        self._redactors: dict[tuple[str, ...], Redactor] = {}
        self.redactor = self._redact_with(settings.redaction.patterns)

    def now(self) -> datetime:
        """The time by the database's clock, with which its instants are to be compared."""
        return to_datetime(self._clock.now_ms())

    def to_own_ms(self, instant_ms: int) -> int:
        """An instant of the database by this machine's own clock, as the times of files and of git's commits are."""
        return instant_ms - self._clock.now_ms() + time.time_ns() // 1_000_000

    def redactor_in(self, path: str) -> Redactor:
        """What redacts the texts of a project: with the patterns that its file adds, if these can be used."""
        try:
            return self._redact_with(self.settings_in(path).redaction.patterns)
        except (ConfigError, OSError):
            return self.redactor

    def _redact_with(self, patterns: list[str]) -> Redactor:
        key = tuple(patterns)
        if key not in self._redactors:
            if len(self._redactors) >= _MOST_REDACTORS:
                self._redactors = {tuple(self.settings.redaction.patterns): self.redactor}
            is_enabled = self.settings.redaction.enabled
            self._redactors[key] = Redactor(patterns, self._denied, is_enabled=is_enabled)
        return self._redactors[key]

    def settings_in(
        self, project_path: str, environ: Mapping[str, str] | None = None, flags: Mapping[str, str] | None = None
    ) -> Settings:
        """The settings as they are in a project, for whoever's environment and flags; the daemon serves many."""
        where, variables = Path(project_path), registry.passed_variables()
        # Which files are trusted is kept in the home of this daemon, wherever the caller's own may be.
        here = {**(environ or self.environ), "RAMET_HOME": str(self.places.home)}
        return load(here, where, flags or {}, agent_variables=variables).settings
