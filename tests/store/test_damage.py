"""A damaged database is named by an error of its own, which is not that of a damaged search index."""

import os
from pathlib import Path

import pytest

from ramet.errors import DatabaseDamaged, IndexDamaged
from ramet.store.database.queries import Query
from ramet.store.database.sqlite.connection import SqliteConnection, open_reader, open_writer
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
