"""Reports: what plan, explore and review leave for people, in `.ramet/` of the folder that they worked in."""

from pathlib import Path
from typing import NamedTuple

from ramet.workspace.files import confined

FOLDER = ".ramet"
_MAX_BYTES = 10 * 1024 * 1024
_IGNORE_FILE = ".gitignore"
_IGNORED = b"*\n"
"""`.ramet/` says of itself that git is to leave it alone."""


class Report(NamedTuple):
    """A report as it is on the disk."""

    text: str
    modified: float
    """When it was last changed, in seconds since 1970."""


def read(root: str | Path, report_file: str) -> Report | None:
    """The report below `root`; None where there is none that is text. A path that leads out is refused."""
    found = confined.read(root, report_file, _MAX_BYTES)
    if found is None or b"\0" in found.data:
        return None
    try:
        return Report(found.data.decode(), found.modified)
    except UnicodeDecodeError:
        return None


def write(root: str | Path, report_file: str, text: str) -> None:
    """Put the report in its place below `root`."""
    prepare(root)
    confined.write(root, report_file, text.encode(errors="replace"))


def prepare(root: str | Path) -> None:
    """Make the folder of the reports, which git is to leave alone."""
    ignore_file = f"{FOLDER}/{_IGNORE_FILE}"
    if confined.read(root, ignore_file, _MAX_BYTES) is None:
        confined.write(root, ignore_file, _IGNORED)


def is_unused(root: str | Path) -> bool:
    """Whether the folder holds nothing but what `prepare` wrote."""
    return all(file.name == _IGNORE_FILE and file.read_bytes() == _IGNORED for file in (Path(root) / FOLDER).iterdir())


def remove(root: str | Path) -> None:
    """Take the folder away, which is unused."""
    folder = Path(root) / FOLDER
    (folder / _IGNORE_FILE).unlink(missing_ok=True)
    folder.rmdir()
