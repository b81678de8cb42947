"""Machines that share a PostgreSQL: each with a home, a checkout and a daemon of its own, and a line to the server."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

import psutil
from msgspec.structs import replace
from tests.crash.daemons import Daemon, Home
from tests.crash.lines import Line
from tests.crash.remains import marked_processes
from tests.project_settings import write_trusted

from ramet.config.settings import WorkSettings
from ramet.errors import RametError

REMOTE = "https://forge.example/team/shop.git"
_PROGRAM = Path(__file__).with_name("beating_agent.py")


class Notes:
    """What the agents wrote down for the test, wherever they ran: nothing of Ramet looks at it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def lives(self) -> dict[str, list[tuple[float, float]]]:
        """Of each effort, when each of its agents gave its first and its last sign of life, in order."""
        found = defaultdict(list)
        for path in self.folder.iterdir():
            beats = path.read_text().split()
            if beats:
                found[path.stem].append((float(beats[0]), float(beats[-1])))
        return {name: sorted(lives) for name, lives in found.items()}


class Machine:
    """One host."""

    def __init__(
        self, name: str, folder: Path, line: Line, notes: Notes, *, beats: int = 5, lease_seconds: int = 8
    ) -> None:
        self.name, self.line = name, line
        self.home = Home(folder / name, line.url, line.inside)
        self.project = folder / name / "src" / f"shop-of-{name}"
        self.project.mkdir(parents=True)
        self._notes = notes
        self.let_agents_beat(beats)
        work = WorkSettings(host=name, lease_seconds=lease_seconds, grace_seconds=1, backoff_seconds=0)
        self.home.settings = replace(self.home.settings, work=work)
        self.daemon: Daemon | None = None
        self._workers: list[threading.Thread] = []

    def let_agents_beat(self, beats: int) -> None:
        """How long the agents that are begun here from now on will live, in tenths of a second."""
        program = [sys.executable, "-I", "-S", str(_PROGRAM), str(self._notes.folder), str(beats)]
        profiles = {"beating": {"driver": "command", "program": program}}
        configured = {"work": {"grace_seconds": 1}, "drivers": {"default": "beating", "profiles": profiles}}
        write_trusted(self.project, self.home.path, configured)

    def clone(self, origin: Path) -> None:
        """Let the project be a clone of a repository."""
        configured = (self.project / "ramet.yaml").read_text()
        shutil.rmtree(self.project)
        subprocess.run(["git", "clone", "--quiet", str(origin), str(self.project)], check=True)
        (self.project / "ramet.yaml").write_text(configured)

    def start(self) -> Daemon:
        """Start its daemon, and say where the project is here."""
        self.daemon = self.home.start()
        with self.daemon.connect() as connection:
            place = {"path": str(self.project), "host": self.name, "remote": REMOTE}
            connection.call("db.project.upsert", place)
        return self.daemon

    def work(self, workers: int) -> None:
        """Let it run what is queued, for as long as it lives."""
        daemon = self.daemon
        assert daemon is not None

        def run() -> None:
            with suppress(RametError), daemon.connect() as connection:
                connection.set_timeout(None)
                connection.call("work.run", {"workers": workers})

        self._workers.append(threading.Thread(target=run))
        self._workers[-1].start()

    def kill(self) -> None:
        """The power goes off, and the disk is never seen again."""
        assert self.daemon is not None
        self.daemon.kill()
        while left := marked_processes(self.home):
            for pid, _ in left:
                with suppress(ProcessLookupError, psutil.Error):
                    os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.home.path)

    def close(self) -> None:
        self.line.mend()
        self.home.close()
        for pid, _ in marked_processes(self.home):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for worker in self._workers:
            worker.join()
        self.line.close()
