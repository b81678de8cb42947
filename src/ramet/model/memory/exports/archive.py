"""An archive: a part of a database, or all of it, as lines of JSON that another database can take in.

The first line says what the file is, each further line is one row (`archive_tables`), and the last line has the counts
and the hash of all lines before it. Whoever reads an archive verifies it whole before the first row is written: a
content has to have the hash that names it, a commit too, and a row may only refer to rows before it, so no cycle and no
missing row gets through.
"""

import hashlib
from base64 import b64decode
from collections.abc import Callable
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ramet.errors import ArchiveInvalid, ArchiveVersion
from ramet.model.history.commit import CommitFacts, hash_commit, hash_content
from ramet.model.memory.exports.archive_tables import TABLES, Column, Kind, Table, Value

FORMAT = "ramet-archive"
VERSION = 1
LONGEST_LINE_BYTES = 64 * 1024 * 1024
"""A longer line is refused before it is read whole."""

_HASH_DIGITS = 64
_KEY_BYTES = 8
_HEX = "0123456789abcdef"


class Header(Struct, frozen=True, kw_only=True):
    """The first line."""

    format: str
    version: int
    origin: str
    """The name of the database that it comes from."""
    exported_at: str
    exported_by: str
    """The version of Ramet."""
    scope: str
    """What was exported: `all`, or a name such as s7."""


class ArchiveRow(Struct, frozen=True, kw_only=True):
    """One row."""

    table: str
    values: dict[str, Value]
    identities: list[tuple[str, str]] = []
    """The databases that the row came from before, and what it was there."""


class End(Struct, frozen=True, kw_only=True):
    """The last line."""

    end: Literal[True] = True
    counts: dict[str, int]
    sha256: str
    """Of the bytes of all lines before this one."""


class Line(Struct, frozen=True):
    """A line of a file, read so far that its kind is known."""

    table: str | None = None
    end: bool = False


