"""What presses on the daemon: clients that ask for much, send much, or do not read.

    python -m benchmarks.pressure_attacks NAME SOCKET SECONDS

Each attack repeats its request until the time is over, throws the answers away without decoding them, and prints one
JSON line that says what it got.
"""

import json
import select
import socket as sockets
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

from benchmarks.corpus import messages
from benchmarks.large_database import ABSENT, FORK, LONG, MIDDLE, SHORT

_PIECE = 1 << 20
_PAGE = 1000
_KEPT = 4096
_ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
_WIDE = (
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 10000)"
    " SELECT printf('%.*c', 200000, 'x') FROM c"
)


class _Failure(msgspec.Struct):
    message: str = ""
    data: dict[str, Any] = {}


class _Page(msgspec.Struct):
    next: Any = None


class _Reply(msgspec.Struct):
    """The few parts of a reply that are decoded; the rest is skipped."""

    result: _Page | None = None
    error: _Failure | None = None


class Gone(Exception):
    """The daemon has closed the connection."""


class Client:
    """A connection that reads and forgets."""

    def __init__(self, path: str, told: Counter[str]) -> None:
        self._socket = sockets.socket(sockets.AF_UNIX)
        self._socket.connect(path)
        self._told = told

    def send(self, method: str, **params: Any) -> None:
        """Ask, without waiting."""
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.send_bytes(json.dumps(request).encode() + b"\n")

    def send_bytes(self, data: bytes) -> None:
        """Send anything."""
        self._socket.sendall(data)

    def send_some(self, data: bytes) -> int:
        """Send as much as the daemon takes now: how many bytes."""
        return self._socket.send(data, sockets.MSG_DONTWAIT)

    def ask(self, method: str, **params: Any) -> _Reply:
        """Ask for a page and read it; the code of a refusal is counted."""
        self.send(method, **params)
        line = self.read(keeps_all=True)
        reply = msgspec.json.decode(line, type=_Reply)
        self._count(reply.error)
        return reply

    def ask_much(self, method: str, **params: Any) -> None:
        """Ask for something whose reply may be too large to keep."""
        self.send(method, **params)
        line = self.read()
        reply = msgspec.json.decode(line, type=_Reply) if b'"error"' in line[:100] else _Reply()
        self._count(reply.error)

    def read(self, *, keeps_all: bool = False) -> bytes:
        """One line; of a long one only the beginning, unless all of it is wanted."""
        kept, size, buffer = bytearray(), 0, bytearray(_PIECE)
        while True:
            count = self._socket.recv_into(buffer)
            if not count:
                raise Gone
            size += count
            if keeps_all or len(kept) < _KEPT:
                kept += buffer[:count]
            if buffer[count - 1] == 10:
                self._told["kilobytes"] += size // 1000
                return bytes(kept)

    def fileno(self) -> int:
        """For select."""
        return self._socket.fileno()

    def close(self) -> None:
        """End it."""
        self._socket.close()

    def _count(self, error: _Failure | None) -> None:
        self._told["answers"] += 1
        if error is not None:
            self._told[f"refused: {error.data.get('code', error.message[:40])}"] += 1


Attack = Callable[[str, float, Counter[str]], None]
"""Presses on a socket until a time, and counts what it gets."""


def _repeat(method: str, **params: Any) -> Attack:
    def attack(path: str, until: float, told: Counter[str]) -> None:
        client = Client(path, told)
        while time.monotonic() < until:
            client.ask_much(method, **params)

    return attack


def _follow(method: str, **params: Any) -> Attack:
    """Page by page, and from the beginning again."""

    def attack(path: str, until: float, told: Counter[str]) -> None:
        client = Client(path, told)
        cursor: Any = None
        while time.monotonic() < until:
            place = {} if cursor is None else {"cursor": cursor}
            reply = client.ask(method, limit=_PAGE, **place, **params)
            if reply.result is None:  # no pages here: to be refused again and again is another attack
                time.sleep(max(0.0, until - time.monotonic()))
                return
            cursor = reply.result.next
            told["whole"] += cursor is None

    return attack


def _unfinished(path: str, until: float, told: Counter[str]) -> None:
    """Sixty lines of 7.9 MB that never end, all at once: one that the daemon does not read holds up no other."""
    text = b'{"jsonrpc":"2.0","id":1,"method":"daemon.ping","params":{"x":"' + b"x" * 7_900_000
    clients = [Client(path, told) for _ in range(60)]
    sent = dict.fromkeys(clients, 0)
    while sent and time.monotonic() < until:
        for client in select.select([], list(sent), [], 0.1)[1]:
            try:
                count = client.send_some(text[sent[client] : sent[client] + _PIECE])
            except OSError:
                told["lines refused"] += 1
                del sent[client]
                continue
            sent[client] += count
            told["kilobytes sent"] += count // 1000
            if sent[client] == len(text):
                told["lines sent"] += 1
                del sent[client]
    told["lines not read"] = len(sent)
    time.sleep(max(0.0, until - time.monotonic()))


