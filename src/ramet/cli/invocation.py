"""One run of the command line: what it was given, and, when it is needed, the daemon to ask.

Everything heavy is imported where it is first needed: help and usage errors need none of it.
"""

import os
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, TypedDict

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from click.shell_completion import CompletionItem

    from ramet.client.connection import Connection
    from ramet.client.target import Target
    from ramet.config.layers import Configuration
    from ramet.config.settings import Places
    from ramet.errors import DaemonError
    from ramet.protocol.operation import R, Request


class Patience(TypedDict):
    """How long the daemon may take."""

    start_timeout_seconds: float
    stop_timeout_seconds: float


_STOP_MARGIN_SECONDS = 10
_PAUSE_SECONDS = 0.05


class Invocation:
    """The environment, the flags, and what follows from them."""

    def __init__(self, environ: dict[str, str]) -> None:
        self.environ = environ
        self.flags: dict[str, str] = {}
        self.as_json = False
        self.shows_tracebacks = False
        self.list_candidates: Callable[[click.Context, str, str], list[CompletionItem] | None] = lambda *_: None
        """What a shell offers for a half-typed name; only while it completes."""
        self._knows_clock = False
        self.is_working = False
        """Whether the terminal already shows progress."""
        self.difference: DaemonError | None = None
        """How the daemon's build differs from ours, if it does."""
        self._noted: set[str] = set()

    def use(self, home: str | None, assignments: "Sequence[str]") -> None:
        """Take over the options before the command: `--home DIR` and `--set KEY=VALUE`."""
        if home is not None:
            self.environ["RAMET_HOME"] = os.path.abspath(home)  # noqa: PTH100
        for assignment in assignments:
            key, equals, value = assignment.partition("=")
            if not equals:
                raise click.BadParameter(f"{assignment!r} is not KEY=VALUE", param_hint="--set")
            self.flags[key] = value

    @cached_property
    def cwd(self) -> "Path":
        from pathlib import Path  # noqa: PLC0415

        from ramet.errors import ConfigError  # noqa: PLC0415

        try:
            return Path.cwd()
        except OSError as error:
            raise ConfigError(
                "the current directory no longer exists", fix="change to a directory that exists: `cd`"
            ) from error

    @cached_property
    def configuration(self) -> "Configuration":
        from ramet.config.layers import load  # noqa: PLC0415

        configuration = load(self.environ, self.cwd, self.flags, is_lenient=True)
        self._warn(configuration)
        return configuration

    def require_configuration(self) -> "Configuration":
        """The configuration, for commands that run agents by it: a faulty file of the project is an error."""
        if self.configuration.problem is not None:
            raise self.configuration.problem
        return self.configuration

    def _warn(self, configuration: "Configuration") -> None:
        """Say once, on standard error, which settings of the project do not count."""
        if configuration.ignored:
            names = ", ".join(key.key for key in configuration.ignored)
            click.echo(f"note: {configuration.project_file} cannot set {names}: see `ramet trust`", err=True)
        for passed in (each for each in configuration.passed_over if not each.is_above):
            click.echo(f"note: {passed.path} is ignored: it {passed.reason}", err=True)
        if configuration.problem is not None:
            click.echo(f"warning: {configuration.problem.message}; its settings are ignored", err=True)

    @cached_property
    def places(self) -> "Places":
        from ramet.config.places import find_places  # noqa: PLC0415

        return find_places(self.environ, self.configuration.settings)

    @cached_property
    def target(self) -> "Target":
        """The daemon of the configured database."""
        import msgspec  # noqa: PLC0415

        from ramet.client.target import Target, find_entrance  # noqa: PLC0415

        def encode(value: object) -> str:
            return msgspec.json.encode(value, enc_hook=str).decode()

        socket = str(self.places.socket)
        return Target(
            socket,
            encode(self.configuration.owner),
            encode(self.places),
            entrance=find_entrance(self.environ, socket, str(self.places.agents_socket)),
        )

    @property
    def is_agents(self) -> bool:
        """Whether an agent that Ramet started runs this."""
        return bool(self.environ.get("RAMET_TOKEN"))

    @cached_property
    def connection(self) -> "Connection":
        """To the daemon, which is started if it does not run and `daemon.autostart` allows it."""
        return self.connect(autostart=self.configuration.settings.daemon.autostart)

    def connect(self, *, autostart: bool) -> "Connection":
        """A connection to the daemon; one of an older build is replaced."""
        from ramet.build import is_own  # noqa: PLC0415

        connection = self._find_daemon(autostart=autostart)
        if not is_own(connection.build):
            connection = self._settle(connection, autostart=autostart)
        return self._compare_clocks(connection)

    def _find_daemon(self, *, autostart: bool) -> "Connection":
        """Starting it may take a while, so a terminal shows that."""
        from ramet.cli.progress import working  # noqa: PLC0415
        from ramet.client.autostart import connect, ensure  # noqa: PLC0415
        from ramet.errors import DaemonStopping, DaemonUnreachable  # noqa: PLC0415

        try:
            socket, token = self.target.way
            return connect(socket, token=token)
        except (DaemonUnreachable, DaemonStopping):
            if not autostart:
                raise
        with working(self, "starting the daemon"):
            return ensure(self.target, autostart=True, **self._patience)

    def _settle(self, connection: "Connection", *, autostart: bool) -> "Connection":
        """Replace a daemon of an older build, and say so on standard error. A newer one serves us, if it still can."""
        from ramet.build import compare, own_build  # noqa: PLC0415
        from ramet.cli.progress import working  # noqa: PLC0415
        from ramet.client.autostart import ensure  # noqa: PLC0415
        from ramet.client.replacement import explain  # noqa: PLC0415

        ours, theirs = own_build(), connection.build
        self.difference, relation = explain(theirs), compare(theirs, ours)
        if relation == "newer" and theirs.protocol > ours.protocol:
            raise self.difference
        if relation == "older" and autostart and not self.is_agents:
            connection.close()
            with working(self, "replacing the daemon"):
                connection = ensure(self.target, autostart=True, **self._patience)
            self._note(f"replaced the daemon ({theirs}) by a newer one ({ours}); running agents continue")
            self.difference = None
        elif relation in ("older", "newer") and not self.is_agents:
            self._note(f"{self.difference.message}; fix: {self.difference.fix}")
        return connection

    def _compare_clocks(self, connection: "Connection") -> "Connection":
        """Ask once how far this machine's clock is from the database's, if that can be another machine's."""
        from ramet.cli.connections import ask  # noqa: PLC0415
        from ramet.cli.times import follow_database  # noqa: PLC0415
        from ramet.errors import RametError  # noqa: PLC0415
        from ramet.protocol.system.daemon import DaemonStatus  # noqa: PLC0415

        if self._knows_clock or self.is_agents or self.configuration.settings.database.type != "postgres":
            return connection
        self._knows_clock = True
        with suppress(RametError):  # whatever is wrong, the command itself says so
            clock = ask(connection, DaemonStatus()).clock
            follow_database(0.0 if clock is None else clock.ahead_seconds)
        return connection

    @property
    def _patience(self) -> "Patience":
        daemon = self.configuration.settings.daemon
        return {
            "start_timeout_seconds": daemon.start_timeout_seconds,
            "stop_timeout_seconds": daemon.drain_seconds + _STOP_MARGIN_SECONDS,
        }

    def _note(self, text: str) -> None:
        """Say it once, on standard error."""
        if text not in self._noted:
            self._noted.add(text)
            click.echo(f"note: {text}", err=True)

    def await_daemon(self) -> None:
        """Wait for a daemon that another program is starting. If none comes, the next call starts one."""
        import time  # noqa: PLC0415

        from ramet.client.autostart import connect  # noqa: PLC0415
        from ramet.errors import DaemonStopping, DaemonUnreachable  # noqa: PLC0415

        socket, token = self.target.way
        deadline = time.monotonic() + self._patience["start_timeout_seconds"]
        while time.monotonic() < deadline:
            try:
                return connect(socket, token=token).close()
            except (DaemonUnreachable, DaemonStopping):
                time.sleep(_PAUSE_SECONDS)
        return None

    def forget_connection(self) -> None:
        """The next call makes another connection."""
        self.__dict__.pop("connection", None)

    def stop_daemon(self) -> bool:
        """Stop the daemon and wait for its end; whether one ran."""
        from ramet.client.stop import stop  # noqa: PLC0415

        return stop(*self.target.way, self._patience["stop_timeout_seconds"])

    def ask(self, request: "Request[R]") -> "R":
        """The daemon's reply; a whole list comes page after page, so that its length does not matter to the daemon."""
        from ramet.cli.connections import ask  # noqa: PLC0415
        from ramet.protocol.pages import is_for_all, whole  # noqa: PLC0415

        redacted = self.redact(request)
        if is_for_all(redacted):
            return whole(lambda page: ask(self.connection, page), redacted)
        return ask(self.connection, redacted)

    def redact(self, request: "Request[R]") -> "Request[R]":
        """The request without what the project's own patterns match: the daemon knows only the owner's."""
        patterns = self.configuration.settings.redaction.patterns
        if patterns == self.configuration.owner.redaction.patterns:
            return request
        from ramet.model.redaction import Redactor  # noqa: PLC0415
        from ramet.model.redaction.structs import StructRedactor  # noqa: PLC0415

        return StructRedactor().redact(request, Redactor(patterns))
