"""The proxy of a strict sandbox, as its keeper sees it: a process to start before the agent and to stop after it.

The keeper opens the socket, so that the agent finds it whenever the proxy gets to its first connection. Whatever the
proxy refuses comes back as lines and becomes events of the agent's stream.
"""

import os
import select
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from ramet.keeper import kernel
from ramet.keeper.agent import Outlet
from ramet.model.work.stream import Refusal
from ramet.protocol.work.keepers import MARKER, Proxy

_BACKLOG = 128
_STOP_SECONDS = 2.0


class _Refused(Struct, frozen=True):
    """A line of the proxy's."""

    host: str
    times: int


_lines = msgspec.json.Decoder(_Refused)


class ProxyProcess:
    """One proxy. It is killed when the keeper is."""

    def __init__(self, proxy: Proxy, instance: str) -> None:
        with _listen(Path(proxy.socket)) as listener:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "ramet.sandbox.proxy", str(listener.fileno())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={**os.environ, MARKER: instance},
                pass_fds=(listener.fileno(),),
                preexec_fn=kernel.dying_with_us(),  # noqa: PLW1509  the keeper has one thread
                bufsize=0,
            )
        assert self._process.stdin and self._process.stdout  # noqa: S101, PT018
        self.pid = self._process.pid
        self.output = Outlet(self._process.stdout)
        with suppress(BrokenPipeError):
            self._process.stdin.write(msgspec.json.encode({"hosts": proxy.hosts}) + b"\n")

    def read(self) -> list[Refusal]:
        """What it has refused since the last time."""
        refusals = []
        for line in self.output.read()[1]:
            with suppress(msgspec.DecodeError):
                refused = _lines.decode(line)
                refusals.append(_describe(refused))
        return refusals

    def stop(self) -> list[Refusal]:
        """End it, and hear the final counts. It takes a moment: there is nothing left to forward."""
        assert self._process.stdin is not None  # noqa: S101
        self._process.stdin.close()
        deadline = time.monotonic() + _STOP_SECONDS
        refusals = []
        while not self.output.is_at_end and (left := deadline - time.monotonic()) > 0:
            select.select([self.output.pipe], [], [], left)
            refusals += self.read()
        self._process.kill()
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        self._process.returncode = 0
        self.output.pipe.close()
        return refusals


def _listen(path: Path) -> socket.socket:
    """A socket at a path of any length: the address is short, because it names the folder by its descriptor."""
    listener = socket.socket(socket.AF_UNIX)
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        path.unlink(missing_ok=True)
        listener.bind(f"/proc/self/fd/{folder}/{path.name}")
        path.chmod(0o600)
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    finally:
        os.close(folder)
    return listener


def _describe(refused: _Refused) -> Refusal:
    rule = f"add {refused.host.removesuffix(':443').removesuffix(':80')} to sandbox.allow_hosts"
    return Refusal(subject="host", name=refused.host, times=refused.times, rule=rule)
