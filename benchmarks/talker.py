"""An agent that says a line every fifth of a second: until everybody is there, and then for a while.

    python talker.py FOLDER SECONDS

It leaves a file in FOLDER when it has begun, and counts its SECONDS from when FOLDER holds a file named `go`.
"""

import os
import sys
import time

_PAUSE_SECONDS = 0.2
_PATIENCE_SECONDS = 240


def main() -> None:
    folder, seconds = sys.argv[1], float(sys.argv[2])
    sys.stdin.read()
    with open(f"{folder}/{os.getpid()}", "w"):  # noqa: PTH123 - an agent should start as fast as it can
        pass
    number, end, is_gone = 0, time.monotonic() + _PATIENCE_SECONDS, False
    while time.monotonic() < end:
        number += 1
        print(f"line {number}: looking at the next file, which may explain why the test fails", flush=True)
        time.sleep(_PAUSE_SECONDS)
        if not is_gone and os.path.exists(f"{folder}/go"):  # noqa: PTH110
            is_gone, end = True, time.monotonic() + seconds


main()
