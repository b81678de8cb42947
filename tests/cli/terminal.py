"""The command line at a terminal, as a person has it."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Mapping
from typing import NamedTuple

from tests.cli.command_line import CommandLine

_SECONDS = 60


class Seen(NamedTuple):
    """What came to the terminal, and the exit status."""

    text: str
    status: int


def at_terminal(
    ramet: CommandLine,
    *arguments: str,
    columns: int = 100,
    environ: Mapping[str, str] | None = None,
    typed: str = "",
) -> Seen:
    """Run a command on a terminal of its own, to its end; `typed` is what a person types there."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen(
        [ramet.program, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=ramet.cwd,
        env={**ramet.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "PAGER": "cat", **(environ or {})},
    )
    os.close(theirs)
    os.write(ours, typed.encode())
    try:
        text = _read_all(ours)
    finally:
        os.close(ours)
    return Seen(text, process.wait(_SECONDS))


def _read_all(descriptor: int) -> str:
    read, deadline = b"", time.monotonic() + _SECONDS
    while select.select([descriptor], [], [], deadline - time.monotonic())[0]:
        try:
            more = os.read(descriptor, 65536)
        except OSError:  # Linux says so when the other side has gone
            break
        if not more:
            break
        read += more
    return read.decode().replace("\r\n", "\n")
