"""The pages of a damaged file, each as it was committed last, and to which table each one belongs.

A table is a tree of pages, and one bad page near the root hides everything below it. But our files also say of every
page which other page points at it (SQLite's pointer map, which `auto_vacuum` needs). So a page with rows is found from
both ends: from the root of its table, and by itself. The format is https://sqlite.org/fileformat2.html.
"""

import os
import struct
from collections.abc import Iterator
from pathlib import Path

from ramet.errors import DatabaseForeign
from ramet.store.database.sqlite.backup_file import APPLICATION_ID

_MAGIC = b"SQLite format 3\x00"
_APPLICATION_ID = slice(68, 72)
_PAGE_BYTES = 4096
"""The size of our pages, if the file does not say it any more."""
_SIZES = {1 << power for power in range(9, 17)}
_INTERIOR, _LEAF = 5, 13
"""Kinds of pages of tables."""
_ROOT, _FREE, _CHILD = 1, 2, 5
"""Kinds of pages in the pointer map."""
_SCHEMA_ROOT = 1
FREE_PAGE = 0
"""The root of pages that belong to no table any more. What they say was deleted."""
_ENTRY_BYTES = 5
_WAL_HEADER, _FRAME_HEADER = 32, 24
_WAL_MAGIC = 0x377F0682
_WORD = 0xFFFFFFFF


class PageFile:
    """A file of pages with its WAL, opened to read only."""

    def __init__(self, path: Path) -> None:
        self._main = path.open("rb")
        header = self._main.read(100)
        size = int.from_bytes(header[16:18], "big")
        size = 65536 if size == 1 else size
        is_sound = header.startswith(_MAGIC) and size in _SIZES
        self.page_bytes = size if is_sound else _PAGE_BYTES
        self.usable_bytes = self.page_bytes - (header[20] if is_sound else 0)
        self._wal: dict[int, int] = {}
        self._log = None
        log = Path(f"{path}-wal")
        if log.is_file():
            self._log = log.open("rb")
            self._wal = _read_frames(self._log.fileno(), self.page_bytes)
        pages = -(-os.fstat(self._main.fileno()).st_size // self.page_bytes)
        self.pages = max([pages, *self._wal])

    def require_ours(self) -> None:
        """Raise if the file is a database of another program. One that has lost its first page may be ours."""
        header = self.read(1)[:100]
        if header.startswith(_MAGIC) and int.from_bytes(header[_APPLICATION_ID], "big") != APPLICATION_ID:
            raise DatabaseForeign("the file is another program's database", field="path")

    def close(self) -> None:
        self._main.close()
        if self._log is not None:
            self._log.close()

    def read(self, page: int) -> bytes:
        """A page, counted from 1; zeros for what the file does not have, or what its disk cannot read."""
        source, offset = self._main, (page - 1) * self.page_bytes
        if self._log is not None and page in self._wal:
            source, offset = self._log, self._wal[page]
        try:
            data = os.pread(source.fileno(), self.page_bytes, offset)
        except OSError:
            data = b""
        return data.ljust(self.page_bytes, b"\0")


def _read_frames(descriptor: int, page_bytes: int) -> dict[int, int]:
    """Where the newest committed copy of each page of a WAL is. The log ends at the first frame that is not whole."""
    header = os.pread(descriptor, _WAL_HEADER, 0)
    if len(header) < _WAL_HEADER:
        return {}
    magic, _, size, _, salt_1, salt_2, sum_1, sum_2 = struct.unpack(">8I", header)
    if magic & ~1 != _WAL_MAGIC or size != page_bytes:
        return {}
    order = ">" if magic & 1 else "<"
    sums = _checksum(header[:24], (0, 0), order)
    if sums != (sum_1, sum_2):
        return {}
    committed: dict[int, int] = {}
    pending: dict[int, int] = {}
    offset = _WAL_HEADER
    while len(frame := os.pread(descriptor, _FRAME_HEADER + page_bytes, offset)) == _FRAME_HEADER + page_bytes:
        page, size_after, *salts, sum_1, sum_2 = struct.unpack(">6I", frame[:_FRAME_HEADER])
        sums = _checksum(frame[:8] + frame[_FRAME_HEADER:], sums, order)
        if salts != [salt_1, salt_2] or sums != (sum_1, sum_2):
            break
        pending[page] = offset + _FRAME_HEADER
        if size_after:
            committed |= pending
            pending.clear()
        offset += len(frame)
    return committed


def _checksum(data: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    one, two = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for first, second in zip(words[::2], words[1::2], strict=True):
        one = (one + first + two) & _WORD
        two = (two + second + one) & _WORD
    return one, two


class Trees:
    """Which page of rows belongs to which table."""

    def __init__(self, file: PageFile) -> None:
        self._file = file
        self._map_every = file.usable_bytes // _ENTRY_BYTES + 1
        self.roots: dict[int, int] = {}
        """The root of each page that a walk from a root has reached."""

    def walk(self, root: int) -> None:
        """Follow a tree down from its root, as far as its pages can be read."""
        waiting = [root]
        while waiting:
            page = waiting.pop()
            if not 1 <= page <= self._file.pages or page in self.roots:
                continue
            self.roots[page] = root
            if self._kind(page) == _INTERIOR:
                waiting += self._children(page)

    def find_leaves(self) -> Iterator[tuple[int, int | None]]:
        """Every page with rows, and the root of its tree; None if nothing says which that is."""
        for page in range(1, self._file.pages + 1):
            if self._kind(page) == _LEAF:
                root = self.roots[page] if page in self.roots else self._climb(page)
                if root != FREE_PAGE:
                    yield page, root

    def _climb(self, page: int) -> int | None:
        """The root above a page, by the pointer map."""
        for _ in range(64):  # a damaged map may go in circles
            kind, parent = self._entry(page)
            if kind == _ROOT or page == _SCHEMA_ROOT:
                return page
            if kind == _FREE:
                return FREE_PAGE
            if kind != _CHILD or not 1 <= parent <= self._file.pages:
                return None
            if parent in self.roots:
                return self.roots[parent]
            page = parent
        return None

    def _entry(self, page: int) -> tuple[int, int]:
        map_page = (page - 2) // self._map_every * self._map_every + 2
        start = _ENTRY_BYTES * (page - map_page - 1)
        if page < 3 or start < 0:
            return 0, 0
        entry = self._file.read(map_page)[start : start + _ENTRY_BYTES]
        return entry[0], int.from_bytes(entry[1:], "big")

    def _kind(self, page: int) -> int:
        return self._file.read(page)[_header_of(page)]

    def _children(self, page: int) -> Iterator[int]:
        data, start = self._file.read(page), _header_of(page)
        for cell in cells_of(data, start + 12, int.from_bytes(data[start + 3 : start + 5], "big")):
            yield int.from_bytes(data[cell : cell + 4], "big")
        yield int.from_bytes(data[start + 8 : start + 12], "big")


def _header_of(page: int) -> int:
    return 100 if page == 1 else 0


def leaf_cells(data: bytes, page: int) -> Iterator[int]:
    """Where the rows of a leaf begin."""
    start = _header_of(page)
    return cells_of(data, start + 8, int.from_bytes(data[start + 3 : start + 5], "big"))


def cells_of(data: bytes, start: int, count: int) -> Iterator[int]:
    """The places that the pointers of a page name, of those that can be right."""
    for place in range(start, min(start + 2 * count, len(data) - 1), 2):
        cell = int.from_bytes(data[place : place + 2], "big")
        if start + 2 * count <= cell < len(data):
            yield cell
