"""The daemon as its starter sees it: a process, a line on its standard input, and the end of its output."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.daemon.harness import PATIENCE_SECONDS, Client


class Home:
    """The places of one database, and the processes started on it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = path / "ramet.db"
        self.socket = path / "run" / "s"
        self.agents_socket = path / "run" / "a"
        self.pid_file = path / "run" / "pid"
        self.log_file = path / "log" / "daemon.log"
        self.processes: list[subprocess.Popen[bytes]] = []
        self.settings: dict[str, Any] = {"hooks": {"record": "all"}}
        """What the daemon is given beside its database and its own settings. Hooks need no project to be registered."""
        self._clients: list[Client] = []

    def start(self, command: str = "serve", faults: str = "", **daemon: Any) -> subprocess.Popen[bytes]:
        """Start a process and give it its line."""
        process = subprocess.Popen(
            [sys.executable, "-m", "ramet.daemon", command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=os.environ | {"RAMET_FAULT": faults},
        )
        self.processes.append(process)
        assert process.stdin is not None
        process.stdin.write(json.dumps(self.start_line(daemon)).encode() + b"\n")
        process.stdin.flush()
        return process

    def serve(self, **daemon: Any) -> subprocess.Popen[bytes]:
        """Start a daemon and wait until it answers: it closes what its starter reads."""
        process = self.start(**daemon)
        assert process.stderr is not None
        assert process.stderr.read() == b""
        return process

    def start_line(self, daemon: dict[str, Any]) -> dict[str, Any]:
        places = {
            "home": self.path,
            "database": self.database,
            "socket": self.socket,
            "agents_socket": self.agents_socket,
            "pid_file": self.pid_file,
            "log_file": self.log_file,
            "index": self.path / "search.db",
            "backups": self.path / "backups",
            "lock_file": self.path / "ramet.lock",
            "keepers": self.path / "keepers",
            "worktrees": self.path / "worktrees",
        }
        return {
            "settings": {"database": {"path": str(self.database)}, "daemon": daemon, **self.settings},
            "places": {name: str(path) for name, path in places.items()},
        }

    def connect(self) -> Client:
        client = Client(self.socket)
        self._clients.append(client)
        return client

    def close(self) -> None:
        for client in self._clients:
            client.close()
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.communicate(timeout=PATIENCE_SECONDS)


def finish(process: subprocess.Popen[bytes]) -> tuple[int, str, str]:
    """Its exit status, what it said and what it complained of."""
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    return process.returncode, out.decode(), err.decode()


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait for a fact."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def resident_bytes(pid: int) -> int:
    """The resident memory of a process."""
    pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGESIZE")
