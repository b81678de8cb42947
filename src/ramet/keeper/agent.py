"""The agent's process: how it is started, what it is given, and what comes out of it."""

import errno
import os
import subprocess
from collections.abc import Sequence
from typing import IO

from msgspec.structs import replace

from ramet.keeper import kernel
from ramet.keeper.text_lines import Lines
from ramet.model.work.stream import End
from ramet.protocol.work.keepers import MARKER, Launch

_CHUNK_BYTES = 128 * 1024
_PASSING = (errno.EAGAIN, errno.ENOMEM, errno.ENFILE, errno.EMFILE, errno.EIO, errno.ETXTBSY)
"""What the system may be able to do a little later."""

_OF_SIGNALS = range(129, 193)
"""What `bwrap` exits with if a signal ended the agent: 128 and its number."""
_SANDBOX_SAYS = ("bwrap: ", "ramet-sandbox: ")
"""What the programs that make a sandbox begin their errors with."""


class Outlet:
    """One of the pipes that the agent writes to."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self.pipe = pipe
        self.is_at_end = False
        self._lines = Lines()
        os.set_blocking(pipe.fileno(), False)

    def read(self) -> tuple[int, list[str]]:
        """How many bytes there were, and the lines that they complete."""
        try:
            data = os.read(self.pipe.fileno(), _CHUNK_BYTES)
        except BlockingIOError:
            return 0, []
        if data:
            return len(data), self._lines.feed(data)
        self.is_at_end = True
        return 0, self._lines.finish()


class Agent:
    """One process in a session and a group of its own. It is killed when the keeper is."""

    def __init__(self, launch: Launch, instance: str) -> None:
        self._process = subprocess.Popen(
            launch.arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=launch.directory,
            env={**launch.environment, MARKER: instance},
            start_new_session=True,
            preexec_fn=kernel.dying_with_us(ignores_requests=launch.is_confined),  # noqa: PLW1509  one thread
            bufsize=0,
        )
        assert self._process.stdin and self._process.stdout and self._process.stderr  # noqa: S101, PT018
        self._is_confined = launch.is_confined
        self.pid = self._process.pid
        self.status: int | None = None
        """How it exited, with a signal as a negative number; None while it runs."""
        self.stdin = self._process.stdin
        self.output = Outlet(self._process.stdout)
        self.errors = Outlet(self._process.stderr)
        self._unread = memoryview(launch.stdin.encode("utf-8", "replace"))
        os.set_blocking(self.stdin.fileno(), False)

    def feed(self) -> bool:
        """Give it what it still lacks of its standard input; whether it has all of it, or wants no more."""
        try:
            while self._unread:
                self._unread = self._unread[os.write(self.stdin.fileno(), self._unread[:_CHUNK_BYTES]) :]
        except BlockingIOError:
            return False
        except BrokenPipeError:
            pass
        return True

    def exited(self, wait_status: int) -> None:
        """It was waited for."""
        status = os.waitstatus_to_exitcode(wait_status)
        if self._is_confined and status in _OF_SIGNALS:
            status = _OF_SIGNALS.start - 1 - status
        self.status = self._process.returncode = status


def explain_sandbox(end: End, errors: Sequence[str]) -> End:
    """The end of a sandboxed agent; if its sandbox could not be made, then that is the reason."""
    if end.outcome == "success" or end.answer or not errors or not errors[0].startswith(_SANDBOX_SAYS):
        return end
    reason = f"the sandbox could not be made: {errors[0]}; run `ramet doctor`"
    return replace(end, outcome="error", failure="permanent", reason=reason)


def explain(error: OSError | ValueError, launch: Launch) -> End:
    """Why the agent could not be started, and what to do about it."""
    program, directory = launch.arguments[0], launch.directory
    number = error.errno if isinstance(error, OSError) else None
    if isinstance(error, OSError) and error.filename == directory:
        reason = f"its directory {directory} cannot be entered: {error.strerror}; the next attempt creates it again"
    elif number == errno.ENOENT:
        reason = f"there is no program {program}; install it, or set `program` in the driver's profile"
    elif number in (errno.EACCES, errno.ENOEXEC):
        reason = f"{program} cannot be run: {os.strerror(number or 0)}; check its permissions and its first line"
    elif number == errno.E2BIG:
        reason = "its arguments and environment are longer than the system allows; shorten the prompt"
    else:
        reason = f"{program} could not be started: {error}"
    is_passing = number in _PASSING or (isinstance(error, OSError) and error.filename == directory)
    return End(outcome="error", failure="infrastructure" if is_passing else "permanent", reason=reason)
