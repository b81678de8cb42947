"""The comparison of what clients were told with what is in the database.

Everything acknowledged must be there once. What was under way may be there or not, and never twice. Only what is new
since the last comparison is read, so that hundreds of cycles on one database stay cheap; a fresh audit reads it all.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from tests.crash.hands import Crew, Sent

from ramet.client.connection import Connection

Facts = Counter[tuple[Any, ...]]

_LAST = {"efforts": 0, "sessions": 0, "phase_history": 0, "events": 0}

_EVENTS = {
    "db.effort.start": "effort.started",
    "db.effort.phase": "effort.phase",
    "db.effort.finish": "effort.finished",
    "db.session.start": "session.started",
    "db.session.heartbeat": "session.heartbeat",
    "db.session.finish": "session.ended",
    "db.messages.append": "message.appended",
}


class Audit:
    """Compares a crew's ledgers with a database."""

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self._settled = [0] * len(crew.hands)
        self._last = dict(_LAST)
        self.writes = 0

    def compare(self, connection: Connection) -> None:
        """Raise unless the database has exactly what was acknowledged, and at most what is pending besides."""
        told = self._told()
        under_way = facts_of(self._crew.pending())
        found = self._found(connection, told + under_way)
        lost, unasked = told - found, found - (told + under_way)
        assert not lost, f"acknowledged, and not there: {list(lost.items())[:5]}"
        assert not unasked, f"there more often than asked: {list(unasked.items())[:5]}"
        self._compare_ordinals(connection)

    def settle(self, connection: Connection) -> None:
        """Send again what was under way, compare once more, and go on from here."""
        self._crew.repeat_pending(connection)
        self.compare(connection)
        for number, hand in enumerate(self._crew.hands):
            self.writes += len(hand.ledger) - self._settled[number]
            self._settled[number] = len(hand.ledger)
        for table in self._last:
            self._last[table] = _ask(connection, f"SELECT coalesce(max(id), 0) FROM {table}")[0][0]

    def _told(self) -> Facts:
        told: Facts = Counter()
        for hand, start in zip(self._crew.hands, self._settled, strict=True):
            new = hand.ledger[start:]
            told += facts_of(acknowledged.sent for acknowledged in new)
            told += Counter(
                ("ordinal", entry.reply["id"], entry.reply["ordinal"])
                for entry in new
                if entry.sent.method == "db.effort.start"
            )
        return told

    def _found(self, connection: Connection, expected: Facts) -> Facts:
        found: Facts = Counter()
        for effort_id, ordinal, metadata in self._new(connection, "efforts", "id, ordinal, metadata"):
            token = metadata if isinstance(metadata, dict) else json.loads(metadata)
            found["db.effort.start", token["token"]] += 1
            if ("ordinal", effort_id, ordinal) in expected:
                found["ordinal", effort_id, ordinal] += 1
        for (native_id,) in self._new(connection, "sessions", "native_id"):
            found["db.session.start", native_id] += 1
        for effort_id, label in self._new(connection, "phase_history", "effort_id, phase_label"):
            found["db.effort.phase", effort_id, label] += 1
        for kind, effort_id, session_id in self._new(connection, "events", "kind, effort_id, session_id"):
            found += _event(kind, effort_id, session_id)
        for session_id in {fact[1] for fact in expected if fact[0] == "db.messages.append"}:
            messages = connection.call("db.messages.list", {"session_id": session_id})["items"]
            texts = Counter(("db.messages.append", session_id, message["content"]) for message in messages)
            # A session may have begun before the last comparison: its earlier messages were compared then.
            found += Counter({fact: n for fact, n in texts.items() if fact in expected or n > 1})
        return found

    def _new(self, connection: Connection, table: str, columns: str) -> list[list[Any]]:
        return _ask(connection, f"SELECT {columns} FROM {table} WHERE id > ?", self._last[table])

    def _compare_ordinals(self, connection: Connection) -> None:
        gaps = _ask(
            connection,
            "SELECT task_id FROM efforts GROUP BY task_id HAVING count(*) <> max(ordinal) OR min(ordinal) <> 1",
        )
        assert gaps == []


def facts_of(requests: Iterable[Sent]) -> Facts:
    """What a request leaves behind: its row, and its event."""
    facts: Facts = Counter()
    for method, params in requests:
        match method:
            case "db.effort.start":
                facts[method, params["metadata"]["token"]] += 1
            case "db.session.start":
                facts[method, params["native_id"]] += 1
            case "db.effort.phase":
                facts[method, params["effort_id"], params["label"]] += 1
            case "db.messages.append":
                facts[method, params["session_id"], params["content"]] += 1
        if method in ("db.effort.start", "db.session.start"):
            facts["event", _EVENTS[method], None] += 1
        else:
            facts["event", _EVENTS[method], params.get("session_id") or params["effort_id"]] += 1
    return facts


def _event(kind: str, effort_id: int, session_id: int) -> Facts:
    if kind in ("effort.started", "session.started"):
        return Counter([("event", kind, None)])
    if kind not in _EVENTS.values():
        return Counter()
    return Counter([("event", kind, effort_id if kind.startswith("effort.") else session_id)])


def check_whole(connection: Connection, crew: Crew) -> int:
    """Compare everything from the beginning, and let the database verify itself; how many writes were compared."""
    audit = Audit(crew)
    audit.settle(connection)
    report = connection.call("db.check")
    assert report["findings"] == []
    assert report["passed"]
    for session_id, contents in transcripts(crew).items():
        messages = connection.call("db.messages.list", {"session_id": session_id})["items"]
        assert [message["content"] for message in messages] == contents
    efforts = [row[0] for row in _ask(connection, "SELECT ordinal FROM efforts ORDER BY task_id, ordinal")]
    assert efforts == list(range(1, len(efforts) + 1))
    return audit.writes


def transcripts(crew: Crew) -> dict[int, list[str]]:
    """What was said in each session, in the order in which it was acknowledged."""
    said: defaultdict[int, list[str]] = defaultdict(list)
    for hand in crew.hands:
        for method, params in (entry.sent for entry in hand.ledger):
            if method == "db.messages.append":
                said[params["session_id"]].append(params["content"])
    return said


def _ask(connection: Connection, sql: str, *params: int) -> list[list[Any]]:
    rows: list[list[Any]] = connection.call("db.query", {"sql": sql, "params": list(params)})["rows"]
    return rows
