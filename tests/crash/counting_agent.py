"""An agent that counts aloud, and writes down beside it when it began and what it said.

Its arguments: a folder for its notes, how far to count, and how long to wait between two numbers. Its prompt, on
standard input, has its name on the last line. It leaves a child behind that would outlive it.
"""

import os
import subprocess
import sys
import time
from pathlib import Path


def main() -> None:
    folder, count, pause = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    name = sys.stdin.read().strip().splitlines()[-1]
    with (folder / f"{name}.began").open("a") as began:
        began.write(f"{os.getpid()}\n")
    subprocess.Popen(["sleep", "600"], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with (folder / f"{name}.said").open("a") as said:
        for number in range(1, count + 1):
            said.write(f"{name} {number}\n")
            said.flush()
            print(name, number, flush=True)
            time.sleep(pause)


if __name__ == "__main__":
    main()
