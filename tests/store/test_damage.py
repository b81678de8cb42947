"""Damage: its error, which is not that of a damaged search index, and a check that always answers."""

import os
from contextlib import closing
from pathlib import Path

import pytest
from tests.store.damage import DAMAGE, MESSAGES, PAGE, furnish, overwrite, page_of

from ramet.errors import DatabaseDamaged, IndexDamaged
from ramet.store.database.blobs import Codec
from ramet.store.database.check import check_database, sample_database
from ramet.store.database.queries import Query
from ramet.store.database.sqlite.connection import SqliteConnection, open_reader, open_writer
from ramet.store.database.sqlite.store import SqliteReadableStore
from ramet.store.database.store import ReadableStore
from ramet.store.memory.index.search_index import IndexConnection

_READ = Query("read", "SELECT * FROM things", "SELECT * FROM things")


def make_file(path: Path) -> None:
    writer = open_writer(path, "process")
    writer.database.execute("CREATE TABLE things (text TEXT)")
    writer.database.execute("INSERT INTO things VALUES (?)", ("a thing",))
    writer.close()


@pytest.mark.parametrize("page", [1, 3])
def test_a_page_that_was_overwritten_is_damage(tmp_path: Path, page: int) -> None:
    file = tmp_path / "some.db"
    make_file(file)
    overwrite(file, page, os.urandom(PAGE))
    reader = open_reader(file)
    with pytest.raises(DatabaseDamaged):
        reader.all(_READ)
    reader.close()


def test_a_damaged_index_is_not_a_damaged_database(tmp_path: Path) -> None:
    file = tmp_path / "search.db"
    make_file(file)
    overwrite(file, 3, os.urandom(PAGE))
    reader: SqliteConnection = IndexConnection(open_reader(file).database)
    with pytest.raises(IndexDamaged):
        reader.all(_READ)
    reader.close()


@pytest.fixture
def furnished(tmp_path: Path) -> Path:
    return furnish(tmp_path)


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
    overwrite(furnished, page_of(furnished, "leaf", "blobs"), os.urandom(PAGE))
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
    assert report.counts["blobs"] == MESSAGES
