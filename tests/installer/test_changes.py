"""Changes to somebody else's files: whole or not at all."""

from pathlib import Path

import pytest

from ramet.errors import ConfigError
from ramet.installer.changes import Change, apply


def test_a_write_that_fails_leaves_nothing_in_the_folder(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.mkdir()  # somebody was faster
    with pytest.raises(ConfigError, match="cannot be written"):
        apply(Change("claude", file, None, "{}", "absent", tmp_path))
    assert [each.name for each in tmp_path.iterdir()] == ["settings.json"]
