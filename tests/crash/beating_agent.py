"""An agent that beats: it writes the time into a file of its own, several times a second, for as long as it lives.

Its arguments: a folder for its notes, and how often to beat. Its prompt, on standard input, has its name on the last
line. It does not end by itself when it is asked to.
"""

import os
import signal
import sys
import time

signal.signal(signal.SIGINT, signal.SIG_IGN)
folder, beats = sys.argv[1], int(sys.argv[2])
name = sys.stdin.read().strip().splitlines()[-1]
print(f"{name} begins", flush=True)
with open(f"{folder}/{name}.{os.getpid()}", "a", encoding="ascii") as notes:  # noqa: PTH123 - imports take their time
    for _ in range(beats):
        notes.write(f"{time.time()}\n")
        notes.flush()
        time.sleep(0.1)
print(f"{name} is done", flush=True)
