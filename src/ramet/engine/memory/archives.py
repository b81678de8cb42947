"""Importing an archive: its rows become rows here, a few at a time, each once however often it is imported.

A row of another database is known by that database's name and its id there (`archived_keys`), so a repeated or
interrupted import adds only what is missing. Contents and commits are known by their hashes. Work that was queued or
running where the archive was made is over here: two machines must not run it.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ramet.engine.answers import answers, prepares
from ramet.engine.contents import Contents
from ramet.engine.memory.archive_history import HistoryRows, PreparedRow, prepare_row
from ramet.engine.transaction import Transaction
from ramet.errors import ArchiveInvalid
from ramet.model.history.branch import branch_session, session_branch
from ramet.model.history.content import BUILTIN_CONTENT_TYPES
from ramet.model.memory.exports.archive import ArchiveRow
from ramet.model.memory.exports.archive_tables import TABLES, Value
from ramet.protocol.memory.archives import AddArchiveRows, AddedRows
from ramet.store.memory.exports import archive_rows
from ramet.store.record import agents, efforts, sessions

_KEPT = "="
"""Before the id of a session that was here before the archive: it stays as it is."""
_UNFINISHED = "it was not finished when it was exported"


class PreparedRows(Struct, frozen=True):
    """Rows whose texts need no transaction any more."""

    request: AddArchiveRows
    rows: list[PreparedRow]


@prepares(AddArchiveRows)
def prepare(request: AddArchiveRows, contents: Contents) -> PreparedRows:
    """Verify the rows, and redact, hash and compress their texts."""
    return PreparedRows(replace(request, rows=[]), [prepare_row(row, contents) for row in request.rows])


@answers(AddArchiveRows)
def add_rows(tx: Transaction, prepared: PreparedRows) -> AddedRows:
    """Add what is not there yet."""
    rows = _Rows(tx, prepared.request.origin, prepared.request.exported_at)
    for row in prepared.rows:
        rows.add(row)
    if rows.added:
        tx.record("archive.imported", data={"origin": rows.origin, "added": rows.added})
    for session_id, count in rows.spoken.items():
        tx.record("session.ingested", session_id=session_id, data={"origin": rows.origin, "added": count})
    return AddedRows(added=rows.added, known=rows.known, renamed=rows.renamed)


class _Rows:
    """One part of an import."""

    def __init__(self, tx: Transaction, origin: str, exported_at: str) -> None:
        self._tx = tx
        self._db = tx.db
        self.origin = origin
        self._exported_at = exported_at
        self._is_own = archive_rows.own_origin(tx.db) == origin
        self._history = HistoryRows(tx)
        self._keys: dict[tuple[str, str], str] = {}
        self.added: dict[str, int] = {}
        self.known = 0
        self.renamed: dict[str, str] = {}
        self.spoken: dict[int, int] = {}
        """How many messages sessions got."""
        self._special: dict[str, Callable[[ArchiveRow], bool]] = {
            "content_types": self._add_content_type,
            "projects": self._add_project,
            "skills": self._add_skill,
            "tasks": self._add_task,
            "branches": self._add_branch,
            "runs": self._add_run,
            "efforts": self._add_effort,
            "dependencies": self._add_dependency,
            "sessions": self._add_session,
            "moves": self._add_move,
            "effort_links": self._link_effort,
            "messages": self._add_message,
            "budgets": self._add_budget,
            "notices": self._add_notice,
            "spawn_pointers": self._add_spawn,
            "collapses": self._add_collapse,
        }

    def add(self, prepared: PreparedRow) -> None:
        """Add one row, unless it is there."""
        row = prepared.row
        try:
            if self._history.has(row.table):
                is_new = self._history.add(prepared)
            else:
                is_new = self._special.get(row.table, self._add_plain)(row)
        except KeyError as error:
            raise ArchiveInvalid(f"{row.table}: {error.args[0]} is not known", field=row.table) from error
        if is_new:
            self.added[row.table] = self.added.get(row.table, 0) + 1
        else:
            self.known += 1

    def _find(self, subject: str, key: Value) -> str | None:
        kept = self._keys.get((subject, str(key)))
        if kept is None:
            kept = archive_rows.find_key(self._db, self.origin, subject, key)
            if kept is not None:
                self._keys[subject, str(key)] = kept
        return kept

    def _keep(self, subject: str, key: Value, local: object) -> None:
        archive_rows.keep_key(self._db, self.origin, subject, key, local)
        self._keys[subject, str(key)] = str(local)

    def _local(self, subject: str, key: Value) -> Any:
        """The row here that a row of the archive refers to; None stays None."""
        if key is None:
            return None
        if subject == "commits":
            return self._history.commit_id(str(key))
        if subject == "agents":
            if agents.find(self._db, str(key)) is None:
                raise KeyError(f"agent {key}")
            return key
        found = self._find(subject, key)
        if found is None:
            raise KeyError(f"{subject} {key}")
        if subject in ("branches", "tasks"):
            return found
        return int(found.removeprefix(_KEPT))

    def _values(self, row: ArchiveRow) -> dict[str, Any]:
        """The values of a row that refer to rows of this database."""
        values: dict[str, Any] = dict(row.values)
        for column in TABLES[row.table].references:
            values[column.name] = self._local(column.refers_to or "", values[column.name])
        return values

    def _is_of_kept_session(self, row: ArchiveRow) -> bool:
        session_id = row.values.get("session_id")
        return session_id is not None and (self._find("sessions", session_id) or "").startswith(_KEPT)

    def _recognise(self, row: ArchiveRow) -> str | None:
        """The row here that a row of the archive is: known by an archive before, or because it left from here."""
        subject, row_id = row.table, row.values["id"]
        found = self._find(subject, row_id)
        if found is not None:
            return found
        own = archive_rows.own_origin(self._db)
        for origin, foreign_key in [*row.identities, (self.origin, str(row_id))]:
            local = archive_rows.find_key(self._db, origin, subject, foreign_key)
            if local is None and origin == own and foreign_key.isdecimal():
                is_here = archive_rows.has_row(self._db, subject, int(foreign_key), row.values["created_at"])
                local = foreign_key if is_here else None
            if local is not None:
                self._keep(subject, row_id, local)
                return local
        return None

    def _remember(self, row: ArchiveRow, local_id: int) -> None:
        self._keep(row.table, row.values["id"], local_id)
        for origin, foreign_key in row.identities:
            archive_rows.keep_key(self._db, origin, row.table, foreign_key, local_id)

    def _add_plain(self, row: ArchiveRow) -> bool:
        if self._is_of_kept_session(row):
            return False
        return archive_rows.add(self._db, row.table, self._values(row)) is not None

    def _add_content_type(self, row: ArchiveRow) -> bool:
        return row.values["name"] not in BUILTIN_CONTENT_TYPES and self._add_plain(row)

    def _add_project(self, row: ArchiveRow) -> bool:
        path = row.values["path"]
        if self._find("projects", path) is not None:
            return False
        found = archive_rows.find_project(self._db, path, row.values["remote"])
        local = found.id if found is not None else archive_rows.add(self._db, "projects", dict(row.values))
        self._keep("projects", path, local)
        return found is None

    def _add_skill(self, row: ArchiveRow) -> bool:
        if self._find("skills", row.values["id"]) is not None:
            return False
        values = self._values(row)
        skill_id = archive_rows.add(self._db, "skills", _without(values, "id"))
        found = skill_id or archive_rows.find_skill(self._db, values["project"], values["name"])
        self._keep("skills", row.values["id"], found)
        return skill_id is not None

    def _add_task(self, row: ArchiveRow) -> bool:
        if self._find("tasks", row.values["dir_path"]) is not None:
            return False
        is_new = archive_rows.add(self._db, "tasks", self._values(row)) is not None
        self._keep("tasks", row.values["dir_path"], row.values["dir_path"])
        return is_new

    def _add_branch(self, row: ArchiveRow) -> bool:
        name, created_ms = str(row.values["name"]), int(row.values["created_ms"] or 0)
        head_id = self._local("commits", row.values["head"])
        known = self._find("branches", name)
        if known is not None:
            return self._history.advance(known, head_id)
        local = self._own_branch(row)
        if local is None:
            local = self._history.create_branch(self._free_name(name, head_id), head_id, created_ms)
            if local != name and branch_session(name) is None:
                self.renamed[name] = local
            self._keep("branches", name, local)
            return True
        self._keep("branches", name, local)
        return self._history.advance(local, head_id)

    def _own_branch(self, row: ArchiveRow) -> str | None:
        """The branch itself, if it once left from here, or came here by another archive, and is still there."""
        own = archive_rows.own_origin(self._db)
        for origin, name in [(self.origin, str(row.values["name"])), *row.identities]:
            local = name if origin == own else archive_rows.find_key(self._db, origin, "branches", name)
            if local is not None and self._history.has_branch(local):
                return local
        return None

    def _free_name(self, name: str, head_id: int | None) -> str:
        """A name that no other branch has. A session's branch is named after its session, which follows."""
        if branch_session(name) is None and self._history.is_free(name, head_id):
            return name
        changed = f"imported/{self.origin[:8]}/{name}"
        number = 2
        while not self._history.is_free(changed, head_id):
            changed = f"imported/{self.origin[:8]}-{number}/{name}"
            number += 1
        return changed

    def _add_run(self, row: ArchiveRow) -> bool:
        if self._recognise(row) is not None:
            return False
        values = self._values(row)
        if values["finished_at"] is None:
            values |= {"finished_at": self._exported_at, "reason": values["reason"] or _UNFINISHED}
        self._remember(row, self._must_add("runs", _without(values, "id")))
        return True

    def _must_add(self, table: str, values: dict[str, Any]) -> int:
        row_id = archive_rows.add(self._db, table, values)
        if row_id is None:
            raise KeyError(table)
        return row_id

    def _add_effort(self, row: ArchiveRow) -> bool:
        if self._recognise(row) is not None:
            return False
        values = self._values(row)
        values["ordinal"] = efforts.next_ordinal(self._db, values["task_id"])
        if values["lifecycle"] != "finished":
            values |= {"lifecycle": "finished", "finished_at": self._exported_at, "outcome": "dropped"}
            values["reason"] = values["reason"] or _UNFINISHED
        self._remember(row, self._must_add("efforts", _without(values, "id")))
        return True

    def _add_dependency(self, row: ArchiveRow) -> bool:
        values = self._values(row)
        is_new = archive_rows.add(self._db, "dependencies", values) is not None
        if is_new:
            archive_rows.name_dependencies(self._db, values["effort_id"])
        return is_new

    def _add_session(self, row: ArchiveRow) -> bool:
        if self._recognise(row) is not None:
            return False
        values = self._values(row)
        if values["native_id"] is not None:
            same = sessions.find_native(self._db, values["driver"], values["native_id"])
            if same is not None:
                self._keep("sessions", row.values["id"], f"{_KEPT}{same.id}")
                return False
        session_id = archive_rows.next_session_id(self._db)
        values |= {"id": session_id, "root_session_id": values["root_session_id"] or session_id}
        if values["ended_at"] is None:
            values |= {"ended_at": self._exported_at, "outcome": "dropped"}
        if branch_session(str(row.values["branch"])) is not None:
            archive_rows.rename_branch(self._db, values["branch"], session_branch(session_id))
            values["branch"] = session_branch(session_id)
            archive_rows.change_key(self._db, self.origin, "branches", row.values["branch"], values["branch"])
            self._keys["branches", str(row.values["branch"])] = values["branch"]
        self._must_add("sessions", values)
        self._remember(row, session_id)
        return True

    def _add_move(self, row: ArchiveRow) -> bool:
        if self._find("moves", row.values["id"]) is not None:
            return False
        values = self._values(row)
        values["branch"] = self._find("branches", row.values["branch"]) or row.values["branch"]
        found = archive_rows.find_move(self._db, values)
        self._keep("moves", row.values["id"], found or self._must_add("moves", _without(values, "id")))
        return found is None

    def _link_effort(self, row: ArchiveRow) -> bool:
        return archive_rows.link_effort(self._db, self._values(row))

    def _add_message(self, row: ArchiveRow) -> bool:
        is_new = self._add_plain(row)
        if is_new:
            session_id = self._local("sessions", row.values["session_id"])
            self.spoken[session_id] = self.spoken.get(session_id, 0) + 1
        return is_new

    def _add_budget(self, row: ArchiveRow) -> bool:
        if self._is_of_kept_session(row):
            return False
        values = self._values(row)
        values["root_session_id"] = values["root_session_id"] or values["session_id"]
        return archive_rows.add(self._db, "budgets", values) is not None

    def _add_notice(self, row: ArchiveRow) -> bool:
        values = self._values(row)
        # The keys of this database's own notices have the ids of its own efforts.
        if not (self._is_own or str(values["dedupe_key"]).startswith("imported/")):
            values["dedupe_key"] = f"imported/{self.origin}/{values['dedupe_key']}"
        return archive_rows.add(self._db, "notices", values) is not None

    def _add_spawn(self, row: ArchiveRow) -> bool:
        if self._find("spawn_pointers", row.values["id"]) is not None:
            return False
        values = self._values(row)
        values["parent_branch"] = self._find("branches", row.values["parent_branch"]) or row.values["parent_branch"]
        spawn_id = archive_rows.add(self._db, "spawn_pointers", _without(values, "id"))
        self._keep(
            "spawn_pointers",
            row.values["id"],
            spawn_id or archive_rows.find_spawn(self._db, values["child_branch"]),
        )
        return spawn_id is not None

    def _add_collapse(self, row: ArchiveRow) -> bool:
        return archive_rows.add(self._db, "collapses", self._values(row)) is not None


def _without(values: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != name}
