"""What the keeper asks of the Linux kernel. Elsewhere nothing is asked: the marker finds what is left behind, and the
daemon alone guards the lease of a keeper that hangs.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

_CLOCK_BOOTTIME = 7
_SIGEV_SIGNAL = 0
_TIMER_ABSTIME = 1
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> bool:
    """Become the parent of every descendant whose own parent dies; whether that can be had here."""
    return sys.platform == "linux" and bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


def dying_with_us(*, ignores_requests: bool = False) -> Callable[[], None] | None:
    """What a new process does before it becomes the agent, so that it is killed when we are gone.

    `ignores_requests` is for `bwrap`, which would die of the SIGINT or SIGTERM that is meant for the agent inside, and
    take it along before it could end by itself. The first program inside restores both.
    """
    if sys.platform != "linux":
        return None
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def prepare() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        for number in (signal.SIGINT, signal.SIGTERM) if ignores_requests else ():
            signal.signal(number, signal.SIG_IGN)
        if os.getppid() != parent:  # we were gone before it could ask
            os.kill(os.getpid(), signal.SIGKILL)

    return prepare


class DeathTimer:
    """A timer of the kernel's that kills this process, and with it the agent, however it hangs: also while it is
    stopped, and at once when the machine wakes up later. Only a process that waits for a disk in the kernel itself dies
    no sooner than its wait is over.
    """

    def __init__(self) -> None:
        self._timer: ctypes.c_void_p | None = None
        if sys.platform != "linux":
            return
        self._library = ctypes.CDLL(None)
        timer, event = ctypes.c_void_p(), _SignalEvent(signal=signal.SIGKILL, notify=_SIGEV_SIGNAL)
        # An older C library has its timers elsewhere; then, as on other systems, there is none.
        create = getattr(self._library, "timer_create", None)
        if create is not None and create(_CLOCK_BOOTTIME, ctypes.byref(event), ctypes.byref(timer)) == 0:
            self._timer = timer

    def set(self, steady_seconds: float) -> None:
        """Die at this instant of the steady clock. Replaces the instant before."""
        if self._timer is not None:
            whole = int(steady_seconds)
            due = _TimerValue(seconds=whole, nanoseconds=int((steady_seconds - whole) * 1e9))
            self._library.timer_settime(self._timer, _TIMER_ABSTIME, ctypes.byref(due), None)

    def clear(self) -> None:
        """Live on."""
        self.set(0)


class _SignalEvent(ctypes.Structure):
    """`struct sigevent`."""

    _fields_ = (
        ("value", ctypes.c_void_p),
        ("signal", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("rest", ctypes.c_char * 48),
    )


class _TimerValue(ctypes.Structure):
    """`struct itimerspec`. A value of zero is no instant, and stops the timer."""

    _fields_ = (
        ("interval_seconds", ctypes.c_long),
        ("interval_nanoseconds", ctypes.c_long),
        ("seconds", ctypes.c_long),
        ("nanoseconds", ctypes.c_long),
    )
