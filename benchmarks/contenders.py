"""What keeps a conversation: ours in process, ours through the daemon, and the peers, all with the same face.

A contender is opened on a folder of its own and given turns, which alternate between the user and the assistant. When
it is closed, the folder holds all that it keeps.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import ramet
from benchmarks.daemons import places_in, running
from ramet.client.target import Target
from ramet.config.settings import Settings
from ramet.library import Ramet
from ramet.library.remote import RemoteTransport
from ramet.model.history.content import ContentRole

Append = Callable[[Sequence[str]], None]
"""Keeps some more turns, each of them before the next."""

Contender = Callable[[Path], AbstractContextManager[Append]]


@contextmanager
def in_process(folder: Path) -> Iterator[Append]:
    """`ramet.open`: each commit is flushed to the disk before the call returns."""
    with ramet.open(folder / "ramet.db") as opened:
        yield lambda turns: _commit(opened, turns)


@contextmanager
def through_daemon(folder: Path) -> Iterator[Append]:
    """The same object on a daemon, one request under way at a time."""
    places = places_in(folder)
    with running(places):
        target = Target(socket=str(places.socket), settings="", places="")
        with Ramet(RemoteTransport(target, Settings(), autostart=False, timeout_seconds=60)) as connected:
            yield lambda turns: _commit(connected, turns)


def _commit(opened: Ramet, turns: Sequence[str]) -> None:
    for number, text in enumerate(turns):
        role: ContentRole = "assistant" if number % 2 else "user"
        opened.history.commit("main", text, role=role)


def kept_bytes(folder: Path) -> int:
    """The size of everything in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
