"""The record of installations knows every place, and survives whatever is in its file."""

from pathlib import Path

import pytest

from ramet.installer.changes import Change
from ramet.installer.install_record import NAME, Place, list_places, remember


def change(folder: Path, vendor: str, after: str | None = "{}") -> Change:
    return Change(vendor, folder / ".mcp.json", None, after, "absent", folder)


@pytest.mark.requirement("R379")
def test_each_written_place_is_known_once(tmp_path: Path) -> None:
    assert list_places(tmp_path) == []
    for vendor in ("one", "two", "one"):
        remember(tmp_path, [change(tmp_path / "site", vendor), change(tmp_path / "gone", vendor, None)])
    file, scope = tmp_path / "site" / ".mcp.json", tmp_path / "site"
    assert list_places(tmp_path) == [Place("one", file, scope), Place("two", file, scope)]
    assert (tmp_path / NAME).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "text", ["", "[", "[]", "null", '{"version": 2, "places": []}', '{"version": 1, "places": [1]}']
)
def test_a_record_that_cannot_be_read_is_empty_and_written_again(tmp_path: Path, text: str) -> None:
    (tmp_path / NAME).write_text(text)
    assert list_places(tmp_path) == []
    remember(tmp_path, [change(tmp_path, "one")])
    assert len(list_places(tmp_path)) == 1
