"""Other programs' SQLite files: read in every state in which a program leaves them, and never written."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ramet.vendors.contract.stored_files import database_file
from ramet.vendors.contract.stored_files.database_file import open_database
from ramet.vendors.contract.stored_files.unreadable import SourceUnreadable

NEEDS = {"note": ("id", "text")}


def make(path: Path, mode: str = "delete", rows: int = 3) -> sqlite3.Connection:
    """A database with some notes, whose owner still has it open."""
    owner = sqlite3.connect(path, isolation_level=None)
    owner.execute(f"PRAGMA journal_mode={mode}")
    owner.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)")
    owner.execute("BEGIN")
    owner.executemany("INSERT INTO note (text) VALUES (?)", [(f"note {number}",) for number in range(rows)])
    owner.execute("COMMIT")
    return owner


def read(path: Path) -> list[str]:
    with open_database(path, NEEDS) as database:
        return [text for (text,) in database.rows("SELECT text FROM note ORDER BY id")]


def state_of(folder: Path) -> dict[str, Any]:
    """What is in a folder, to the byte and the nanosecond; the times of access do not count."""
    return {
        "folder": folder.stat().st_mtime_ns,
        **{path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()},
    }


@contextmanager
def unwritten(folder: Path) -> Iterator[None]:
    before = state_of(folder)
    yield
    assert state_of(folder) == before


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def copies() -> list[str]:
    return [name for name in names(Path(tempfile.gettempdir())) if name.startswith("ramet-import-")]


@pytest.fixture(autouse=True)
def own_scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Private copies are counted."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.setattr(database_file, "_copies", {})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "theirs"
    made.mkdir()
    return made


@pytest.mark.requirement("R380")
@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_closed_file_is_read_and_nothing_is_made_beside_it(folder: Path, mode: str) -> None:
    make(folder / "a.db", mode).close()
    with unwritten(folder):
        assert read(folder / "a.db") == ["note 0", "note 1", "note 2"]
    assert names(folder) == ["a.db"]


@pytest.mark.requirement("R380")
def test_what_is_only_in_the_log_of_an_open_file_counts_and_the_log_stays_as_it_is(folder: Path) -> None:
    with closing(make(folder / "a.db", "wal")) as owner:
        assert names(folder) == ["a.db", "a.db-shm", "a.db-wal"]
        with unwritten(folder):
            assert len(read(folder / "a.db")) == 3
        owner.execute("INSERT INTO note (text) VALUES ('later')")
        with unwritten(folder):
            assert read(folder / "a.db")[-1] == "later"
        assert copies() == []


@pytest.mark.requirement("R380")
def test_a_log_without_its_index_is_read_from_one_private_copy_that_is_removed(tmp_path: Path, folder: Path) -> None:
    with closing(make(tmp_path / "a.db", "wal")):
        for name in ("a.db", "a.db-wal"):  # as a killed program or a backup leaves it
            shutil.copy(tmp_path / name, folder / name)
    with unwritten(folder):
        assert len(read(folder / "a.db")) == 3
        assert len(copies()) == 1
        assert len(read(folder / "a.db")) == 3
        assert len(copies()) == 1
    make(folder / "b.db", "wal").close()
    database_file._copies.clear()
    assert copies() == []


def test_a_journal_of_a_crash_is_played_back_in_a_private_copy(tmp_path: Path, folder: Path) -> None:
    with closing(make(tmp_path / "a.db", rows=2000)) as owner:
        owner.execute("PRAGMA cache_size=1")
        owner.execute("BEGIN")
        owner.execute("UPDATE note SET text = 'never committed'")
        owner.execute("SELECT count(*) FROM note")
        for name in ("a.db", "a.db-journal"):
            shutil.copy(tmp_path / name, folder / name)
        owner.execute("ROLLBACK")
    with unwritten(folder):
        found = read(folder / "a.db")
    assert found[:2] == ["note 0", "note 1"]
    assert "never committed" not in found


_WRITER = """
import sqlite3, sys
owner = sqlite3.connect(sys.argv[1], isolation_level=None)
owner.execute("BEGIN EXCLUSIVE")
print("ready", flush=True)
sys.stdin.read()
"""


def test_a_file_that_its_owner_has_locked_is_not_waited_for_long(folder: Path) -> None:
    path = folder / "a.db"
    make(path).close()
    command = [sys.executable, "-S", "-c", _WRITER, str(path)]
    # In a process of its own: locks of one process do not stop that process itself.
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        with pytest.raises(SourceUnreadable, match="another program has locked it; repeat the import"):
            read(path)
        writer.communicate(b"", timeout=60)
    assert len(read(path)) == 3


BAD: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda _: b"", "it is empty"),
    "encrypted": (lambda data: bytes((byte * 31 + 7) % 256 for byte in data), "no SQLite database, or it is encrypted"),
    "text": (lambda _: b"not a database\n" * 100, "no SQLite database, or it is encrypted"),
    "cut": (lambda data: data[:4096], "it is damaged"),
    "overwritten": (lambda data: data[:4096] + b"\xff" * (len(data) - 4096), "it is damaged"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_file_that_cannot_be_read_says_which_and_why(kind: str, folder: Path) -> None:
    path = folder / "a.db"
    make(path, rows=2000).close()
    damage, reason = BAD[kind]
    path.write_bytes(damage(path.read_bytes()))
    with unwritten(folder), pytest.raises(SourceUnreadable, match=reason) as refused:
        read(path)
    assert str(path) in str(refused.value)
    assert str(path) not in str(refused.value.strerror)  # for whoever names the file already


def test_a_schema_of_another_version_says_what_is_missing(folder: Path) -> None:
    with closing(make(folder / "a.db")) as owner:
        owner.execute("ALTER TABLE note RENAME COLUMN text TO body")
        owner.execute("CREATE VIEW other AS SELECT id, body AS text FROM note")
    with pytest.raises(SourceUnreadable, match=r"table 'note' has no text: an unknown version of the program wrote it"):
        read(folder / "a.db")
    with (
        pytest.raises(SourceUnreadable, match="'other' has no id, text"),
        open_database(folder / "a.db", {"other": ("id", "text")}),
    ):
        pass  # a view could run anything


def test_a_pipe_a_folder_and_a_link_to_itself_are_refused_at_once(folder: Path) -> None:
    os.mkfifo(folder / "pipe.db")
    (folder / "folder.db").mkdir()
    (folder / "loop.db").symlink_to(folder / "loop.db")
    for name in ("pipe.db", "folder.db", "loop.db", "missing.db"):
        with pytest.raises(SourceUnreadable):
            read(folder / name)


def test_a_large_file_takes_little_memory_because_values_are_selected(folder: Path) -> None:
    with closing(make(folder / "a.db", rows=0)) as owner:
        text = "x" * 1_000_000
        owner.execute("BEGIN")
        owner.executemany("INSERT INTO note (text) VALUES (?)", [(text,) for _ in range(64)])
        owner.execute("COMMIT")
    tracemalloc.start()
    try:
        with open_database(folder / "a.db", NEEDS) as database:
            sizes = sum(size for (size,) in database.rows("SELECT octet_length(text) FROM note"))
            starts = [start for (start,) in database.rows("SELECT substr(text, 1, 1) FROM note")]
        assert (sizes, len(starts)) == (64_000_000, 64)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_a_name_with_the_characters_of_an_address_is_opened(folder: Path) -> None:
    path = folder / "a?mode=rwc#x %41.db"
    make(path, "wal").close()
    assert len(read(path)) == 3
    assert names(folder) == [path.name]
