"""Secrets in what Ramet has stored: the database, its backups, and every file below its home and in reports.

This runs while no daemon does. Files of agents at work are left alone and named: their keepers write to them. What
agents left in their worktrees is their work and not ours, except for reports.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from ramet.config.settings import Places
from ramet.daemon.wire.tokens import KEY_FILE
from ramet.model.redaction import Redactor
from ramet.runner.processes import keepers
from ramet.store import Store
from ramet.store.database import purge
from ramet.store.database.purge import Burial, Found
from ramet.store.database.sqlite.copies import open_copy
from ramet.store.memory.index.search_index import SearchIndex

_SQLITE = b"SQLite format 3\0"
_REPORTS = ".ramet"
_INDEXES = "search*.db"
"""Search indexes, of this database and of others. They are derived, so they are removed and not cleaned."""
_LARGEST_BYTES = 1 << 30


class FoundFile(Struct, frozen=True, kw_only=True):
    """A file that holds secrets."""

    path: str
    secrets: int


class Rescan(Struct, frozen=True, kw_only=True):
    """What was found, and whether it is gone."""

    is_purged: bool
    blobs: int
    commits: int
    texts: int
    kinds: dict[str, int]
    files: list[FoundFile]
    left: list[str]
    """Files that could not be read or changed, with the reason."""


def rescan(store: Store, places: Places, redactor: Redactor, burial: Burial | None, also: list[str]) -> Rescan:
    """Search everything; with a burial, remove what is found. `also` are files elsewhere."""
    db = store.connect()
    rows = store.text_rows(db)
    in_database = purge.search(db, rows, redactor) if burial is None else purge.purge(db, rows, redactor, burial)
    folders = purge.project_folders(db)
    search = _Files(redactor, burial, _busy(places))
    worktrees = [str(path) for path in places.worktrees.glob("*/*")]
    for path in [*_home_files(places), *_reports([*folders, *worktrees]), *map(Path, also)]:
        search.look(path)
    if burial is not None and not in_database.is_empty:
        _forget_indexes(places)
    return Rescan(
        is_purged=burial is not None,
        blobs=in_database.blobs,
        commits=in_database.commits,
        texts=in_database.texts,
        kinds=in_database.kinds,
        files=search.found,
        left=search.left,
    )


def _forget_indexes(places: Places) -> None:
    """Remove the search indexes, which may have words that are gone now. They are made again without them."""
    for path in {places.index, *places.home.glob(_INDEXES)}:
        SearchIndex(path).discard()


def _busy(places: Places) -> list[Path]:
    """The folders of keepers that run."""
    records = keepers.list_records(places.keepers)
    return [places.keepers / record.instance for record in records if keepers.is_alive(record)]


def _home_files(places: Places) -> Iterator[Path]:
    database = {places.database, *(Path(f"{places.database}{end}") for end in ("-wal", "-shm"))}
    ours = {*database, places.lock_file, places.pid_file, places.home / KEY_FILE}
    for folder, names, files in os.walk(places.home):
        inside = Path(folder)
        names[:] = sorted(name for name in names if inside / name != places.worktrees)
        found = (inside / file for file in sorted(files) if inside / file not in ours)
        yield from (path for path in found if not (inside == places.home and path.match(f"{_INDEXES}*")))


def _reports(folders: list[str]) -> Iterator[Path]:
    for folder in folders:
        with suppress(OSError):
            yield from (path for path in sorted(Path(folder, _REPORTS).rglob("*")) if path.is_file())


class _Files:
    """Looks into files, one after the other."""

    def __init__(self, redactor: Redactor, burial: Burial | None, busy: list[Path]) -> None:
        self._redactor = redactor
        self._burial = burial
        self._busy = busy
        self.found: list[FoundFile] = []
        self.left: list[str] = []

    def look(self, path: Path) -> None:
        """Search a file, and remove what it holds if that is asked for."""
        try:
            if path.is_symlink() or not path.is_file():
                return
            if path.stat().st_size > _LARGEST_BYTES:
                self.left.append(f"{path}: it has more than {_LARGEST_BYTES:,} bytes")
                return
            secrets = self._look_into_copy(path) if _is_database(path) else self._look_into_text(path)
        except (OSError, RuntimeError, ValueError) as error:
            self.left.append(f"{path}: {error}")
            return
        if secrets:
            self.found.append(FoundFile(path=str(path), secrets=secrets))

    def _look_into_copy(self, path: Path) -> int:
        with open_copy(path) as (db, rows, has_tombstones):
            if self._burial is None:
                found = purge.search(db, rows, self._redactor)
            else:
                found = purge.purge(db, rows, self._redactor, self._burial, has_tombstones=has_tombstones)
        return _count(found)

    def _look_into_text(self, path: Path) -> int:
        text = path.read_bytes().decode(errors="surrogateescape")
        lines = text.split("\n") if path.suffix == ".jsonl" else [text]
        redacted = [self._redactor.redact_content(line) for line in lines]
        secrets = sum(each.secrets for each in redacted)
        if secrets and self._burial is not None:
            if any(path.is_relative_to(folder) for folder in self._busy):
                self.left.append(f"{path}: its agent is running; repeat this when it has ended")
                return secrets
            _replace(path, "\n".join(each.text for each in redacted))
        return secrets


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE


def _count(found: Found) -> int:
    return found.blobs + found.commits + found.texts


def _replace(path: Path, text: str) -> None:
    """Write a file anew, with the mode that it had."""
    mode = path.stat().st_mode & 0o777
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(text.encode(errors="surrogateescape"))
        os.fsync(file.fileno())
    fresh.chmod(mode)
    fresh.replace(path)
