"""Damage: its error, which is not that of a damaged search index, and a check that always answers."""

import os
import random
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.world import DATABASE_NAME, open_world

from ramet.errors import DatabaseDamaged, IndexDamaged
from ramet.store.database.blobs import Codec
from ramet.store.database.check import check_database, sample_database
from ramet.store.database.queries import Query
from ramet.store.database.sqlite.connection import SqliteConnection, open_reader, open_writer
from ramet.store.database.sqlite.store import SqliteReadableStore
from ramet.store.database.store import ReadableStore
from ramet.store.memory.index.search_index import IndexConnection

_PAGE = 4096
_READ = Query("read", "SELECT * FROM things", "SELECT * FROM things")


def make_file(path: Path) -> None:
    writer = open_writer(path, "process")
    writer.database.execute("CREATE TABLE things (text TEXT)")
    writer.database.execute("INSERT INTO things VALUES (?)", ("a thing",))
    writer.close()


def overwrite(path: Path, page: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek((page - 1) * _PAGE)
        file.write(data)


@pytest.mark.parametrize("page", [1, 3])
def test_a_page_that_was_overwritten_is_damage(tmp_path: Path, page: int) -> None:
    file = tmp_path / "some.db"
    make_file(file)
    overwrite(file, page, os.urandom(_PAGE))
    reader = open_reader(file)
    with pytest.raises(DatabaseDamaged):
        reader.all(_READ)
    reader.close()


def test_a_damaged_index_is_not_a_damaged_database(tmp_path: Path) -> None:
    file = tmp_path / "search.db"
    make_file(file)
    overwrite(file, 3, os.urandom(_PAGE))
    reader: SqliteConnection = IndexConnection(open_reader(file).database)
    with pytest.raises(IndexDamaged):
        reader.all(_READ)
    reader.close()


@pytest.fixture
def furnished(tmp_path: Path) -> Path:
    """A database of some hundred pages, closed."""
    with open_world(tmp_path, None) as world:
        session = world.session(agent_id="ada")
        for number in range(50):
            text = "".join(random.choices("abcdefghij klmnopq", k=9000))
            world.call("db.messages.append", session_id=session.id, role="user", content=f"{number} {text}")
    return tmp_path / DATABASE_NAME


def page_of(file: Path, kind: str, name: str) -> int:
    """The number of a page: the root of a table, an inner page or a leaf of it, or one that is free."""
    reader = open_reader(file)
    try:
        sql = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = ? ORDER BY pageno DESC LIMIT 1"
        (number,) = next(iter(reader.database.execute(sql, (name, kind))))
        return int(str(number))
    finally:
        reader.close()


def overwrite_free_page(file: Path) -> None:
    with closing(open_writer(file, "process")) as writer:
        writer.database.execute("CREATE TABLE filler (data BLOB)")
        writer.database.execute("INSERT INTO filler VALUES (zeroblob(100000))")
        writer.database.execute("DROP TABLE filler")
    with file.open("rb") as opened:
        opened.seek(32)
        first_free = int.from_bytes(opened.read(4))
    overwrite(file, first_free, b"\xff" * _PAGE)


def overwrite_many(file: Path) -> None:
    for page in range(7, 50, 6):
        overwrite(file, page, os.urandom(_PAGE))


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


DAMAGE: dict[str, Callable[[Path], None]] = {
    "a leaf of random bytes": lambda file: overwrite(file, page_of(file, "leaf", "blobs"), os.urandom(_PAGE)),
    "a leaf of zeros": lambda file: overwrite(file, page_of(file, "leaf", "commits"), bytes(_PAGE)),
    "an inner page": lambda file: overwrite(file, page_of(file, "internal", "blobs"), os.urandom(_PAGE)),
    "an overflow page": lambda file: overwrite(file, page_of(file, "overflow", "blobs"), os.urandom(_PAGE)),
    "a page of an index": lambda file: overwrite(
        file, page_of(file, "leaf", "sqlite_autoindex_blobs_1"), os.urandom(_PAGE)
    ),
    "a page of the schema": lambda file: overwrite(file, page_of(file, "leaf", "sqlite_schema"), os.urandom(_PAGE)),
    "a free page": overwrite_free_page,
    "the first page": lambda file: overwrite(file, 1, bytes(_PAGE)),
    "half of the file is gone": cut,
    "random bytes everywhere": overwrite_many,
}


@pytest.mark.requirement("R464")
@pytest.mark.parametrize("name", DAMAGE)
def test_a_check_of_a_damaged_database_ends_with_findings(furnished: Path, name: str) -> None:
    DAMAGE[name](furnished)
    store = SqliteReadableStore(furnished)
    whole = check_database(store, Codec())
    assert whole.findings, name
    assert all(finding.check and finding.detail for finding in whole.findings)
    assert not check_in_parts(store), name
    assert not sample_database(store, Codec(), 20).passed


def check_in_parts(store: ReadableStore) -> bool:
    """Whether a check in parts finds nothing; it ends after a bounded number of them."""
    passed, cursor = True, None
    for _ in range(2000):
        part = check_database(store, Codec(), 100, cursor)
        passed, cursor = passed and part.passed, part.next
        if cursor is None:
            return passed
    raise AssertionError("the check does not end")


@pytest.mark.requirement("R464")
def test_what_is_behind_the_damage_is_checked_too(furnished: Path) -> None:
    overwrite(furnished, page_of(furnished, "leaf", "blobs"), os.urandom(_PAGE))
    with closing(open_writer(furnished, "process")) as writer:
        writer.database.execute("UPDATE commits SET author = 'eve' WHERE id = 40")
        writer.database.execute("UPDATE efforts SET ordinal = 5")
    checks = {finding.check for finding in check_database(SqliteReadableStore(furnished), Codec()).findings}
    assert checks >= {"database", "blobs", "commits", "efforts"}


@pytest.mark.requirement("R464")
def test_a_table_that_claims_to_be_endless_is_checked_in_bounded_time(furnished: Path) -> None:
    with closing(open_writer(furnished, "process")) as writer:
        writer.database.execute("UPDATE blobs SET id = 4611686018427387000 WHERE id = 40")
    report = check_database(SqliteReadableStore(furnished), Codec())
    assert not report.passed
    assert report.counts["blobs"] == 50
