"""Running a shell command of the owner's to its end: within its time, with a log, and without a process left over.

A command may run what an agent wrote: it may hang, fork, or print without end.
"""

import errno
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from ramet.model.redaction import Redactor
from ramet.protocol.work.keepers import MARKER
from ramet.runner.processes import process_tree

_LOOK_SECONDS = 0.5
_ASK_SECONDS = 2.0
_LOG_BYTES = 1024 * 1024
"""Of a longer log, the end is kept."""
_CHUNK_BYTES = 64 * 1024
_SHOWN_LINES, _SHOWN_LENGTH = 5, 600


class Trouble(NamedTuple):
    """Why a command did not succeed."""

    text: str
    is_hosts: bool
    """Whether its machine is the reason, and not the command."""


class ShellCommand(Struct, frozen=True, kw_only=True):
    """A command that is about to run in a directory."""

    text: str
    directory: Path
    environ: Mapping[str, str]
    log: Path
    timeout_seconds: float
    grace_seconds: float
    redactor: Redactor
    wrapper: Sequence[str] = ()
    """What starts the shell, such as a sandbox."""
    purpose: str = "setup"
    """What tells its processes from those of other commands in the same directory."""

    def run(self, is_stopped: Callable[[], bool]) -> Trouble | None:
        """Run it to its end, within its time, and end every process that it started; what went wrong, if it failed."""
        process_tree.end_marked(self._instance, self.grace_seconds)  # those that a daemon which was killed has left
        process = subprocess.Popen(
            [*self.wrapper, "/bin/sh", "-c", self.text],
            cwd=self.directory,
            env={**self.environ, MARKER: self._instance},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        said = bytearray()
        try:
            trouble = self._wait(process, said, is_stopped)
        finally:
            process_tree.end_marked(self._instance, self.grace_seconds)
            process.kill()
            process.wait()
            self._read(process, said)
            self._write_log(said)
            if process.stdout is not None:
                process.stdout.close()
        if trouble is None and process.returncode == 0:
            return None
        is_hosts = trouble is None and _is_hosts(process.returncode, said)
        trouble = trouble or f"failed with {_how(process.returncode)}"
        return Trouble(f"{trouble}{self._ending(said)}", is_hosts)

    @property
    def _instance(self) -> str:
        """The mark of its processes. It is the same after a restart, so that those of a killed daemon are found."""
        return f"{self.purpose}{sha256(os.fsencode(self.directory)).hexdigest()[: 32 - len(self.purpose)]}"

    def _wait(self, process: "subprocess.Popen[bytes]", said: bytearray, is_stopped: Callable[[], bool]) -> str | None:
        """Read what it prints until it ends; why it has to be ended, if it does not."""
        assert process.stdout is not None  # noqa: S101
        os.set_blocking(process.stdout.fileno(), False)
        deadline = time.monotonic() + self.timeout_seconds
        next_ask = time.monotonic() + _ASK_SECONDS
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            is_open = True
            while process.poll() is None:
                if is_open and selector.select(_LOOK_SECONDS):
                    is_open = self._read(process, said)
                    self._write_log(said)
                elif not is_open:
                    time.sleep(_LOOK_SECONDS / 10)
                if time.monotonic() > deadline:
                    return f"took longer than {self.timeout_seconds:g} seconds"
                if time.monotonic() > next_ask:
                    next_ask = time.monotonic() + _ASK_SECONDS
                    if is_stopped():
                        return "was stopped"
        return None

    def _read(self, process: "subprocess.Popen[bytes]", said: bytearray) -> bool:
        """Take what it has printed; whether it may print more."""
        assert process.stdout is not None  # noqa: S101
        while True:
            try:
                chunk = os.read(process.stdout.fileno(), _CHUNK_BYTES)
            except BlockingIOError:
                return True
            if not chunk:
                return False
            said += chunk
            del said[:-_LOG_BYTES]

    def _write_log(self, said: bytearray) -> None:
        text = self.redactor.redact(said.decode(errors="replace")).text
        descriptor = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)

    def _ending(self, said: bytearray) -> str:
        lines = said[-_SHOWN_LENGTH:].decode(errors="replace").strip().splitlines()[-_SHOWN_LINES:]
        return f": {' / '.join(line.strip() for line in lines)}" if lines else ""


def _is_hosts(status: int, said: bytearray) -> bool:
    """Whether the command failed because of its machine. A shell reports a killed program as 128 and the signal."""
    return status in (-signal.SIGKILL, 128 + signal.SIGKILL) or os.strerror(errno.ENOSPC).encode() in said


def _how(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"exit status {status}"
