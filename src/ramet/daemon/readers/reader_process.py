"""A reader: a process that answers one read after the other, encodes the replies itself, and never writes.

The daemon may kill it at any moment. It runs at a lower priority than the daemon, in bounded memory, and it ends when
the daemon is gone, when the daemon needs it no more, or when it has grown.
"""

import gc
import os
import resource
import select
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from ramet.daemon.log import describe_error
from ramet.daemon.memory import give_back_memory
from ramet.daemon.readers.failures import find_known
from ramet.daemon.readers.json_limit import encode_within
from ramet.daemon.readers.messages import Header, Order, encode_header, receive_order
from ramet.daemon.readers.snapshots import Snapshots
from ramet.errors import RametError, ReplyTooLarge
from ramet.model.redaction import Redactor
from ramet.protocol.wire.frames import redacted_error
from ramet.store.memory.index.search_index import SearchIndex

NICE = 5
"""Readers yield to the daemon and to what people run; the one for the daemon's own requests does not."""
_MEMORY_BYTES = 192 * 1024 * 1024
"""How much a reader may allocate, for what it reads and for its reply: with the daemon less than 300 MB."""
_LITTLE_BYTES = 8 * 1024 * 1024
_GROWN_BYTES = 96 * 1024 * 1024
"""A reader that has become so large ends after its reply. The contexts that it keeps are smaller."""
_FIRST_TO_GO = 500
"""If the machine runs out of memory, a reader is killed before the daemon, and before most other programs."""
_REST_SECONDS = 1.0
"""How long a reader that has nothing to do keeps its connection to a server."""
_STATM = Path("/proc/self/statm")


class ReaderProcess:
    """Answers orders until there are no more."""

    def __init__(self, snapshots: Snapshots, redactor: Redactor, index: SearchIndex, max_reply_bytes: int) -> None:
        self._snapshots = snapshots
        self._redactor = redactor
        self._index = index
        self._max_reply_bytes = max_reply_bytes
        self._started_bytes = 0
        self._most_bytes = 0

    def run(self, link: socket.socket, *, is_own: bool) -> NoReturn:
        """Answer until the daemon closes its end, and exit."""
        status = 1
        try:
            self._settle(is_own=is_own)
            with suppress(OSError):  # the daemon is gone
                link.sendall(encode_header(Header("ready", 0, os.getpid())))
                while (order := self._receive(link)) is not None and not self._answer(link, order):
                    pass
            status = 0
        finally:
            os._exit(status)  # nothing of the process that it was forked from is to be cleaned up here

    def _settle(self, *, is_own: bool) -> None:
        if not is_own:
            os.nice(NICE)
        with suppress(OSError):
            Path("/proc/self/comm").write_text("ramet own reads" if is_own else "ramet reader", encoding="ascii")
            Path("/proc/self/oom_score_adj").write_text(str(_FIRST_TO_GO), encoding="ascii")
        self._started_bytes = _private_bytes()
        self._most_bytes = _data_bytes() + _MEMORY_BYTES
        with suppress(OSError, ValueError):  # a lower limit holds already
            resource.setrlimit(resource.RLIMIT_DATA, (self._most_bytes, self._most_bytes))

    def _receive(self, link: socket.socket) -> Order | None:
        """The next order. While there is none, others may need this process's place at the server."""
        if self._snapshots.keeps_places and not select.select([link], [], [], _REST_SECONDS)[0]:
            self._snapshots.release()
        return receive_order(link)

    def _answer(self, link: socket.socket, order: Order) -> bool:
        """Send the answer to an order; True if it is the last."""
        kind, body = self._perform(order)
        gc.collect(1)
        if len(body) > _LITTLE_BYTES:
            give_back_memory()  # the client may take long to read the reply
        grown_bytes = max(_private_bytes() - self._started_bytes - len(body), 0)
        is_last = grown_bytes > _GROWN_BYTES
        signs = self._snapshots.signs
        header = Header(kind, len(body), grown_bytes, is_last, self._index.is_damaged, signs.first is not None)
        self._index.is_damaged, signs.first = False, None
        link.sendall(encode_header(header))
        link.sendall(body)
        return is_last

    def _perform(self, order: Order) -> Any:
        try:
            reply = self._snapshots.perform(order.request, order.principal)
            return "reply", encode_within(reply, self._max_reply_bytes)
        except Exception as error:  # noqa: BLE001 - whatever fails, the daemon learns of it
            is_full = isinstance(error, MemoryError) or self._is_full()
            refusal = _too_much(order) if is_full else find_known(error) or error
            if isinstance(refusal, RametError):
                return "error", msgspec.json.encode(redacted_error(refusal, self._redactor))
            return "failed", describe_error(refusal).encode(errors="replace")

    def _is_full(self) -> bool:
        """Whether there is hardly any memory left: libraries then fail with errors of their own."""
        return _data_bytes() > self._most_bytes - _LITTLE_BYTES


def _too_much(order: Order) -> ReplyTooLarge:
    message = f"the read needs more than {_MEMORY_BYTES} bytes of memory"
    return ReplyTooLarge(message, field="limit", value=order.request.op.name)


def end_with(link: socket.socket) -> None:
    """Exit when the other end is closed, also in the middle of a read: for systems on which the kernel sees to it."""

    def watch() -> None:
        poll = select.poll()
        poll.register(link, 0)
        poll.poll()
        os._exit(1)

    threading.Thread(target=watch, name="watch", daemon=True).start()


def _private_bytes() -> int:
    """The memory that is this process's own: what it shares with the process that it was forked from costs nothing."""
    try:
        _, resident, shared, *_ = map(int, _STATM.read_text(encoding="ascii").split())
    except (OSError, ValueError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return (resident - shared) * resource.getpagesize()


def _data_bytes() -> int:
    """What counts towards the limit of allocated memory."""
    try:
        return int(_STATM.read_text(encoding="ascii").split()[5]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return 0
