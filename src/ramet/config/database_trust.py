"""Whether a database file inside a project may be opened: only if the user trusts it.

A repository can bring a database with it, whose queued efforts would run with the user's rights. A database in Ramet's
home is the user's own. One that lies in a project is opened only after `ramet trust FILE`.

A database changes with each write, so a hash of its content proves its identity only once. The first opening after
`ramet trust` compares the hash, and then writes a random number into the file's header (SQLite's `user_version`). From
then on the number is compared: a file that a checkout puts in its place does not have it.
"""

import hashlib
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from ramet.config import trust
from ramet.config.git_folder import find_git_dir
from ramet.config.places import find_home
from ramet.config.project_files import PROJECT_FILE
from ramet.config.trust import Trusted
from ramet.errors import ConfigError, DatabaseUntrusted

_KIND = "database"
_HEADER_BYTES = 100
_MAGIC = b"SQLite format 3\x00"
_USER_VERSION = slice(60, 64)
_NOTHING = hashlib.sha256().hexdigest()
_MOST_NUMBERS = 2**31 - 1


def find_project(file: Path, home: Path) -> Path | None:
    """The project that a database file is in; None if it is in none, or in Ramet's home."""
    if file.is_relative_to(home.resolve()):
        return None
    return next((folder for folder in file.parents if _is_project(folder)), None)


def _is_project(folder: Path) -> bool:
    return find_git_dir(str(folder)) is not None or os.path.lexists(folder / PROJECT_FILE)


def require_trusted(home: Path, file: Path) -> int | None:
    """The number that the file's header must have; None for a file that is in no project. Raises if it is untrusted."""
    project = find_project(file, home)
    if project is None:
        return None
    known = trust.read_entry(home, file)
    kind, _, rest = (known or "").partition(":")
    number, _, sha256 = rest.partition(":")
    if kind != _KIND:
        raise _untrusted(file, f"is inside the project {project}, and you have not trusted it")
    if not _is_current(file, int(number), sha256):
        raise _untrusted(file, "is not the database that you trusted: it was replaced or changed")
    return int(number)


def find_number(home: Path, file: Path) -> int | None:
    """The number that a trusted file has, or is to have, whichever file is there now; None if it is in no project."""
    if find_project(file, home) is None:
        return None
    kind, _, rest = (trust.read_entry(home, file) or "").partition(":")
    if kind != _KIND:
        raise _untrusted(file, "is inside a project, and you have not trusted it")
    return int(rest.partition(":")[0])


def trust_database(environ: Mapping[str, str], file: Path) -> None:
    """Trust a database with the content that it has now; one that does not exist yet may be made."""
    if file.exists() and _read_header(file)[:16] not in (_MAGIC, b""):
        raise ConfigError(f"{file} is not a SQLite database", value=str(file), fix="name a ramet.yaml or a database")
    trust.write_entry(find_home(environ), file, f"{_KIND}:{secrets.randbelow(_MOST_NUMBERS) + 1}:{_hash(file)}")


def list_databases(environ: Mapping[str, str]) -> list[Trusted]:
    """The trusted databases by their paths."""
    home = find_home(environ)
    recorded = [(path, known.split(":")) for path, known in trust.list_entries(home) if known.startswith(f"{_KIND}:")]
    return [
        Trusted(path=path, sha256=sha256, is_current=_is_current(Path(path), int(number), sha256))
        for path, (_, number, sha256) in recorded
    ]


def _is_current(file: Path, number: int, sha256: str) -> bool:
    return _read_number(file) == number or _hash(file) in (sha256, _NOTHING)


def _untrusted(file: Path, problem: str) -> DatabaseUntrusted:
    return DatabaseUntrusted(
        f"the database {file} {problem}",
        field="database.path",
        value=str(file),
        fix=f"if you trust it: ramet trust {file}",
    )


def _read_header(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.read(_HEADER_BYTES)


def _read_number(file: Path) -> int | None:
    try:
        header = _read_header(file)
    except FileNotFoundError:
        return None
    return int.from_bytes(header[_USER_VERSION], "big") if header.startswith(_MAGIC) else None


def _hash(file: Path) -> str:
    """Of the file and of what waits in its WAL; of a file that does not exist, the hash of nothing."""
    digest = hashlib.sha256()
    for suffix in ("", "-wal"):
        try:
            with Path(f"{file}{suffix}").open("rb") as stream:
                while chunk := stream.read(1024 * 1024):
                    digest.update(chunk)
        except FileNotFoundError:
            continue
    return digest.hexdigest()
