"""The commit listener: a thread that learns of others' commits to a shared server, and announces our own.

It also asks the server every two seconds whether it answers, and writes down when it did not for long.

When the connection is lost, it is made again and everything is checked once more: announcements that came meanwhile are
not repeated.
"""

import asyncio
import logging
import os
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from ramet.config.host import machine_name
from ramet.errors import RametError
from ramet.store.database.postgres.connection import PostgresConnection
from ramet.store.database.postgres.contact import Outage
from ramet.store.database.postgres.news import News
from ramet.store.database.store import Topic
from ramet.store.work import outages

log = logging.getLogger(__name__)

_COALESCE_SECONDS = 0.1
"""Many commits in a row are announced once."""
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 5.0
_ASK_SECONDS = 2.0
"""How often the server is asked whether it answers."""
_FAREWELL_SECONDS = 2.0


class CommitListener:
    """Lives as long as the daemon."""

    def __init__(
        self, listen: Callable[[], News], on_news: Callable[[Topic], None], loop: asyncio.AbstractEventLoop
    ) -> None:
        self._listen = listen
        self._on_news = on_news
        self._loop = loop
        self._ears, self._mouth = socket.socketpair()
        for end in (self._ears, self._mouth):
            end.setblocking(False)
        self._is_closed = False
        self._has_committed = False
        # It may be in the middle of a question to a server that does not answer, and nobody waits for that.
        self._thread = threading.Thread(target=self._run, name="listener", daemon=True)
        self._thread.start()

    def committed(self) -> None:
        """Something was committed here: it is announced soon."""
        if not self._has_committed:
            self._has_committed = True
            self._wake()

    def close(self) -> None:
        """End the thread."""
        self._is_closed = True
        self._wake()
        self._thread.join(_FAREWELL_SECONDS)
        if not self._thread.is_alive():
            self._ears.close()
            self._mouth.close()

    def _wake(self) -> None:
        with suppress(BlockingIOError):
            self._mouth.send(b".")

    def _run(self) -> None:
        pause = _FIRST_PAUSE_SECONDS
        while not self._is_closed:
            try:
                news = self._listen()
            except RametError:
                self._wait(pause)
                pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
                continue
            pause = _FIRST_PAUSE_SECONDS
            try:
                self._tell_loop(("work", "events"))
                self._hear(news)
            except RametError as error:
                log.warning("the notifications of PostgreSQL stopped, reconnecting error=%s", error.code)
            finally:
                news.close()

    def _hear(self, news: News) -> None:
        told_at = ask_at = 0.0
        while not self._is_closed:
            if time.monotonic() >= ask_at:
                news.ask(_record)
                ask_at = time.monotonic() + _ASK_SECONDS
            due_at = min(ask_at, told_at + _COALESCE_SECONDS) if self._has_committed else ask_at
            due = max(due_at - time.monotonic(), 0)
            if self._ears in _readable([news, self._ears], due):
                self._drain()
            self._tell_loop(news.hear())
            if self._has_committed and time.monotonic() >= told_at + _COALESCE_SECONDS:
                self._has_committed = False  # before it is told: what is committed meanwhile is told once more
                news.tell()
                told_at = time.monotonic()

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not self._is_closed and (left := deadline - time.monotonic()) > 0:
            if _readable([self._ears], left):
                self._drain()

    def _drain(self) -> None:
        with suppress(BlockingIOError):
            self._ears.recv(4096)

    def _tell_loop(self, topics: Iterable[Topic]) -> None:
        for topic in topics:
            with suppress(RuntimeError):  # the loop has ended before us
                self._loop.call_soon_threadsafe(self._on_news, topic)


def _record(db: PostgresConnection, outage: Outage) -> None:
    """Let claims everywhere know that holders of leases had no way to renew them."""
    log.warning("the server answers again after an outage seconds=%d", (outage.ended_ms - outage.began_ms) / 1000)
    outages.record(db, outage.began_ms, outage.ended_ms, f"{machine_name()}.{os.getpid()}")


def _readable(sources: Sequence[News | socket.socket], seconds: float | None) -> list[object]:
    """Those that have something to read, as soon as one does."""
    with selectors.DefaultSelector() as selector:
        for source in sources:
            selector.register(source, selectors.EVENT_READ)
        return [key.fileobj for key, _ in selector.select(seconds)]
