"""What the keeper asks of the Linux kernel. Elsewhere nothing is asked: the marker finds what is left behind."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

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
