"""Runs the installed `ramet` in a process of its own, forked from an interpreter that is already there.

Two thirds of a short command's processor time go into starting Python and importing the standard library, click and
msgspec, and the tests run thousands of commands. So one process for each test process does this once and forks. It
imports nothing of Ramet: each command runs the installed script and imports Ramet's modules itself, in its own order,
with its own arguments, environment, folder, umask and pipes.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from io import FileIO
from pathlib import Path

LIBRARIES = (
    *("asyncio", "bz2", "click", "click.shell_completion", "concurrent.futures", "decimal", "difflib", "fnmatch"),
    *("hashlib", "heapq", "inspect", "ipaddress", "json", "logging", "lzma", "msgspec", "msgspec.inspect", "pathlib"),
    *("platform", "psutil", "queue", "secrets", "shlex", "shutil", "socket", "sqlite3", "ssl", "subprocess"),
    *("tempfile", "textwrap", "typing_extensions", "unicodedata", "urllib.parse", "uuid", "yaml", "zoneinfo"),
)
"""What commands import beside Ramet's own modules. A missing name costs time, and nothing else."""

_READ_AT_START = ("PYTHON", "LC_", "LANG", "COV")
"""Variables that Python reads when it starts: a command that is given one of them gets an interpreter of its own."""

_AS_WITHOUT = ("LC_ALL", "C.UTF-8")
"""Python behaves the same without any locale, except that it sets LC_CTYPE."""

_PIPE_BYTES = 65536
"""What a pipe takes before anybody reads it."""

_MESSAGE_BYTES = 200_000


def run(
    command: Sequence[str], *, env: Mapping[str, str], cwd: str | os.PathLike[str], stdin: str, timeout_seconds: float
) -> "subprocess.CompletedProcess[str]":
    """What `subprocess.run` does with a Python script, and its two outputs as text."""
    told = stdin.encode()
    request = json.dumps(
        {"command": list(command), "env": dict(env), "cwd": os.fspath(cwd), "umask": _umask()}
    ).encode()
    own = sys.platform != "linux" or any(
        name.startswith(_READ_AT_START) and (name, value) != _AS_WITHOUT for name, value in env.items()
    )
    if own or len(told) > _PIPE_BYTES or len(request) > _MESSAGE_BYTES:
        return subprocess.run(
            command, env=env, cwd=cwd, input=stdin, capture_output=True, text=True, timeout=timeout_seconds, check=False
        )
    with contextlib.ExitStack() as stack:
        given, fed = os.pipe()
        os.write(fed, told)
        os.close(fed)
        out, out_end = os.pipe()
        err, err_end = os.pipe()
        report, report_end = socket.socketpair()
        stack.enter_context(report)
        outputs = [stack.enter_context(FileIO(descriptor)) for descriptor in (out, err)]
        try:
            _send(request, [given, out_end, err_end, report_end.fileno()])
        finally:
            for descriptor in (given, out_end, err_end):
                os.close(descriptor)
            report_end.close()
        return _collect(command, outputs, report, timeout_seconds)


def _umask() -> int:
    now = os.umask(0o077)
    os.umask(now)
    return now


def _collect(
    command: Sequence[str], outputs: Sequence[FileIO], report: socket.socket, timeout_seconds: float
) -> "subprocess.CompletedProcess[str]":
    deadline = time.monotonic() + timeout_seconds
    report.settimeout(timeout_seconds)
    pid = int.from_bytes(report.recv(8), "big")
    texts = [bytearray() for _ in outputs]
    with selectors.DefaultSelector() as selector:
        for file, text in zip(outputs, texts, strict=True):
            selector.register(file, selectors.EVENT_READ, text)
        while selector.get_map():
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(command, timeout_seconds, *map(bytes, texts))
            for key, _ in ready:
                if part := os.read(key.fd, _PIPE_BYTES):
                    key.data.extend(part)
                else:
                    selector.unregister(key.fileobj)
    status = os.waitstatus_to_exitcode(int.from_bytes(report.recv(8), "big"))
    return subprocess.CompletedProcess(list(command), status, *(text.decode() for text in texts))


_lock = threading.Lock()
_control: socket.socket | None = None


def _send(request: bytes, descriptors: list[int]) -> None:
    with _lock:
        socket.send_fds(_connected(), [request], descriptors)


def _connected() -> socket.socket:
    """The way to the waiting interpreter, which ends when this end is closed."""
    global _control
    if _control is None:
        _control, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with far:
            waiting = subprocess.Popen(
                [sys.executable, __file__],
                stdin=far.fileno(),
                stdout=subprocess.DEVNULL,
                env={"PATH": os.environ["PATH"]},
                cwd="/",
            )
        atexit.register(_end, _control, waiting)
    return _control


def _end(control: socket.socket, waiting: "subprocess.Popen[bytes]") -> None:
    control.close()
    waiting.wait(timeout=30)


class _Fork(Exception):
    """No error: it takes a child out of the loop of its parent."""

    def __init__(self, request: bytes, descriptors: list[int]) -> None:
        super().__init__()
        self.request = request
        self.descriptors = descriptors


def _serve() -> None:
    """Fork for each request, and report each child's number and, when it has ended, its status."""
    control = socket.socket(fileno=os.dup(0))
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    reports: dict[int, int] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        selector.register(woken, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is control:
                    request, descriptors, _, _ = socket.recv_fds(control, _MESSAGE_BYTES, 4)
                    if not request:
                        return
                    pid = os.fork()
                    if pid == 0:
                        signal.set_wakeup_fd(-1)
                        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                        for descriptor in (control.fileno(), woken, wake, *reports.values()):
                            os.close(descriptor)
                        control.detach()
                        raise _Fork(request, descriptors)
                    for descriptor in descriptors[:3]:
                        os.close(descriptor)
                    reports[pid] = descriptors[3]
                    os.write(descriptors[3], pid.to_bytes(8, "big"))
                else:
                    os.read(woken, _PIPE_BYTES)
                    _report_ended(reports)


def _report_ended(reports: dict[int, int]) -> None:
    while reports:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        report = reports.pop(pid)
        with contextlib.suppress(BrokenPipeError):
            os.write(report, status.to_bytes(8, "big"))
        os.close(report)


def _become(request: bytes, descriptors: list[int]) -> str:
    """Be the process that was asked for; the script that it runs."""
    for number, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, number)
    for descriptor in descriptors:
        os.close(descriptor)
    asked = json.loads(request)
    os.chdir(asked["cwd"])
    os.umask(asked["umask"])
    coerced = {} if _AS_WITHOUT[0] in asked["env"] else {"LC_CTYPE": _AS_WITHOUT[1]}
    os.environ.clear()
    os.environ.update(asked["env"] | coerced)
    time.tzset()
    sys.argv = asked["command"]
    return sys.argv[0]


if __name__ == "__main__":
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()  # what is shared with every child need not be looked through in each
    try:
        _serve()
    except _Fork as fork:
        script = _become(fork.request, fork.descriptors)
        sys.path[0] = str(Path(script).parent)  # as Python sets it for a script
    else:
        sys.exit(0)
    runpy.run_path(script, run_name="__main__")
