"""A peer on a real Unix socket that does what its script says."""

import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.client.peer import Listen, Peer, Script


@pytest.fixture
def directory() -> Iterator[Path]:
    """A short path of the user's own: a socket's name may have about a hundred bytes."""
    path = Path(tempfile.mkdtemp(prefix="ramet-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def listen(directory: Path) -> Iterator[Listen]:
    """Serve one connection as the script says; the socket's path."""
    listener = socket.socket(socket.AF_UNIX)
    threads: list[threading.Thread] = []

    def start(script: Script) -> Path:
        listener.bind(str(directory / "s"))
        listener.listen()
        threads.append(threading.Thread(target=_serve, args=(listener, script)))
        threads[0].start()
        return directory / "s"

    yield start
    for thread in threads:
        thread.join(10)
    listener.close()


def _serve(listener: socket.socket, script: Script) -> None:
    peer = Peer(listener.accept()[0])
    try:
        script(peer)
    finally:
        peer.close()
