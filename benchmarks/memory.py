"""The daemon's memory with a large database under load: how much, and whether it grows."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.corpus import messages
from benchmarks.daemons import make_sessions, places_in, running
from benchmarks.harness import Row, scratch
from ramet.client.connection import Connection
from ramet.clock import SystemClock
from ramet.config.settings import DatabaseSettings
from ramet.engine import Engine
from ramet.engine.transaction import Rules
from ramet.faults import Faults
from ramet.model.redaction import Redactor
from ramet.protocol.operations import OPERATIONS
from ramet.protocol.record.messages import AppendMessage
from ramet.store import open_store
from ramet.store.database.blobs import Codec

_SESSIONS = 200
_LIMIT_MB = 200.0


def measure(thorough: bool) -> Iterator[Row]:
    """Fill a database, then load the daemon on it with readers and writers and watch its resident memory."""
    count, rounds, seconds = (1_000_000, 6, 20.0) if thorough else (50_000, 3, 3.0)
    with scratch() as folder:
        places = places_in(folder)
        with running(places):
            sessions = make_sessions(places.socket, _SESSIONS)
        _fill(folder, sessions, count)
        with running(places):
            readings = [_resident_mb_after_load(places.socket, sessions, seconds) for _ in range(rounds)]
    highest = max(readings)
    details = {"messages": count, "first_mb": readings[0], "last_mb": readings[-1], "load_seconds": rounds * seconds}
    what = f"daemon memory, {count:,} messages, {_SESSIONS} sessions"
    yield Row(what, "MB resident", "<= 200", highest, highest <= _LIMIT_MB, details)
    growth = readings[-1] / readings[0]
    yield Row("the same, last reading / first", "itself", "<= 1.1", growth, growth <= 1.1)


def _fill(folder: Path, sessions: list[int], count: int) -> None:
    clock, engine = SystemClock(), Engine(Rules(), codec=Codec(), redactor=Redactor())
    settings = DatabaseSettings(durability="process")
    store = open_store(settings, places_in(folder), clock=clock, faults=Faults())
    db, operation, texts = store.connect(), OPERATIONS["db.messages.append"], messages(2000)
    for start in range(0, count, 1000):
        db.begin()
        for number in range(start, min(start + 1000, count)):
            text = f"{number} {texts[number % len(texts)]}"
            request = AppendMessage(session_id=sessions[number % len(sessions)], role="user", content=text)
            engine.perform(db, engine.prepare(operation, request, "user"), clock.now_ms())
        db.commit()
    store.close()


def _resident_mb_after_load(socket: Path, sessions: list[int], seconds: float) -> float:
    command = [sys.executable, "-m", "benchmarks.load", str(socket), str(seconds), *map(str, sessions)]
    answered = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=300).stdout)
    assert not answered["errors"]
    with Connection(str(socket), 30) as connection:
        for session in sessions[:50]:
            connection.call("db.messages.list", {"session_id": session, "limit": 1000})
        resident: int = connection.call("daemon.status", {})["resident_bytes"]
    return round(resident / 1e6, 1)
