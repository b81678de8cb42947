"""The projects' files that the user trusts: each by its path and the hash of its content.

A trusted file may set every key, as the user's own file may. If its content changes, it is untrusted again.
"""

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from ramet.config.files import read_bytes
from ramet.config.places import find_home, make_private
from ramet.errors import ConfigError, InvalidSetting

_VERSION = 1
_FILE = "trusted.json"


class Trusted(Struct, frozen=True, kw_only=True):
    """A file that the user trusts."""

    path: str
    sha256: str
    is_current: bool
    """Whether the file still has the content that was trusted."""


def is_trusted(environ: Mapping[str, str], path: Path, content: bytes) -> bool:
    """Whether the user trusts this file with exactly this content."""
    return read_entry(find_home(environ), path) == _hash(content)


def list_trusted(environ: Mapping[str, str]) -> list[Trusted]:
    """The trusted files by their paths, without databases."""
    return [
        Trusted(path=path, sha256=known, is_current=_hash_of_file(Path(path)) == known)
        for path, known in list_entries(find_home(environ))
        if ":" not in known
    ]


def list_entries(home: Path) -> list[tuple[str, str]]:
    """The path of each file that is recorded under this home, and what is recorded of it."""
    return sorted(_read(home).items())


def read_entry(home: Path, path: Path) -> str | None:
    """What is recorded of a file under this home."""
    return _read(home).get(str(path))


def write_entry(home: Path, path: Path, known: str) -> None:
    """Record a file that is recognised by something else than the hash of its content."""
    _write(home, _read(home) | {str(path): known})


def trust(environ: Mapping[str, str], path: Path, content: bytes) -> None:
    """Trust a file with this content."""
    write_entry(find_home(environ), path, _hash(content))


def revoke(environ: Mapping[str, str], path: Path) -> bool:
    """Trust a file no more; whether it was trusted."""
    known = _read(find_home(environ))
    was_known = known.pop(str(path), None) is not None
    if was_known:
        _write(find_home(environ), known)
    return was_known


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _hash_of_file(path: Path) -> str | None:
    try:
        return _hash(read_bytes(path))
    except InvalidSetting:
        return None


def _read(home: Path) -> dict[str, str]:
    """What is trusted. A list that others could have written trusts nothing."""
    path = home / _FILE
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            is_ours = found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            document = json.load(file) if is_ours and stat.S_ISREG(found.st_mode) else {}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(
            f"{path} cannot be read: {error}", value=str(path), fix=f"remove it, then trust the files again: rm {path}"
        ) from error
    files = document.get("files") if isinstance(document, dict) and document.get("version") == _VERSION else None
    return {str(name): str(known) for name, known in files.items()} if isinstance(files, dict) else {}


def _write(folder: Path, files: Mapping[str, str]) -> None:
    make_private(folder)
    temporary = folder / f"{_FILE}.{os.getpid()}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump({"version": _VERSION, "files": dict(files)}, file, indent=2)
        file.flush()
        os.fsync(descriptor)
    temporary.replace(folder / _FILE)
