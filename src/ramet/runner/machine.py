"""The machine: operations that are answered with this machine's disk at hand, beside the database.

An operation of it is a plain function that may look at files and run git, and asks the engine for all else. The daemon
runs it on a thread, `ramet.open` where it is called.
"""

from collections.abc import Mapping
from pathlib import Path

from ramet.config.environment import read_environment
from ramet.config.host import find_host
from ramet.config.layers import load
from ramet.config.settings import Places, Settings
from ramet.errors import ConfigError
from ramet.model.redaction import Redactor
from ramet.protocol.operation import Ask
from ramet.vendors import registry
from ramet.workspace.git.command import Git

_MOST_REDACTORS = 32
"""How many projects' patterns are kept ready; each takes memory."""


class Machine:
    """One machine, and one database that can be asked."""

    def __init__(self, ask: Ask, settings: Settings, places: Places, environ: Mapping[str, str]) -> None:
        self.ask = ask
        self.settings = settings
        self.host = find_host(settings)
        self.places = places
        self.environ = environ
        self.git = Git(environ, places.home / "git", filters=settings.worktree.git_filters)
        self._denied = read_environment(environ, settings).denied
        self._redactors: dict[tuple[str, ...], Redactor] = {}
        self.redactor = self._redact_with(settings.redaction.patterns)

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
