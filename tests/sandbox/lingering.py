"""An agent that hides its processes: sessions of their own, no environment, no parent, deaf to signals.

    python lingering.py MARK

MARK is on each of their command lines, by which a test outside finds them.
"""

import os
import signal
import subprocess
import sys
import time

DEAF = "import signal, sys, time; [signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]; time.sleep(600)"


def main() -> None:
    mark = sys.argv[1]
    sys.stdin.read()
    for environ in (dict(os.environ), {}):
        if os.fork() == 0:
            os.setsid()
            subprocess.Popen([sys.executable, "-c", DEAF, mark], env=environ, start_new_session=True)
            os._exit(0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    subprocess.Popen([sys.executable, "-c", DEAF, mark])
    print("ready", flush=True)
    time.sleep(600)


if __name__ == "__main__":
    main()
