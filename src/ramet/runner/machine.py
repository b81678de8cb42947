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
from ramet.model.redaction import Redactor
from ramet.protocol.operation import Ask
from ramet.vendors import registry
from ramet.workspace.git.command import Git


class Machine:
    """One machine, and one database that can be asked."""

    def __init__(self, ask: Ask, settings: Settings, places: Places, environ: Mapping[str, str]) -> None:
        self.ask = ask
        self.settings = settings
        self.host = find_host(settings)
        self.places = places
        self.environ = environ
        self.git = Git(environ, places.home / "git", filters=settings.worktree.git_filters)
        redaction = settings.redaction
        denied = read_environment(environ, settings).denied
        self.redactor = Redactor(redaction.patterns, denied, is_enabled=redaction.enabled)

    def settings_in(
        self, project_path: str, environ: Mapping[str, str] | None = None, flags: Mapping[str, str] | None = None
    ) -> Settings:
        """The settings as they are in a project, for whoever's environment and flags; the daemon serves many."""
        where, variables = Path(project_path), registry.passed_variables()
        # Which files are trusted is kept in the home of this daemon, wherever the caller's own may be.
        here = {**(environ or self.environ), "RAMET_HOME": str(self.places.home)}
        return load(here, where, flags or {}, agent_variables=variables).settings
