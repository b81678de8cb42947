"""Which process: a pid and the instant of its start, because a pid alone is somebody else's tomorrow.

A keeper asks this before it starts its agent, so it is answered without psutil where the kernel has it in a file.
"""

import os
import sys
from pathlib import Path

_TOLERANCE_SECONDS = 2.0
"""The kernel counts from boot; when it booted is worked out from the clock, which may have been set a little since."""
_STATE, _START_TICKS = 0, 19
"""Where they stand in /proc/PID/stat behind the name, which may contain anything."""


def started_at(pid: int) -> float | None:
    """When the process began, in seconds since 1970; None where it is gone, or has ended and nobody has heard of it."""
    return _from_proc(pid) if sys.platform == "linux" else _from_psutil(pid)


def is_alive(pid: int, start: float) -> bool:
    """Whether the process that began then still runs under that pid."""
    found = started_at(pid)
    return found is not None and abs(found - start) < _TOLERANCE_SECONDS


def has_argument(pid: int, argument: str) -> bool:
    """Whether a process that lives was started with this argument. It is known on Linux only."""
    try:
        return argument.encode() in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False


def _from_proc(pid: int) -> float | None:
    try:
        status = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    fields = status[status.rindex(b")") + 2 :].split()
    if fields[_STATE] in (b"Z", b"X"):
        return None
    return _boot_time() + int(fields[_START_TICKS]) / os.sysconf("SC_CLK_TCK")


def _boot_time() -> int:
    for line in Path("/proc/stat").read_bytes().splitlines():
        if line.startswith(b"btime "):
            return int(line.split()[1])
    return 0


def _from_psutil(pid: int) -> float | None:
    import psutil  # noqa: PLC0415  only where the system has no /proc

    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.Error:
        return None
