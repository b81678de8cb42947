"""A daemon as a process that can be killed: started, asked, ended without warning, started again on the same data."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import msgspec

from ramet.client.autostart import connect
from ramet.client.connection import Connection
from ramet.config.places import find_places
from ramet.config.settings import DatabaseSettings, Places, QuerySettings, Settings, SpawnSettings
from ramet.errors import DaemonStopping, DaemonUnreachable, RametError

PATIENCE_SECONDS = 180.0
_PAUSE_SECONDS = 0.005


class Daemon:
    """One process."""

    def __init__(self, settings: Settings, places: Places, fault: str, inside: tuple[str, ...] = ()) -> None:
        """`inside` is a command that runs it elsewhere, and becomes it."""
        self.socket = places.socket
        self._process = subprocess.Popen(
            [*inside, sys.executable, "-m", "ramet.daemon", "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "RAMET_HOME": str(places.home), "HOME": str(places.home), "RAMET_FAULT": fault},
            start_new_session=True,
        )
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(
                msgspec.json.encode({"settings": settings, "places": places}, enc_hook=str) + b"\n"
            )
            self._process.stdin.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def connect(self) -> Connection:
        return connect(str(self.socket), PATIENCE_SECONDS)

    def wait_until_it_answers(self) -> Self:
        """Wait for the first reply; a daemon that ends instead fails the test with what it said."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            if not self.is_alive:
                raise self.failure()
            with suppress(DaemonUnreachable, DaemonStopping), self.connect() as connection:
                if connection.call("daemon.status")["pid"] == self.pid:
                    return self
            time.sleep(_PAUSE_SECONDS)
        raise TimeoutError("the daemon does not answer")

    def kill(self) -> None:
        """End it without warning, and wait until it is gone."""
        self._process.send_signal(signal.SIGKILL)
        self.wait()

    def wait(self) -> int:
        """Its exit status, once it is gone."""
        try:
            return self._process.wait(PATIENCE_SECONDS)
        finally:
            self._close_pipe()

    def died_by_its_fault(self) -> bool:
        """Whether it killed itself at the fault that was armed."""
        return self.wait() == -signal.SIGKILL

    def failure(self) -> RametError:
        """Why it refused to start."""
        assert self._process.stderr is not None
        said = self._process.stderr.read() if not self._process.stderr.closed else b""
        self.wait()
        return RametError.from_wire(json.loads(said.splitlines()[-1])) if said else RametError("it said nothing")

    def _close_pipe(self) -> None:
        if self._process.stderr is not None:
            self._process.stderr.close()


class Home:
    """A database and every daemon that a test starts on it."""

    def __init__(self, path: Path, postgres_url: str | None = None, inside: tuple[str, ...] = ()) -> None:
        kind: Any = "postgres" if postgres_url else "sqlite"
        self.path = path
        self._inside = inside
        self.settings = Settings(
            database=DatabaseSettings(type=kind, url=postgres_url),
            query=QuerySettings(max_rows=10_000_000),
            spawn=SpawnSettings(drivers=["shell"]),  # which the agents here are, and their children
        )
        self.places = find_places({"RAMET_HOME": str(path)}, self.settings)
        self._daemons: list[Daemon] = []

    def launch(self, fault: str = "") -> Daemon:
        """Start a daemon and do not wait for it."""
        daemon = Daemon(self.settings, self.places, fault, self._inside)
        self._daemons.append(daemon)
        return daemon

    def start(self, fault: str = "") -> Daemon:
        """Start a daemon that answers."""
        return self.launch(fault).wait_until_it_answers()

    def close(self) -> None:
        """End what still runs."""
        for daemon in self._daemons:
            if daemon.is_alive:
                daemon.kill()
            daemon.wait()


def ask(connection: Connection, sql: str, *params: Any) -> list[list[Any]]:
    rows: list[list[Any]] = connection.call("db.query", {"sql": sql, "params": list(params)})["rows"]
    return rows
