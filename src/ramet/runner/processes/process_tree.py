"""The processes of an agent: finding all of them, and ending them as one.

An agent's shells make sessions of their own, outlive their parents, and ignore what they are asked. So its processes
are found in two ways: as descendants, and by the marker in their environment, which whoever they start inherits. They
are ended in three steps: asked, told, killed. Nothing here sends a signal to a bare pid: psutil knows a process by its
pid and its start.
"""

import os
import signal
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress

import psutil

from ramet.model.work.stream import EndedProcess
from ramet.protocol.work.keepers import MARKER
from ramet.runner.processes.process_identity import is_alive
from ramet.runner.processes.process_sweep import sweep

__all__ = ["Ending", "cpu_seconds", "end_marked", "find", "is_alive"]

_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 0.25
_KILL_PAUSE_SECONDS = 0.02
_KILL_ROUNDS = 250
"""What is still there after so many rounds cannot be killed: it hangs in the kernel, or is not ours to kill."""
_FREEZE_ROUNDS = 20

Find = Callable[[], list[psutil.Process]]


def find(
    instance: str, *, root: int | None = None, spared: Collection[int] = (), others: Collection[str] = ()
) -> list[psutil.Process]:
    """What carries the instance in its environment, and what descends from `root`, without that process itself.

    Never ourselves, our ancestors, the first process, or what is `spared`; nor what carries one of `others`, because it
    belongs to another agent. What these have started is not looked at as a descendant either.
    """
    everyone = {process.pid: process for process in psutil.process_iter()}
    untouchable = {0, 1, *spared, *_ancestors(everyone)}
    markers = {pid: _marker(process) for pid, process in everyone.items() if pid not in untouchable}
    marked = {pid for pid, marker in markers.items() if marker == instance}
    barred = untouchable | {pid for pid, marker in markers.items() if marker in others}
    found = marked if root is None else marked | _descendants(root, everyone.values(), barred)
    return [everyone[pid] for pid in sorted(found) if not _is_gone(everyone[pid])]


def end_marked(instance: str, grace_seconds: float) -> list[EndedProcess]:
    """End everything that carries the instance in its environment, and return when it is gone; what was ended."""
    ending = Ending(lambda: find(instance), grace_seconds, sweep=lambda: sweep(instance, ()))
    while (pause := ending.advance(time.monotonic())) is not None:
        time.sleep(pause)
    return ending.ended


def cpu_seconds(processes: Iterable[psutil.Process]) -> float:
    """How long they have computed so far, with the children that they have waited for."""
    total = 0.0
    for process in processes:
        with suppress(psutil.Error):
            times = process.cpu_times()
            total += sum(times[:4])
    return total


