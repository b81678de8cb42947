"""The lines of an archive: every row of a scope, in an order in which each refers only to rows before it."""

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from ramet.model.history.content import IMAGES
from ramet.model.memory.exports.archive import FORMAT, VERSION, ArchiveRow, End, Header, encode, short_key
from ramet.model.memory.exports.archive_tables import TABLES, Value
from ramet.store.database.blobs import PURGED, Codec
from ramet.store.database.connection import Connection, Row
from ramet.store.database.queries import QueryFile
from ramet.store.history import images
from ramet.store.memory.exports.scope import Scope, find_commits

_sql = QueryFile("memory/archives")

_PAGE = 500
_IDENTIFIED = {"efforts", "sessions", "runs", "branches"}
"""Rows that say where they came from, so that an archive of an archive's copy is recognised."""


class ArchiveLines:
    """Writes the rows of one scope. Of what it has written it remembers 64 bits for each name."""

    def __init__(self, db: Connection, codec: Codec, scope: Scope, *, exported_by: str) -> None:
        self._db = db
        self._codec = codec
        self._scope = scope
        self._header = Header(
            format=FORMAT,
            version=VERSION,
            origin=str(db.must(_sql.origin)[0]),
            exported_at=str(db.must(_sql.now)[0]),
            exported_by=exported_by,
            scope=scope.label,
        )
        self._known: dict[str, set[int]] = {name: set() for name, table in TABLES.items() if table.key}
        self._complete = {"commits", "blobs"} if scope.is_everything else set[str]()
        """Tables whose rows are all in the archive, so that none has to be remembered."""
        self._images: set[str] = set()
        self.counts: dict[str, int] = {}

    def lines(self) -> Iterator[bytes]:
        """Every line, the first and the last included."""
        digest = hashlib.sha256()
        first = encode(self._header)
        digest.update(first)
        yield first
        for row in self._rows():
            self.counts[row.table] = self.counts.get(row.table, 0) + 1
            line = encode(row)
            digest.update(line)
            yield line
        yield encode(End(counts=self.counts, sha256=digest.hexdigest()))

    def _rows(self) -> Iterator[ArchiveRow]:
        scope = self._scope
        yield from self._table("content_types")
        for table, names in (
            ("projects", scope.projects),
            ("skills", scope.projects),
            ("skill_texts", scope.projects),
            ("tasks", scope.tasks),
            ("agents", scope.agents),
        ):
            yield from self._tables(table, names)
        yield from self._history()
        for table, names in (
            ("branches", scope.branches),
            ("runs", scope.runs),
            ("efforts", scope.efforts),
            ("dependencies", scope.efforts),
            ("phase_history", scope.efforts),
            ("sessions", scope.sessions),
            ("moves", scope.branches),
            ("effort_links", scope.efforts),
        ):
            yield from self._tables(table, names)
        for session_id in scope.sessions:
            yield from self._messages(session_id)
        for table in ("usage", "usage_times", "budgets", "refused_calls", "discoveries", "thoughts"):
            yield from self._tables(table, scope.sessions)
        yield from self._tables("findings", scope.runs)
        yield from self._tables("notices", scope.efforts)
        spawns: list[int] = []
        for row in self._tables("spawn_pointers", scope.branches):
            spawns.append(int(row.values["id"] or 0))
            yield row
        yield from self._tables("collapses", spawns)

    def _tables(self, table: str, names: Iterable[Any]) -> Iterator[ArchiveRow]:
        for name in names:
            yield from self._table(table, id=name)

    def _table(self, table: str, **params: Any) -> Iterator[ArchiveRow]:
        query = _sql.all[f"read_{table}"]
        rows = self._db.all(query, **params)
        columns = self._db.columns(query) if rows else ()
        for row in rows:
            made = self._row(table, columns, row)
            if made is not None:
                yield made

    def _row(self, table: str, columns: Iterable[str], row: Row) -> ArchiveRow | None:
        """A row without the names of rows that are not in the archive; None if it is nothing without them."""
        values: dict[str, Value] = {name: _plain(value) for name, value in zip(columns, row, strict=True)}
        for column in TABLES[table].references:
            value, target = values[column.name], column.refers_to or ""
            if value is not None and target not in self._complete and short_key(value) not in self._known[target]:
                if not column.is_optional:
                    return None
                values[column.name] = None
        key = TABLES[table].key
        if key is not None and table not in self._complete:
            self._known[table].add(short_key(values[key]))
        identities = self._identities(table, values[key]) if key is not None and table in _IDENTIFIED else []
        return ArchiveRow(table=table, values=values, identities=identities)

    def _identities(self, table: str, row_id: Value) -> list[tuple[str, str]]:
        rows = self._db.all(_sql.identities, subject=table, local_key=str(row_id))
        return [(origin, foreign_key) for origin, foreign_key in rows]

    def _messages(self, session_id: int) -> Iterator[ArchiveRow]:
        after = 0
        while rows := self._db.all(_sql.read_messages, id=session_id, after=after, limit=_PAGE):
            *columns, _ = self._db.columns(_sql.read_messages)
            for *row, message_id in rows:
                made = self._row("messages", columns, tuple(row))
                if made is not None:
                    yield made
                after = message_id

    def _history(self) -> Iterator[ArchiveRow]:
        """Tombstones before what they stand for, contents before the commits that carry them."""
        commits, blobs = find_commits(self._db, self._scope)
        if self._scope.is_everything:
            yield from (self._must_row("tombstones", row) for row in self._db.all(_sql.free_tombstones))
        else:
            yield from self._tombstones("blob", (self._db.must(_sql.read_blob, id=each)[0] for each in blobs))
            yield from self._tombstones("commit", (self._commit(each)[0] for each in commits))
        for blob_id in blobs:
            yield self._blob(blob_id)
        for commit_id in commits:
            self._note_images(self._commit(commit_id))
        yield from self._image_rows()
        for commit_id in commits:
            row = self._commit(commit_id)
            tags = [tag for (tag,) in self._db.all(_sql.read_tags, id=commit_id)]
            names = [column.name for column in TABLES["commits"].columns]
            yield self._must_row("commits", (*row, msgspec.json.encode(tags).decode() if tags else None), names)

    def _commit(self, commit_id: int) -> Row:
        return self._db.must(_sql.read_commits, id=commit_id)

    def _must_row(self, table: str, row: Row, names: list[str] | None = None) -> ArchiveRow:
        made = self._row(table, names or [column.name for column in TABLES[table].columns], row)
        assert made is not None, f"a row of {table} refers to a row that is not there"  # noqa: S101
        return made

    def _tombstones(self, subject: str, hashes: Iterable[bytes]) -> Iterator[ArchiveRow]:
        for each in hashes:
            yield from self._table("tombstones", subject=subject, hash=bytes(each))

    def _blob(self, blob_id: int) -> ArchiveRow:
        blob_hash, kind, size, data = self._db.must(_sql.read_blob, id=blob_id)
        text = None if kind == PURGED else self._codec.unpack_text(kind, size, data)
        return self._must_row("blobs", (blob_hash, size, text))

    def _note_images(self, commit: Row) -> None:
        metadata = dict(zip((column.name for column in TABLES["commits"].columns), commit, strict=False))["metadata"]
        if metadata is not None and IMAGES in metadata:
            named = msgspec.json.decode(metadata).get(IMAGES)
            self._images.update(each for each in named if isinstance(each, str)) if isinstance(named, list) else None

    def _image_rows(self) -> Iterator[ArchiveRow]:
        for name in sorted(self._images):
            image = images.find(self._db, bytes.fromhex(name))
            if image is not None:
                yield self._must_row("images", (image.hash, image.media_type, b64encode(image.data).decode()))


def _plain(value: Any) -> Value:
    return bytes(value).hex() if isinstance(value, bytes | memoryview) else value
