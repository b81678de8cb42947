"""Imports of earlier systems: every row of a source is kept as it is, and becomes the rows that Ramet has for it.

A source has a branch of its own, `imported/SYSTEM/SOURCE`, with one commit for each row, which holds every column. So
nothing is lost, whatever Ramet's tables have a place for. The event of a row names what it became. It carries a key
that is unique, so a row is imported once, however often and from wherever its source is read.
"""

from typing import Any

from msgspec import Struct

from ramet.engine.answers import answers, prepares
from ramet.engine.contents import Contents, Prepared
from ramet.engine.memory.predecessors.imported_commits import CommitWriter
from ramet.engine.memory.predecessors.imported_rows import ImportedRow, KnownRows, PreparedRow, ReadyRow, make_ready
from ramet.engine.memory.predecessors.imported_work import WorkWriter
from ramet.engine.transaction import Transaction
from ramet.model.history.branch import Head
from ramet.model.history.commit import CommitFacts
from ramet.model.history.content import MetadataContent, pack
from ramet.model.memory.predecessor import ImportedBranch, NewSession, SourceRow
from ramet.protocol.memory.predecessors import ImportedRows, ImportRows
from ramet.store.history import segments
from ramet.store.history.segments import NewCommit
from ramet.store.memory import predecessors


class PreparedRows(Struct, frozen=True):
    """Rows whose texts need no transaction any more."""

    request: ImportRows
    rows: list[PreparedRow]


@prepares(ImportRows)
def prepare(request: ImportRows, contents: Contents) -> PreparedRows:
    """Hash and compress what is imported; the request has no secrets any more."""
    return PreparedRows(request, [_prepare(row, contents) for row in request.rows])


def _prepare(row: SourceRow, contents: Contents) -> PreparedRow:
    record = None
    if row.values is not None:
        # The same row packs to the same text, so that it has the same hash when it is read again.
        packed = pack(MetadataContent(kind=f"{row.table} {row.key}", data=row.values))
        record = contents.prepare(packed.text, {"imported": {"table": row.table, "key": row.key}})
    return PreparedRow(row, record, [make_ready(new, contents) for new in row.becomes])


@answers(ImportRows)
def import_rows(tx: Transaction, prepared: PreparedRows) -> ImportedRows:
    """Write the rows that are new, in one transaction."""
    request = prepared.request
    importing = _Import(tx, KnownRows(tx, request.system, request.source))
    for row in prepared.rows:
        importing.put(row)
    importing.close()
    return importing.reply()


class _Import:
    """The rows of one request on their way into the database."""

    def __init__(self, tx: Transaction, rows: KnownRows) -> None:
        self._tx = tx
        self._rows = rows
        self._commits = CommitWriter(rows)
        self._work = WorkWriter(rows)
        self._branch = f"imported/{rows.system}/{rows.source}"
        self._head = self._take_head()
        self._counts = dict.fromkeys(("new", "known", "changed", "kept"), 0)
        self._added: dict[str, int] = {}

    def _take_head(self) -> Head:
        # Taken first: whoever imports the same source at the same time waits here, and then finds the rows.
        found = segments.take_head(self._tx.db, self._branch)
        if found is not None:
            return found
        self._tx.record("branch.created", data={"branch": self._branch})
        return Head(segments.create_branch(self._tx.db, self._branch, None, self._tx.now_ms), None, 0, None, None, 0)

    def put(self, row: PreparedRow) -> None:
        """Write one row, unless it was written before."""
        key = self._rows.key_of(f"{row.source.table}:{row.source.key}")
        digest = "" if row.record is None else row.record.blob.hash.hex()
        known = predecessors.find_imported(self._tx.db, key)
        if known is None:
            self._add(row, key, digest)
        elif known["digest"] == digest or predecessors.find_imported(self._tx.db, f"{key}#{digest}") is not None:
            self._counts["known"] += row.record is not None
            for ready in row.becomes:
                if isinstance(ready.row, NewSession):
                    self._work.link(ready.row)
        else:
            self._change(row, f"{key}#{digest}", digest)

    def _add(self, row: PreparedRow, key: str, digest: str) -> None:
        became = ImportedRow()
        # Before it is written: a row may become several, and the later ones name it.
        self._rows.remember(f"{row.source.table}:{row.source.key}", became)
        for new in row.becomes:
            self._write(new, became)
        self._counts["new"] += row.record is not None
        self._counts["kept"] += row.record is not None and not became.rows
        for kind in became.added:
            self._added[kind] = self._added.get(kind, 0) + 1
        self._keep(row.record)
        self._tell(row, key, digest, became)

    def _write(self, ready: ReadyRow, became: ImportedRow) -> None:
        if not self._commits.write(ready, became):
            self._work.write(ready.row, became)

    def _change(self, row: PreparedRow, key: str, digest: str) -> None:
        """Keep the new values. A branch follows its source; other rows stay as they were when they were imported."""
        became = ImportedRow()
        for new in row.becomes:
            if isinstance(new.row, ImportedBranch):
                self._write(new, became)
        self._counts["changed"] += 1
        self._keep(row.record)
        self._tell(row, key, digest, became)

    def _keep(self, record: Prepared | None) -> None:
        """Put a row as it is behind the rows before it."""
        if record is None:
            return
        facts = CommitFacts(
            content_hash=record.blob.hash,
            content_type="metadata",
            role="system",
            author=self._rows.system,
            parent=self._head.commit_hash,
            metadata=record.metadata,
        )
        new = NewCommit(facts=facts, blob=record.blob, tokens=record.tokens)
        self._head = segments.put(self._tx.db, self._head, new, self._tx.now_ms).as_head(self._head.branch_id)

    def _tell(self, row: PreparedRow, key: str, digest: str, became: ImportedRow) -> None:
        scope: dict[str, Any] = {
            "project_id": became.rows.get("project"),
            "task_id": became.rows.get("task"),
            "effort_id": became.rows.get("effort"),
            "session_id": became.rows.get("session"),
        }
        data = {"table": row.source.table, "key": row.source.key, "digest": digest, "rows": became.rows}
        self._tx.record("row.imported", dedupe_key=key, data=data, **scope)

    def close(self) -> None:
        """Let the source's branch point at its newest row."""
        segments.move(self._tx.db, self._head.branch_id, self._head.commit_id)

    def reply(self) -> ImportedRows:
        return ImportedRows(**self._counts, added=self._added)
