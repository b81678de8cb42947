"""A database of some pages, and ways to damage it, for the tests of what happens then."""

import os
import random
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from tests.world import DATABASE_NAME, open_world

from ramet.store.database.sqlite.connection import open_reader, open_writer

PAGE = 4096
MESSAGES = 50


def furnish(folder: Path) -> Path:
    """Make a database of some hundred pages, and close it."""
    with open_world(folder, None) as world:
        session = world.session(agent_id="ada")
        for number in range(MESSAGES):
            text = "".join(random.choices("abcdefghij klmnopq", k=9000))
            world.call("db.messages.append", session_id=session.id, role="user", content=f"{number} {text}")
    return folder / DATABASE_NAME


def overwrite(path: Path, page: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(data)


def page_of(file: Path, kind: str, name: str) -> int:
    """The number of a page: a leaf, an inner page or an overflow page of a table or an index."""
    with closing(open_reader(file)) as reader:
        sql = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = ? ORDER BY pageno DESC LIMIT 1"
        (number,) = next(iter(reader.database.execute(sql, (name, kind))))
        return int(str(number))


def _overwrite_free_page(file: Path) -> None:
    with closing(open_writer(file, "process")) as writer:
        writer.database.execute("CREATE TABLE filler (data BLOB)")
        writer.database.execute("INSERT INTO filler VALUES (zeroblob(100000))")
        writer.database.execute("DROP TABLE filler")
    with file.open("rb") as opened:
        opened.seek(32)
        first_free = int.from_bytes(opened.read(4))
    overwrite(file, first_free, b"\xff" * PAGE)


def _overwrite_many(file: Path) -> None:
    for page in range(7, 50, 6):
        overwrite(file, page, os.urandom(PAGE))


def _cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


DAMAGE: dict[str, Callable[[Path], None]] = {
    "a leaf of random bytes": lambda file: overwrite(file, page_of(file, "leaf", "blobs"), os.urandom(PAGE)),
    "a leaf of zeros": lambda file: overwrite(file, page_of(file, "leaf", "commits"), bytes(PAGE)),
    "an inner page": lambda file: overwrite(file, page_of(file, "internal", "blobs"), os.urandom(PAGE)),
    "an overflow page": lambda file: overwrite(file, page_of(file, "overflow", "blobs"), os.urandom(PAGE)),
    "a page of an index": lambda file: overwrite(
        file, page_of(file, "leaf", "sqlite_autoindex_blobs_1"), os.urandom(PAGE)
    ),
    "a page of the schema": lambda file: overwrite(file, page_of(file, "leaf", "sqlite_schema"), os.urandom(PAGE)),
    "a free page": _overwrite_free_page,
    "the first page": lambda file: overwrite(file, 1, bytes(PAGE)),
    "half of the file is gone": _cut,
    "random bytes everywhere": _overwrite_many,
}
