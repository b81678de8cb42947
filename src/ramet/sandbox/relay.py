"""The inner half of the way out of a strict sandbox: a port on loopback, whose connections go to the proxy's socket.

Programs know proxies by host and port. Inside, only loopback exists, and the proxy is a unix socket; so this passes
bytes between the two and decides nothing. Only the standard library is imported: it runs inside, before the agent.
"""

import os
import socket
import threading
from contextlib import suppress

PROXY_SOCKET = "/run/ramet/proxy.sock"
"""Where a strict sandbox finds the proxy."""

VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")

_CHUNK_BYTES = 64 * 1024
_BACKLOG = 128


def start(path: str = PROXY_SOCKET) -> dict[str, str]:
    """Start the relay as a process of its own; the variables that lead programs to it."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
    port = listener.getsockname()[1]
    if os.fork() == 0:
        _detach()
        _serve(listener, path)
    listener.close()
    return dict.fromkeys(VARIABLES, f"http://127.0.0.1:{port}")


def _detach() -> None:
    """Neither the agent's pipes nor its process group: a keeper that asks the agent to end does not cut it off."""
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)


def _serve(listener: socket.socket, path: str) -> None:
    """Until the sandbox ends."""
    while True:
        with suppress(OSError, RuntimeError):  # too many connections or threads: the next one may work
            inside, _ = listener.accept()
            threading.Thread(target=_connect, args=(inside, path), daemon=True).start()


def _connect(inside: socket.socket, path: str) -> None:
    with suppress(OSError), inside, socket.socket(socket.AF_UNIX) as outside:
        outside.connect(path)
        back = threading.Thread(target=_copy, args=(outside, inside), daemon=True)
        back.start()
        _copy(inside, outside)
        back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    """Pass bytes on until one side closes; then close the other in the same direction."""
    with suppress(OSError):
        while data := source.recv(_CHUNK_BYTES):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
