"""The fork server: a process that forks a reader whenever the daemon asks for one.

It is forked from the daemon before that has opened its database or started a thread, when a fork copies nothing but
memory. So a reader starts in milliseconds, and shares the memory of everything that is imported. If it is killed, or if
the system cannot fork safely, it is started as a program instead.
"""

import gc
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, NoReturn, Protocol

from ramet.daemon.readers.reader_process import ReaderProcess, end_with

log = logging.getLogger(__name__)

_OWN = b"o"
_CLIENTS = b"c"


def serve_forks(control: socket.socket, reader: ReaderProcess) -> NoReturn:
    """Fork a reader for each socket that comes in, until the daemon is gone."""
    from ramet.keeper.kernel import dying_with_us  # noqa: PLC0415 - only this process needs it

    with suppress(OSError):
        Path("/proc/self/comm").write_text("ramet readers", encoding="ascii")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the daemon decides when to stop
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # readers leave nothing to wait for
    die_with_us = dying_with_us()
    gc.freeze()  # a collection in a reader would copy every page that it shares
    while True:
        word, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not word:
            os._exit(0)
        for descriptor in descriptors:
            if os.fork():
                os.close(descriptor)
                continue
            control.close()
            link = socket.socket(fileno=descriptor)
            if die_with_us is None:
                end_with(link)
            else:
                die_with_us()
            reader.run(link, is_own=word == _OWN)


class _Child(Protocol):
    """The process at the other end."""

    @property
    def pid(self) -> int:
        """Its number."""

    def wait(self) -> int:
        """Wait for its end; then nothing of it is left."""


class _ForkedChild(NamedTuple):
    """A process that was forked without being replaced by a program."""

    pid: int

    def wait(self) -> int:
        try:
            return os.waitpid(self.pid, 0)[1]
        except ChildProcessError:
            return 0


class ForkServer:
    """The daemon's end: asks for readers, and starts another fork server if this one is gone."""

    def __init__(self, start_line: Callable[[int], bytes]) -> None:
        """`start_line`: what a program is told on its standard input, with the number of its control socket."""
        self._start_line = start_line
        self._control: socket.socket | None = None
        self._child: _Child | None = None

    def fork(self, reader: ReaderProcess) -> None:
        """Start it as a copy of this process, which has no thread and no open database yet."""
        if sys.platform != "linux":
            return  # system libraries of macOS do not survive a fork; the first reader starts the program
        ours, theirs = socket.socketpair()
        gc.freeze()  # a later collection, here or there, would copy every page that both share
        pid = os.fork()
        if pid == 0:
            ours.close()
            try:
                _forget_the_daemon()
                serve_forks(theirs, reader)
            finally:
                os._exit(1)
        theirs.close()
        self._use(ours, _ForkedChild(pid))

    def start_reader(self, *, is_own: bool) -> socket.socket:
        """The daemon's end of a new reader's socket. The reader says when it is ready."""
        ours, theirs = socket.socketpair()
        try:
            self._send(_OWN if is_own else _CLIENTS, theirs.fileno())
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        ours.setblocking(False)
        return ours

    def stop(self) -> None:
        """End it, and with it its readers. The next reader that is asked for starts another one."""
        control, child, self._control, self._child = self._control, self._child, None, None
        if control is not None:
            control.close()
        if child is not None:
            with suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGKILL)
            child.wait()

    def _send(self, word: bytes, descriptor: int) -> None:
        if self._control is not None:
            try:
                socket.send_fds(self._control, [word], [descriptor])
            except OSError:
                log.warning("the fork server of the readers is gone, starting another")
                self.stop()
            else:
                return
        self._start_program()
        assert self._control is not None  # noqa: S101
        socket.send_fds(self._control, [word], [descriptor])

    def _start_program(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            child = subprocess.Popen(
                [sys.executable, "-m", "ramet.daemon", "readers"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
            )
            assert child.stdin is not None  # noqa: S101
            with suppress(BrokenPipeError), child.stdin:
                child.stdin.write(self._start_line(theirs.fileno()))
        self._use(ours, child)

    def _use(self, control: socket.socket, child: _Child) -> None:
        control.setblocking(False)
        self._control, self._child = control, child


def _forget_the_daemon() -> None:
    """Let go of the starter's pipes, whose end it waits for, and of the log, which only the daemon writes."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
    os.chdir("/")
    for name in ("ramet", "asyncio"):
        logger = logging.getLogger(name)
        for handler in tuple(logger.handlers):
            logger.removeHandler(handler)
            handler.close()
