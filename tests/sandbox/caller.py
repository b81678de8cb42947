"""An agent that calls Ramet, waits until `restarted` is in its worktree, and calls again.

It prints what came of each call. It runs inside, so it imports only the standard library.
"""

import json
import os
import socket
import sys
import time
from pathlib import Path

PATIENCE_SECONDS = 60


def call() -> str:
    """Who this is, as the daemon says."""
    hello = {"jsonrpc": "2.0", "id": 1, "method": "daemon.hello", "params": {"token": os.environ["RAMET_TOKEN"]}}
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(PATIENCE_SECONDS)
            connection.connect(os.environ["RAMET_SOCKET"])
            connection.sendall(json.dumps(hello).encode() + b"\n")
            return str(json.loads(connection.makefile().readline())["result"]["principal"])
    except OSError as error:
        return f"refused: {error}"


def main() -> None:
    sys.stdin.read()
    first = call()
    Path("called").touch()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not Path("restarted").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    print(json.dumps([first, call()]))


if __name__ == "__main__":
    main()
