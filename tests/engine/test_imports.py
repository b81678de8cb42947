"""What the layers may reach, read from their imports and from the names they use."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import ramet

SOURCE = Path(ramet.__file__).parent

FILE_MODULES = {
    "io",
    "os",
    "pathlib",
    "shutil",
    "tempfile",
    "glob",
    "fileinput",
    "mmap",
    "fcntl",
    "subprocess",
    "socket",
}
FILE_CALLS = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "unlink", "rename", "mkdir", "rmtree"}

STORE_FILES = {
    "database/lock.py": {"fcntl", "os", "pathlib"},
    "database/open.py": {"pathlib"},
    "database/operations.py": {"pathlib"},
    "database/postgres/connection.py": {"os", "socket"},
    "database/postgres/export.py": {"pathlib"},
    "database/postgres/store.py": {"pathlib"},
    "database/sqlite/backup_file.py": {"pathlib"},
    "database/sqlite/copies.py": {"pathlib"},
    "database/sqlite/connection.py": {"pathlib"},
    "database/sqlite/daily_backups.py": {"os", "pathlib", "shutil"},
    "database/sqlite/files.py": {"os", "pathlib"},
    "database/sqlite/marker.py": {"os", "pathlib"},
    "database/sqlite/salvage/pages.py": {"os", "pathlib"},
    "database/sqlite/salvage/salvage.py": {"pathlib"},
    "database/sqlite/staged_file.py": {"os", "pathlib", "shutil"},
    "database/sqlite/store.py": {"os", "pathlib"},
    "database/sqlite/swap.py": {"os", "pathlib"},
    "database/sqlite/wal.py": {"os", "pathlib"},
    "database/store.py": {"pathlib"},
    "memory/exports/export_file.py": {"os", "pathlib"},
    "memory/index/search_index.py": {"os", "pathlib"},
}
"""The parts of the store that name a file: the database, its lock, its log, its backups and exports, the search index.
Queries come with the package. A connection to a server has a second descriptor of its socket.
"""
CUTS_A_SOCKET = SOURCE / "store/database/postgres/connection.py"
"""Shuts a connection to a frozen server down from another thread. It sends nothing."""
FOREIGN_DATABASES = SOURCE / "vendors/contract/stored_files/database_file.py"
"""Reads the databases of other programs, and never ours."""

PACKAGE_FILES = {
    "database/blobs.py": {"read_bytes"},
    "database/schema/hashes.py": {"read_text"},
    "database/schema/migrations.py": {"read_text"},
    "database/queries.py": {"read_text"},
}
"""The parts of the store that read what comes with the package: dictionaries, migrations and queries."""


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def calls(path: Path) -> set[str]:
    """The names of what a module calls."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Name):
                names.add(function.id)
            elif isinstance(function, ast.Attribute):
                names.add(function.attr)
    return names


def modules(package: str) -> list[Path]:
    found = sorted((SOURCE / package).rglob("*.py"))
    assert found
    return found


@pytest.mark.requirement("R259")
def test_the_engine_opens_no_file() -> None:
    for path in modules("engine"):
        assert not FILE_MODULES & {name.split(".")[0] for name in imports(path)}, path.name
        assert not FILE_CALLS & calls(path), path.name


@pytest.mark.requirement("R259")
def test_the_store_names_no_file_but_the_database_its_lock_and_its_backups() -> None:
    found = {}
    for path in modules("store"):
        named = FILE_MODULES & {name.split(".")[0] for name in imports(path)}
        if named:
            found[str(path.relative_to(SOURCE / "store"))] = named
    assert found == STORE_FILES


@pytest.mark.requirement("R259")
def test_the_verbs_of_the_store_touch_no_file() -> None:
    found = {}
    for path in modules("store"):
        name = str(path.relative_to(SOURCE / "store"))
        if name not in STORE_FILES and (made := FILE_CALLS & calls(path)):
            found[name] = made
    assert found == PACKAGE_FILES


@pytest.mark.requirement("R261")
def test_the_daemon_never_calls_itself() -> None:
    for package in ("daemon", "engine", "store", "protocol", "model"):
        for path in modules(package):
            assert not [name for name in imports(path) if name.startswith("ramet.client")], path


@pytest.mark.requirement("R261")
def test_nothing_below_the_daemon_speaks_to_a_socket() -> None:
    for package in ("engine", "store", "protocol", "model"):
        for path in modules(package):
            speaking = {"asyncio", "selectors"} if path == CUTS_A_SOCKET else {"socket", "asyncio", "selectors"}
            assert not speaking & {name.split(".")[0] for name in imports(path)}, path


@pytest.mark.requirement("R260")
def test_only_the_store_knows_a_database_module() -> None:
    for path in sorted(SOURCE.rglob("*.py")):
        if path.relative_to(SOURCE).parts[0] != "store" and path != FOREIGN_DATABASES:
            assert not {"apsw", "psycopg", "sqlite3"} & {name.split(".")[0] for name in imports(path)}, path


@pytest.mark.requirement("R211")
def test_the_engine_never_looks_at_a_process() -> None:
    for path in modules("engine"):
        assert not {"psutil", "signal", "os"} & {name.split(".")[0] for name in imports(path)}, path