def _long_queries(path: str, until: float, told: Counter[str]) -> None:
    """Eight queries that never end, and how long a short one takes beside them."""
    for _ in range(8):
        Client(path, told).send("db.query", sql=_ENDLESS)
    time.sleep(0.5)
    client, longest = Client(path, told), 0.0
    while time.monotonic() < until:
        begun = time.monotonic()
        client.send("db.query", sql="SELECT 1")
        is_answered = bool(select.select([client], [], [], max(0.0, until - time.monotonic()))[0])
        longest = max(longest, time.monotonic() - begun)
        if is_answered:
            client.read()
        told["short queries answered" if is_answered else "short queries unanswered"] += 1
        time.sleep(0.2)
    told["longest short query in ms"] = round(longest * 1000)


def _connections(count: int, each_per_second: float | None) -> Attack:
    """Many connections that are open; each asks so many times in a second (0: as fast as it can)."""

    def attack(path: str, until: float, told: Counter[str]) -> None:
        clients = []
        for _ in range(count):
            with suppress(OSError):
                clients.append(Client(path, told))
        told["open"] = len(clients)
        if each_per_second is None:
            time.sleep(max(0.0, until - time.monotonic()))
        elif each_per_second:
            _ask_in_turn(clients, until, 1 / (each_per_second * len(clients)))
        else:
            _ask_at_once(clients, until, told)

    return attack


def _ask_in_turn(clients: list[Client], until: float, pause: float) -> None:
    due, number = time.monotonic(), 0
    while due < until:
        clients[number % len(clients)].ask_much("db.session.get", session_id=5)
        number, due = number + 1, due + pause
        time.sleep(max(0.0, due - time.monotonic()))


def _ask_at_once(clients: list[Client], until: float, told: Counter[str]) -> None:
    poll = select.epoll()
    known = {client.fileno(): client for client in clients}
    for number, client in known.items():
        poll.register(number, select.EPOLLIN)
        client.send("db.session.get", session_id=5)
    while time.monotonic() < until:
        for number, _ in poll.poll(0.1):
            known[number].read()
            told["answers"] += 1
            known[number].send("db.session.get", session_id=5)


def _burst(path: str, until: float, told: Counter[str]) -> None:
    """A thousand connections at once, again and again; each asks once."""
    while time.monotonic() < until:
        clients = []
        for _ in range(1000):
            try:
                clients.append(Client(path, told))
            except OSError:
                told["refused connects"] += 1
        for client in clients:
            with suppress(OSError):
                client.send("daemon.ping")
        for client in clients:
            try:
                client.read()
                told["answers"] += 1
            except (OSError, Gone):
                told["unanswered"] += 1
            client.close()
        told["bursts"] += 1


def _large_appends(path: str, until: float, told: Counter[str]) -> None:
    """Appends of nearly 8 MiB, one after the other."""
    client = Client(path, told)
    text = "\n".join(messages(3700))[:7_800_000]
    while time.monotonic() < until:
        content = f"{time.time_ns()} {text}"[: 8_388_000 - _escaped(text)]
        client.ask_much("db.messages.append", session_id=5, role="tool", content=content)


def _escaped(text: str) -> int:
    """How many bytes more a text takes as JSON."""
    return len(json.dumps(text)) - len(text) + 200


def _unread(path: str, until: float, told: Counter[str]) -> None:
    """Clients that ask for much and read nothing."""
    clients = [Client(path, told) for _ in range(8)]
    for client in clients[:3]:
        client.send("history.compile", branch=LONG)
    for client in clients[3:]:
        for _ in range(50):
            client.send("db.messages.list", session_id=1, limit=1000)
    time.sleep(max(0.0, until - time.monotonic()))


ATTACKS: dict[str, Attack] = {
    "diff": _repeat("history.diff", a=SHORT, b=MIDDLE),
    "diff of a fork": _repeat("history.diff", a=FORK, b=MIDDLE),
    "compile, whole": _repeat("history.compile", branch=LONG),
    "compile, pages": _follow("history.compile", branch=LONG),
    "compile, 10,000 tokens": _repeat("history.compile", branch=LONG, max_tokens=10_000),
    "log": _follow("history.log", branch=LONG),
    "branches": _repeat("history.branches"),
    "messages": _repeat("db.messages.list", session_id=1, limit=1000, offset=100_000),
    "events": _repeat("events.list", kind=ABSENT),
    "tree": _repeat("spawn.tree", session_id=1),
    "usage": _repeat("usage.show", by=["day", "model"]),
    "zeroblob": _repeat("db.query", sql="SELECT zeroblob(900000000)"),
    "wide rows": _repeat("db.query", sql=_WIDE),
    "unfinished lines": _unfinished,
    "long queries": _long_queries,
    "500 idle": _connections(500, None),
    "500 asking": _connections(500, 2),
    "500 hurrying": _connections(500, 0),
    "burst": _burst,
    "large appends": _large_appends,
    "unread": _unread,
}


def main(name: str, path: str, seconds: float) -> None:
    """Attack, and say what came of it."""
    told: Counter[str] = Counter()
    begun = time.monotonic()
    try:
        ATTACKS[name](path, begun + seconds, told)
    except (Gone, OSError) as error:
        told[f"ended by {type(error).__name__}"] += 1
    told["ms"] = round((time.monotonic() - begun) * 1000)
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
