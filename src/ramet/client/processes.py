"""The daemon as a process: started in the background to serve, or run in the foreground for one task.

It gets its settings and places on its standard input, never on its command line, because a database's url may hold a
password and every user can read command lines. If it fails, it says why in one line of JSON on its standard error: the
wire form of a `RametError`.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any, Literal

from ramet.client.target import Target
from ramet.errors import DaemonFailed, RametError

Task = Literal["migrate", "reset", "redact", "backups", "preview", "restore", "accept", "salvage", "check", "lift-ban"]
"""What the daemon's program does instead of serving."""

_COMMAND = (sys.executable, "-m", "ramet.daemon")
_CHUNK_BYTES = 65536
_SAID_LIMIT = 2000


class StartedDaemon:
    """A daemon that we started, detached: a session of its own, and none of our descriptors but a pipe on which
    it may say why it ends.
    """

    def __init__(self, target: Target) -> None:
        self._said = b""
        self._ears, mouth = os.pipe()
        os.set_blocking(self._ears, False)
        try:
            self._process = subprocess.Popen(
                [*_COMMAND, "serve"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=mouth,
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            os.close(self._ears)
            raise DaemonFailed(f"the daemon could not be started: {error}") from error
        finally:
            os.close(mouth)
        self._instruct(target)

    def has_ended(self, wait_seconds: float) -> bool:
        """Whether it is gone; waits for that at most so long."""
        self._listen()
        try:
            self._process.wait(wait_seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def failure(self) -> RametError:
        """Why it ended."""
        self._listen()
        if not self._said and (self._process.returncode or 0) < 0:
            name = signal.Signals(-self._process.returncode).name
            return DaemonFailed(
                f"the daemon was ended by {name} while it started",
                fix="run the command again: no write is lost, and a migration that was interrupted is repeated",
            )
        return _explain(self._said)

    def let_go(self, daemon_pid: int | None) -> None:
        """Leave it alone; if another daemon answers, ours is not needed and has to stop.

        Otherwise it would replace that one as soon as that one is stopped, unnoticed. A thread waits for its end,
        because a child process that is not waited for stays a zombie.
        """
        os.close(self._ears)
        if daemon_pid not in (None, self._process.pid):
            self._process.terminate()
        if self._process.poll() is None:
            threading.Thread(target=self._process.wait, daemon=True, name="ramet daemon").start()

    def _listen(self) -> None:
        with suppress(BlockingIOError):
            while chunk := os.read(self._ears, _CHUNK_BYTES):
                self._said += chunk

    def _instruct(self, target: Target) -> None:
        assert self._process.stdin is not None  # noqa: S101
        with suppress(BrokenPipeError):  # it has ended already, and says why
            self._process.stdin.write(target.instructions())
            self._process.stdin.close()


def run(
    task: Task,
    target: Target,
    order: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Let the daemon's program do one task on a database that no other process has open; returns its report."""
    instructions = target.instructions(json.dumps(order or {}))
    done = subprocess.run([*_COMMAND, task], input=instructions, capture_output=True, check=False)
    if done.returncode != 0:
        raise _explain(done.stderr)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _explain(said: bytes) -> RametError:
    """Why the daemon ended, from what it said."""
    text = said.decode(errors="replace").strip()
    try:
        error = json.loads(text.rpartition("\n")[2])
    except ValueError:
        error = None
    if isinstance(error, dict) and "message" in error:
        return RametError.from_wire(error)
    return DaemonFailed(f"the daemon could not start: {text[-_SAID_LIMIT:] or 'it ended without a message'}")
