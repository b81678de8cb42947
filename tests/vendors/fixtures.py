"""Where the recorded fixtures of each vendor's parts are."""

from pathlib import Path

from ramet.vendors import registry
from ramet.vendors.registry import Part

ROOT = Path(__file__).parent

FOLDERS: dict[Part, str] = {
    "driver": "streams",
    "hooks": "hooks",
    "settings": "settings",
    "tools": "tools",
    "transcript": "transcripts",
    "sessions": "sessions",
}
"""By part: what its program printed, sent or wrote, and what we write into its files. Facts need no recording."""

VENDORS = registry.names("facts")
PARTS = [(vendor, part) for part in FOLDERS for vendor in registry.names(part)]


def folder_of(vendor: str, part: Part) -> Path:
    """The folder of a vendor's fixtures for one of its parts."""
    return ROOT / FOLDERS[part] / vendor


def files_of(vendor: str, part: Part) -> list[Path]:
    """All fixtures of a part. None is a failure, so that nothing passes because it is not tested."""
    found = sorted(path for path in folder_of(vendor, part).rglob("*") if path.is_file())
    assert found, f"{vendor} has {part}.py but nothing in {folder_of(vendor, part)}"
    return found