def decode_header(line: bytes) -> Header:
    """The first line of an archive of this version."""
    try:
        start = msgspec.json.decode(line, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as error:
        raise ArchiveInvalid("line 1: this is no archive of Ramet", field="line", value=1) from error
    if start.get("format") != FORMAT:
        raise ArchiveInvalid("line 1: this is no archive of Ramet", field="line", value=1)
    version = start.get("version")
    if version != VERSION:
        raise ArchiveVersion(
            f"the archive has version {version!r}, and this Ramet reads version {VERSION}",
            field="version",
            value=version if isinstance(version, int) else None,
        )
    try:
        return msgspec.json.decode(line, type=Header)
    except msgspec.ValidationError as error:
        raise ArchiveInvalid(f"line 1: {error}", field="line", value=1) from error


def encode(line: Header | ArchiveRow | End) -> bytes:
    """One line."""
    return msgspec.json.encode(line) + b"\n"


class Verifier:
    """Reads the lines of an archive in their order and refuses the first that is wrong, with its number.

    It remembers 64 bits of the name of each row that others can refer to, and no content.
    """

    def __init__(self) -> None:
        self.header: Header | None = None
        self.counts: dict[str, int] = {}
        self.is_complete = False
        self._line = 0
        self._hash = hashlib.sha256()
        self._known: dict[str, set[int]] = {name: set() for name, table in TABLES.items() if table.key}
        self._buried: set[tuple[str, str]] = set()
        self._place = 0

    def read(self, line: bytes) -> ArchiveRow | None:
        """One line; the row that it holds, if it holds one."""
        self._line += 1
        if self.is_complete:
            raise self._invalid("something follows the end of the archive")
        if self.header is None:
            self.header = decode_header(line)
            self._hash.update(line)
            return None
        try:
            kind = msgspec.json.decode(line, type=Line)
            if kind.end:
                self._finish(msgspec.json.decode(line, type=End))
                return None
            row = msgspec.json.decode(line, type=ArchiveRow)
        except (msgspec.DecodeError, RecursionError) as error:
            raise self._invalid(str(error)) from error
        self._hash.update(line)
        try:
            self._verify(row)
        except ValueError as error:
            raise self._invalid(f"{row.table}: {error}") from error
        self.counts[row.table] = self.counts.get(row.table, 0) + 1
        return row

    def close(self) -> None:
        """Refuse a file that ended too early."""
        if not self.is_complete:
            raise ArchiveInvalid(
                f"the archive ends after line {self._line}, and its last line is missing",
                field="line",
                value=self._line,
            )

    def _finish(self, end: End) -> None:
        if end.sha256 != self._hash.hexdigest():
            raise self._invalid("the lines do not have the hash that the last line names")
        if end.counts != self.counts:
            raise self._invalid("the last line counts other rows than the archive has")
        self.is_complete = True

    def _verify(self, row: ArchiveRow) -> None:
        table = check_row(row)
        place = list(TABLES).index(table.name)
        if place < self._place:
            raise ValueError("the rows are not in the order of their tables")
        self._place = place
        for column in table.references:
            value = row.values[column.name]
            if value is not None and short_key(value) not in self._known[column.refers_to or ""]:
                raise ValueError(f"{column.name} names {value}, which is not in the archive before it")
        if table.name == "tombstones":
            self._buried.add((str(row.values["subject"]), str(row.values["hash"])))
        elif table.name == "blobs":
            verify_blob(row, is_buried=("blob", row.values["hash"]) in self._buried)
        elif table.name == "commits" and ("commit", row.values["hash"]) not in self._buried:
            verify_commit(row)
        elif table.name == "images":
            verify_image(row)
        if table.key is not None:
            known, key = self._known[table.name], short_key(row.values[table.key])
            if key in known:
                raise ValueError(f"{row.values[table.key]} is in the archive twice")
            known.add(key)

    def _invalid(self, why: str) -> ArchiveInvalid:
        return ArchiveInvalid(f"line {self._line}: {why}", field="line", value=self._line)


def short_key(value: Value) -> int:
    """64 bits of a name, so that a set of a million takes little memory."""
    return int.from_bytes(hashlib.blake2b(str(value).encode(), digest_size=_KEY_BYTES).digest())


def check_row(row: ArchiveRow) -> Table:
    """The table of a row that has exactly its columns, each of its kind; `ValueError` otherwise."""
    table = TABLES.get(row.table)
    if table is None:
        raise ValueError("there is no such table")
    if set(row.values) != {column.name for column in table.columns}:
        raise ValueError(f"the columns have to be {', '.join(column.name for column in table.columns)}")
    for column in table.columns:
        _check_value(column, row.values[column.name])
    return table


def _check_value(column: Column, value: Value) -> None:
    if value is None:
        if not column.is_optional:
            raise ValueError(f"{column.name} is missing")
    elif not _CHECKS[column.kind](value):
        raise ValueError(f"{column.name} is no {column.kind}")
    elif isinstance(value, str) and "\0" in value and column.name not in ("text", "metadata"):
        raise ValueError(f"{column.name} has a NUL character")


_CHECKS: dict[Kind, Callable[[Value], bool]] = {
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63,
    "real": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "text": lambda value: isinstance(value, str),
    "hash": lambda value: isinstance(value, str) and len(value) == _HASH_DIGITS and not value.strip(_HEX),
}


def verify_blob(row: ArchiveRow, *, is_buried: bool) -> None:
    """A content has the hash and the size that its row names; one without a text has a tombstone."""
    text = row.values["text"]
    if text is None:
        if not is_buried:
            raise ValueError("a content without a text has no tombstone")
        return
    content = _encode(str(text))
    if hash_content(content).hex() != row.values["hash"] or len(content) != row.values["size"]:
        raise ValueError("the text does not have the hash that names it")


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ValueError("the text is no valid Unicode") from error


def verify_commit(row: ArchiveRow) -> None:
    """A commit has the hash that its parts make."""
    if hash_commit(facts_of(row)).hex() != row.values["hash"]:
        raise ValueError("the commit does not have the hash that names it")


def verify_image(row: ArchiveRow) -> None:
    """An image has the hash that names it."""
    if hash_content(image_data(row)).hex() != row.values["hash"]:
        raise ValueError("the image does not have the hash that names it")


def image_data(row: ArchiveRow) -> bytes:
    """The bytes of an image."""
    return b64decode(str(row.values["data"]), validate=True)


def facts_of(row: ArchiveRow) -> CommitFacts:
    """What the hash of a commit covers."""
    values: dict[str, Any] = row.values
    return CommitFacts(
        content_hash=bytes.fromhex(values["blob"]),
        content_type=values["content_type"],
        role=values["role"],
        author=values["author"],
        parent=_bytes(values["parent"]),
        second_parent=_bytes(values["second_parent"]),
        operation=values["operation"],
        target=_bytes(values["target"]),
        metadata=_metadata(values["metadata"]),
        at_ms=values["at_ms"],
    )


def _bytes(value: str | None) -> bytes | None:
    return None if value is None else bytes.fromhex(value)


def _metadata(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"the metadata is no JSON object: {error}") from error
