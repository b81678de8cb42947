"""A JSON document that a program writes anew as a whole: it is read as a whole, if it has changed."""

import os
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ramet.vendors.contract import json_lines
from ramet.vendors.contract.stored_files.line_file import open_file
from ramet.vendors.contract.stored_files.unreadable import SourceUnreadable

LARGEST_DOCUMENT = 64 * 1024 * 1024
"""A larger one is refused: in memory it takes several times its size."""


class Stamp(Struct, frozen=True):
    """Which version of a document was read."""

    size: int
    changed_ns: int


def read(path: Path, known: Stamp | None = None) -> tuple[dict[str, Any] | None, Stamp]:
    """The object in a document, and its version; None instead of the object if the version is the known one."""
    with open_file(path) as file:
        status = os.fstat(file.fileno())
        stamp = Stamp(status.st_size, status.st_mtime_ns)
        if stamp == known:
            return None, stamp
        data = file.read(LARGEST_DOCUMENT + 1)
    if len(data) > LARGEST_DOCUMENT:
        raise SourceUnreadable(path, f"it is larger than {LARGEST_DOCUMENT // (1024 * 1024)} MiB")
    try:
        value = msgspec.json.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise SourceUnreadable(path, f"it is no JSON document: {error}") from error
    if not isinstance(value, dict) or not json_lines.is_shallow(value):
        raise SourceUnreadable(path, "it is no JSON object")
    return value, stamp


def read_small(path: Path) -> dict[str, Any]:
    """The object in a small document that only adds something; an empty one if it cannot be read."""
    try:
        return read(path)[0] or {}
    except OSError:
        return {}
