"""Bounded waits for a fact that another process brings about."""

import time
from collections.abc import Callable

PATIENCE_SECONDS = 120.0


def wait_for(fact: Callable[[], bool], seconds: float = PATIENCE_SECONDS) -> bool:
    deadline = time.monotonic() + seconds
    while not fact():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
