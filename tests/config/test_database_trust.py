"""A database file inside a project is opened only if it is the one that the user trusted."""

import struct
from pathlib import Path

import pytest
from tests.workspace.repositories import mark_repository

from ramet.config.database_trust import require_trusted, trust_database
from ramet.config.trust import revoke
from ramet.errors import ConfigError, DatabaseUntrusted


def write_database(file: Path, *, number: int = 0, rest: bytes = b"") -> None:
    """A file that starts as SQLite's do, with this number in its header."""
    header = bytearray(b"SQLite format 3\x00" + bytes(84))
    header[60:64] = struct.pack(">i", number)
    file.write_bytes(bytes(header) + rest)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    mark_repository(tmp_path / "clone")
    (tmp_path / "clone" / "deep").mkdir()
    return tmp_path / "clone" / "deep" / "ramet.db"


def trust(home: Path, file: Path) -> None:
    trust_database({"RAMET_HOME": str(home)}, file)


@pytest.mark.requirement("R332")
@pytest.mark.parametrize("mark", [".git", "ramet.yaml"])
def test_a_file_below_a_project_needs_trust_whether_it_exists_or_not(home: Path, tmp_path: Path, mark: str) -> None:
    if mark == ".git":
        mark_repository(tmp_path / "clone")
    else:
        (tmp_path / "clone").mkdir()
        (tmp_path / "clone" / mark).write_text("")
    file = tmp_path / "clone" / "ramet.db"
    for _ in range(2):
        with pytest.raises(DatabaseUntrusted, match="inside the project") as refusal:
            require_trusted(home, file)
        assert f"ramet trust {file}" in refusal.value.fix
        write_database(file)


def test_a_file_in_no_project_or_in_the_home_needs_none(home: Path, file: Path, tmp_path: Path) -> None:
    assert require_trusted(home, tmp_path / "ramet.db") is None
    assert require_trusted(file.parent, file) is None


@pytest.mark.requirement("R332")
def test_a_trusted_file_is_known_by_its_number_and_another_in_its_place_is_not(home: Path, file: Path) -> None:
    write_database(file, rest=b"trusted")
    trust(home, file)
    number = require_trusted(home, file)
    assert number is not None
    write_database(file, number=number, rest=b"grown")
    assert require_trusted(home, file) == number
    write_database(file, number=number + 1, rest=b"queued by somebody else")
    with pytest.raises(DatabaseUntrusted, match="replaced"):
        require_trusted(home, file)


@pytest.mark.requirement("R332")
def test_a_wal_that_appears_after_the_user_looked_is_not_trusted(home: Path, file: Path) -> None:
    write_database(file)
    trust(home, file)
    file.with_name("ramet.db-wal").write_bytes(b"queued by somebody else")
    with pytest.raises(DatabaseUntrusted, match="replaced"):
        require_trusted(home, file)


def test_a_trusted_file_that_is_gone_may_be_made_and_a_revoked_one_not(home: Path, file: Path) -> None:
    trust(home, file)
    assert require_trusted(home, file)
    assert revoke({"RAMET_HOME": str(home)}, file)
    with pytest.raises(DatabaseUntrusted):
        require_trusted(home, file)


def test_what_is_no_database_is_not_trusted_as_one(home: Path, file: Path) -> None:
    file.write_text("drivers: {}\n" * 10)
    with pytest.raises(ConfigError, match="not a SQLite database"):
        trust(home, file)
