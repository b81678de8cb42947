"""A machine whose clock is wrong: in a Python process that finds this first, it is ahead by `RAMET_TEST_AHEAD` seconds.

Only the clock that people set is shifted, not the one that measures how long things take.
"""

import os
import time

_ahead_ns = int(os.environ["RAMET_TEST_AHEAD"]) * 1_000_000_000
_time_ns = time.time_ns

time.time_ns = lambda: _time_ns() + _ahead_ns
time.time = lambda: (_time_ns() + _ahead_ns) / 1e9
