"""Failure as an argument: the named points at which tests may end the process.

Code that makes something durable is given a `Faults` and says where it is (`faults.reach("before_commit")`).
Normally nothing happens there. A crash test arms one point by name; the process then dies on the spot, as it
would by SIGKILL: no clean-up, no flush, no farewell.
"""

import os
import signal
from typing import Literal, get_args

FaultPoint = Literal[
    "before_commit",
    "after_commit_before_reply",
    "during_migration",
    "during_recovery",
    "during_adoption",
    "during_restore",
    "before_launch",
    "after_launch",
    "landing_claimed",
    "landing_built",
    "landing_checked",
    "landing_tested",
    "landing_moved",
    "before_settle",
    "after_settle",
]


class Faults:
    """No point is armed: the production setting."""

    def reach(self, point: FaultPoint) -> None:
        """Say that execution has come to `point`."""


class ArmedFaults(Faults):
    """Dies when `point` is reached for the `countdown`-th time."""

    def __init__(self, point: FaultPoint, countdown: int) -> None:
        self._point = point
        self._countdown = countdown

    def reach(self, point: FaultPoint) -> None:
        if point != self._point:
            return
        self._countdown -= 1
        if self._countdown <= 0:
            os.kill(os.getpid(), signal.SIGKILL)


def parse_faults(text: str) -> Faults:
    """Read `point:count` (for example `before_commit:3`); an empty text arms nothing."""
    if not text:
        return Faults()
    name, _, count = text.partition(":")
    for point in get_args(FaultPoint):
        if name == point and (not count or count.isdigit()):
            return ArmedFaults(point, int(count or 1))
    known = ", ".join(get_args(FaultPoint))
    raise ValueError(f"RAMET_FAULT is {text!r}; it must be POINT:COUNT with POINT one of {known}")
