"""Logs on the disk: notes are put behind each other, and nothing is ever taken away."""

from pathlib import Path

from ramet.errors import FileMissing
from ramet.workspace import files, reports


def append(root: str | Path, path: str, entry: str, *, once: bool = False) -> int:
    """Put an entry behind the others; the size of the log. With `once`, not where the log has the same one already: a
    request that is repeated because its answer was lost.
    """
    if files.resolve(root, path).relative.startswith(f"{reports.FOLDER}/"):
        reports.prepare(root)
    if once:
        try:
            known = files.read_bytes(root, path, files.MAX_BYTES)
        except FileMissing:
            known = b""
        if entry.encode(errors="replace") in known:
            return len(known)
    return files.append(root, path, entry)