class Ending:
    """The end of some processes, in steps: whoever wants them gone calls `advance` until it has nothing more to do."""

    def __init__(
        self, find: Find, grace_seconds: float, *, group: int | None = None, sweep: Callable[[], None] = lambda: None
    ) -> None:
        """`group` is the process group that is asked with SIGINT; without one nobody is asked. `sweep` kills what is
        not there long enough to be found.
        """
        self._find = find
        self._sweep = sweep
        self._grace_seconds = grace_seconds
        self._group = group
        self._steps = iter((self._ask, self._tell))
        self._step_ends = float("-inf")
        self._pause_seconds = _PAUSE_SECONDS
        self._kills = 0
        self._known: list[psutil.Process] = []
        self._signalled: dict[psutil.Process, EndedProcess] = {}

    @property
    def ended(self) -> list[EndedProcess]:
        """What was sent a signal and is gone, with the last signal that it took."""
        return [entry for process, entry in self._signalled.items() if _is_gone(process)]

    @property
    def left(self) -> list[EndedProcess]:
        """What could not be ended."""
        return [entry for process, entry in self._signalled.items() if not _is_gone(process)]

    def advance(self, now: float) -> float | None:
        """Do what is to be done now; after how many seconds to call again, or None when it is over."""
        self._known = [process for process in self._known if not _is_gone(process)] or self._find()
        if not self._known or self._kills == _KILL_ROUNDS:
            return None
        if now >= self._step_ends:
            self._step_ends = now + next(self._steps, self._kill)()
            self._pause_seconds = _PAUSE_SECONDS
        pause = min(self._pause_seconds, self._step_ends - now)
        self._pause_seconds = min(self._pause_seconds * 1.5, _LONGEST_PAUSE_SECONDS)
        return pause

    def _ask(self) -> float:
        members = [process for process in self._find() if _group_of(process) == self._group]
        if self._group not in {process.pid for process in members}:
            return 0  # with its leader the group may have gone too, and its number be somebody else's
        self._note(members, signal.SIGINT)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._group, signal.SIGINT)
        return self._grace_seconds

    def _tell(self) -> float:
        self._send(self._find(), signal.SIGTERM)
        return self._grace_seconds

    def _kill(self) -> float:
        """Kill all of them. They are stopped first, so that none can start another while its parent is killed."""
        self._kills += 1
        frozen: dict[psutil.Process, int | None] = {}
        for _ in range(_FREEZE_ROUNDS):
            fresh = [process for process in self._find() if process not in frozen]
            if not fresh:
                break
            for process in fresh:
                frozen[process] = _group_of(process)
                with suppress(psutil.Error):
                    process.send_signal(signal.SIGSTOP)
        self._note(frozen, signal.SIGKILL)
        _kill_groups(frozen.values())
        self._send(frozen, signal.SIGKILL)
        self._sweep()
        return _KILL_PAUSE_SECONDS

    def _send(self, processes: Iterable[psutil.Process], number: signal.Signals) -> None:
        for process in processes:
            self._note([process], number)
            with suppress(psutil.Error):
                process.send_signal(number)

    def _note(self, processes: Iterable[psutil.Process], number: signal.Signals) -> None:
        for process in processes:
            known = self._signalled.get(process)
            name = known.name if known else _name(process)
            self._signalled[process] = EndedProcess(pid=process.pid, name=name, signal=number.name)


def _kill_groups(groups: Iterable[int | None]) -> None:
    """Kill the groups that an agent's processes are in, which are its own: it was started in a session of its own.

    A process that is replaced by its child faster than it can be found still leaves it its group.
    """
    ours = (0, 1, os.getpgrp())
    for group in {group for group in groups if group is not None and group not in ours}:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


def _is_gone(process: psutil.Process) -> bool:
    """Whether it has ended; one that nobody has waited for yet has, too."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
    except psutil.Error:
        return False


def _marker(process: psutil.Process) -> str | None:
    """Whose it is, as far as it lets itself be asked."""
    try:
        return process.environ().get(MARKER)
    except (psutil.Error, OSError):
        return None


def _ancestors(everyone: dict[int, psutil.Process]) -> set[int]:
    """Ourselves, and whoever started us."""
    found: set[int] = set()
    pid: int | None = os.getpid()
    while pid is not None and pid not in found:
        found.add(pid)
        pid = _parent(everyone[pid]) if pid in everyone else None
    return found


def _descendants(root: int, everyone: Iterable[psutil.Process], barred: Collection[int]) -> set[int]:
    children: dict[int | None, list[int]] = {}
    for process in everyone:
        children.setdefault(_parent(process), []).append(process.pid)
    found: set[int] = set()
    waiting = [root]
    while waiting:
        fresh = [pid for pid in children.get(waiting.pop(), ()) if pid not in barred and pid not in found]
        found.update(fresh)
        waiting += fresh
    return found


def _parent(process: psutil.Process) -> int | None:
    try:
        return process.ppid()
    except psutil.Error:
        return None


def _group_of(process: psutil.Process) -> int | None:
    try:
        return os.getpgid(process.pid)
    except OSError:
        return None


def _name(process: psutil.Process) -> str:
    """What it is called, as text: a process may be called anything."""
    try:
        return process.name().encode("utf-8", "replace").decode()
    except psutil.Error:
        return "?"
