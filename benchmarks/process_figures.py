"""How much memory and processor time a daemon and the processes that it started take, as the system counts them."""

import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil

_PAUSE_SECONDS = 0.25
_MB = 1_000_000


def family(pid: int) -> list[psutil.Process]:
    """A process and all below it."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    return []


def proportional_mb(pid: int) -> float:
    """What a process and all below it take together; a page that several share counts once (PSS)."""
    return sum(_rollup(process.pid) for process in family(pid)) / _MB


def _rollup(pid: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def forget_peak(pid: int) -> None:
    """Let the system count a process's largest resident size from now on."""
    Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")


def peak_mb(pid: int) -> float:
    """The largest resident size of a process since then; 0 if it is gone."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / _MB
    return 0.0


def wait_below(pid: int, limit_mb: float, longest_seconds: float) -> tuple[float, float]:
    """Wait until a daemon and its processes take less than this, or as long as this: what they take, and after how
    many seconds."""
    begun = time.monotonic()
    while (now := proportional_mb(pid)) > limit_mb and time.monotonic() - begun < longest_seconds:
        time.sleep(_PAUSE_SECONDS)
    return now, time.monotonic() - begun


def processor_seconds(pid: int) -> float:
    """What a process and all below it have computed. The system counts it in nanoseconds for each thread that lives,
    which is enough for a short round; `psutil` has hundredths of a second."""
    return sum(_nanoseconds(process.pid) for process in family(pid)) / 1e9


def _nanoseconds(pid: int) -> int:
    total = 0
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                total += int((thread / "schedstat").read_text(encoding="ascii").split()[0])
    return total


class MemoryWatch:
    """Remembers the most that a daemon and its processes took together."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.most_mb = 0.0
        self.most_processes = 0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Look no more."""
        self._is_over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._is_over.wait(_PAUSE_SECONDS):
            self.most_mb = max(self.most_mb, proportional_mb(self._pid))
            self.most_processes = max(self.most_processes, len(family(self._pid)))
