"""Repairs after a salvage: rows that lead to something lost get a stand-in, or the pointer is cut.

A message must not be lost because the page with its session is. So lost parents of what people and agents said are
made again, with nothing in them but a note of what has happened. Lost contents become tombstones, as purged ones are:
hashes stay, and so a history can still be verified.
"""

import hashlib
from collections.abc import Callable
from typing import Any

import apsw
from msgspec import Struct

from ramet.model.history.commit import hash_content
from ramet.store.database.blobs import PURGED, Codec

REASON = "lost: the database was damaged"
_BY = "ramet db salvage"
_PLACE = "/lost"
"""The directory of what was lost, as a project and a task."""
_ROUNDS = 10


class Repairs(Struct, frozen=True, kw_only=True):
    """What was repaired."""

    contents: int = 0
    """Contents that are lost. Their messages are there without a text."""
    stand_ins: dict[str, int] = {}
    """Rows that were made in the place of lost ones, by table."""
    cut: dict[str, int] = {}
    """Pointers to lost rows that were removed, by table."""
    removed: dict[str, int] = {}
    """Rows that mean nothing without the row that they lead to, by table."""


def repair(database: apsw.Connection, now: str) -> Repairs:
    """Repair contents and pointers."""
    return _Repairer(database, now).run()


class _Repairer:
    def __init__(self, database: apsw.Connection, now: str) -> None:
        self._db = database
        self._now = now
        self._stand_ins: dict[str, int] = {}
        self._cut: dict[str, int] = {}
        self._removed: dict[str, int] = {}

    def run(self) -> Repairs:
        contents = self._bury_contents() + self._replace_contents()
        for _ in range(_ROUNDS):
            astray = self._db.execute("PRAGMA foreign_key_check").fetchall()
            for table, rowid, parent, number in astray:
                self._mend(str(table), rowid, str(parent), int(number))  # type: ignore[arg-type]
            if not astray:
                break
        return Repairs(contents=contents, stand_ins=self._stand_ins, cut=self._cut, removed=self._removed)

    def _bury_contents(self) -> int:
        """Contents that are not what their hash says."""
        codec, lost = Codec(), 0
        for rowid, blob_hash, kind, size in self._rows(
            "SELECT id, hash, codec, size FROM blobs WHERE codec <> ?", PURGED
        ):
            ((data,),) = self._rows("SELECT data FROM blobs WHERE id = ?", rowid)
            try:
                content = codec.unpack(kind, size, data)
            except ValueError:
                content = None
            if content is None or hash_content(content) != blob_hash:
                self._db.execute("UPDATE blobs SET codec = ?, data = x'' WHERE id = ?", (PURGED, rowid))
                self._bury("blob", blob_hash, size)
                lost += 1
        return lost

    def _replace_contents(self) -> int:
        """Contents whose row is lost: only their number is known, from the commits that lead to them."""
        missing = self._rows(
            "SELECT DISTINCT blob_id FROM commits LEFT JOIN blobs ON blobs.id = blob_id WHERE blobs.id IS NULL"
        )
        for (blob_id,) in missing:
            stand_in = hashlib.sha256(f"{_BY} {self._now} {blob_id}".encode()).digest()
            self._db.execute(
                "INSERT INTO blobs (id, hash, codec, size, data) VALUES (?, ?, ?, 0, x'')", (blob_id, stand_in, PURGED)
            )
            self._bury("blob", stand_in, 0)
            for (commit_hash,) in self._rows("SELECT hash FROM commits WHERE blob_id = ?", blob_id):
                self._bury("commit", commit_hash, 0)
        return len(missing)

    def _bury(self, subject: str, blob_hash: Any, size: int) -> None:
        self._db.execute(
            "INSERT OR IGNORE INTO tombstones (subject, hash, size, purged_by, purged_at, reason) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (subject, blob_hash, size, _BY, self._now, REASON),
        )

    def _mend(self, table: str, rowid: int | None, parent: str, number: int) -> None:
        """One row that leads to a row that is not there."""
        keys = self._rows(f"PRAGMA foreign_key_list({table})")
        key = next(each for each in keys if each[0] == number)
        column, on_delete = key[3], key[6]
        found = self._rows(f"SELECT {column} FROM {table} WHERE rowid = ?", rowid)  # noqa: S608
        if not found or found[0][0] is None:
            return  # another repair has settled it
        if on_delete == "SET NULL":
            self._db.execute(f"UPDATE {table} SET {column} = NULL WHERE rowid = ?", (rowid,))  # noqa: S608
            _count(self._cut, table)
        elif parent in _STAND_INS:
            _STAND_INS[parent](self, found[0][0])
        else:
            self._db.execute(f"DELETE FROM {table} WHERE rowid = ?", (rowid,))  # noqa: S608
            _count(self._removed, table)

    def make_project(self, project_id: int) -> None:
        self._make("projects", id=project_id, path=f"{_PLACE}/project-{project_id}")

    def make_task(self, path: str) -> None:
        near = self._rows(
            "SELECT id FROM projects WHERE ? LIKE path || '/%' ORDER BY length(path) DESC LIMIT 1", path
        ) or self._rows("SELECT id FROM projects WHERE path = ?", _PLACE)
        if not near:
            self._make("projects", path=_PLACE)
            near = self._rows("SELECT id FROM projects WHERE path = ?", _PLACE)
        self._make("tasks", dir_path=path, project_id=near[0][0])

    def make_effort(self, effort_id: int) -> None:
        known = self._rows(
            "SELECT task_id FROM sessions WHERE effort_id = ? UNION ALL "
            "SELECT task_id FROM events WHERE effort_id = ? AND task_id IS NOT NULL LIMIT 1",
            effort_id,
            effort_id,
        )
        task = known[0][0] if known else _PLACE
        if not self._rows("SELECT 1 FROM tasks WHERE dir_path = ?", task):
            self.make_task(task)
        ((ordinal,),) = self._rows("SELECT coalesce(max(ordinal), 0) + 1 FROM efforts WHERE task_id = ?", task)
        self._make(
            "efforts",
            id=effort_id,
            task_id=task,
            skill="do",
            ordinal=ordinal,
            lifecycle="finished",
            finished_at=self._now,
            outcome="error",
            reason=REASON,
        )

    def make_session(self, session_id: int) -> None:
        """It ends at once: nobody can say whether it was open."""
        known = self._rows(
            "SELECT effort_id FROM events WHERE session_id = ? AND effort_id IS NOT NULL LIMIT 1", session_id
        ) or self._rows("SELECT id FROM efforts WHERE task_id = ? AND reason = ?", _PLACE, REASON)
        if known:
            effort_id = known[0][0]
        else:
            ((effort_id,),) = self._rows("SELECT coalesce(max(id), 0) + 1 FROM efforts")
        if not self._rows("SELECT 1 FROM efforts WHERE id = ?", effort_id):
            self.make_effort(effort_id)
        ((task,),) = self._rows("SELECT task_id FROM efforts WHERE id = ?", effort_id)
        branch = f"lost/session-{session_id}"
        self.make_branch(branch, session_id)
        self._make(
            "sessions",
            id=session_id,
            task_id=task,
            effort_id=effort_id,
            root_session_id=session_id,
            branch=branch,
            ended_at=self._now,
            outcome="error",
            notes=REASON,
        )

    def make_branch(self, name: str, session_id: int | None = None) -> None:
        """At the last commit of the session's messages that is there."""
        if session_id is None:
            of = self._rows("SELECT id FROM sessions WHERE branch = ?", name)
            session_id = of[0][0] if of else None
        last = self._rows(
            "SELECT commit_id FROM messages WHERE session_id = ? AND commit_id IN (SELECT id FROM commits) "
            "ORDER BY id DESC LIMIT 1",
            session_id,
        )
        self._make("branches", name=name, commit_id=last[0][0] if last else None, created_ms=0)

    def make_segment(self, segment_id: int) -> None:
        self._make("segments", id=segment_id)

    def _make(self, table: str, **values: Any) -> None:
        names, places = ", ".join(values), ", ".join("?" * len(values))
        self._db.execute(f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({places})", tuple(values.values()))  # noqa: S608
        if self._db.changes():
            _count(self._stand_ins, table)

    def _rows(self, sql: str, *values: Any) -> list[Any]:
        return self._db.execute(sql, values).fetchall()


def _count(counts: dict[str, int], table: str) -> None:
    counts[table] = counts.get(table, 0) + 1


_STAND_INS: dict[str, Callable[[_Repairer, Any], None]] = {
    "projects": _Repairer.make_project,
    "tasks": _Repairer.make_task,
    "efforts": _Repairer.make_effort,
    "sessions": _Repairer.make_session,
    "branches": _Repairer.make_branch,
    "segments": _Repairer.make_segment,
}
