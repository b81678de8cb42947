"""The rows in a page of a table, decoded from their bytes. What cannot be a row of ours is counted, and left out."""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from ramet.store.database.sqlite.salvage.pages import PageFile, leaf_cells

Value = int | float | str | bytes | None

_LARGEST_BYTES = 1 << 30
_INTEGER_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_REAL, _ZERO, _ONE = 7, 8, 9
_FIRST_BLOB = 12


class Row(NamedTuple):
    """A row, with the values that its record has: fewer than columns, if some were added later."""

    rowid: int
    values: list[Value]


class Unreadable(Exception):
    """The bytes are no row."""


def read_rows(file: PageFile, page: int) -> Iterator[Row | None]:
    """The rows of a leaf; None for each that cannot be read."""
    data = file.read(page)
    for cell in leaf_cells(data, page):
        try:
            yield _read_row(file, data, cell)
        except (Unreadable, IndexError, struct.error, UnicodeDecodeError):
            yield None


def _read_row(file: PageFile, data: bytes, cell: int) -> Row:
    size, place = _varint(data, cell)
    rowid, place = _varint(data, place)
    if rowid >= 1 << 63:
        rowid -= 1 << 64
    return Row(rowid, _decode(_payload(file, data, place, size)))


def _payload(file: PageFile, data: bytes, place: int, size: int) -> bytes:
    """The bytes of a record, with those that lie on pages of their own."""
    usable = file.usable_bytes
    if not 1 <= size <= min(_LARGEST_BYTES, file.pages * file.page_bytes):
        raise Unreadable
    if size <= usable - 35:
        local = size
    else:
        least = (usable - 12) * 32 // 255 - 23
        local = least + (size - least) % (usable - 4)
        local = local if local <= usable - 35 else least
    if place + local > usable:
        raise Unreadable
    parts, left = [data[place : place + local]], size - local
    following = int.from_bytes(data[place + local : place + local + 4], "big")
    seen = set()
    while left > 0:
        if not 2 <= following <= file.pages or following in seen:
            raise Unreadable
        seen.add(following)
        more = file.read(following)
        parts.append(more[4 : 4 + min(left, usable - 4)])
        left -= usable - 4
        following = int.from_bytes(more[:4], "big")
    return b"".join(parts)


def _decode(record: bytes) -> list[Value]:
    header_bytes, place = _varint(record, 0)
    if not place <= header_bytes <= len(record):
        raise Unreadable
    values: list[Value] = []
    body = header_bytes
    while place < header_bytes:
        kind, place = _varint(record, place)
        value, size = _value(record, body, kind)
        values.append(value)
        body += size
    if body != len(record):
        raise Unreadable
    return values


def _value(record: bytes, start: int, kind: int) -> tuple[Value, int]:
    if kind == 0:
        return None, 0
    if kind in _INTEGER_BYTES:
        size = _INTEGER_BYTES[kind]
        return int.from_bytes(_cut(record, start, size), "big", signed=True), size
    if kind == _REAL:
        return float(struct.unpack(">d", _cut(record, start, 8))[0]), 8
    if kind in (_ZERO, _ONE):
        return kind - _ZERO, 0
    if kind < _FIRST_BLOB:
        raise Unreadable
    size = (kind - _FIRST_BLOB) // 2
    content = _cut(record, start, size)
    return (content if kind % 2 == 0 else content.decode()), size


def _cut(record: bytes, start: int, size: int) -> bytes:
    if start + size > len(record):
        raise Unreadable
    return record[start : start + size]


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for index in range(8):
        byte = data[place + index]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + index + 1
    return value << 8 | data[place + 8], place + 9
