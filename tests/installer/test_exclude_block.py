"""Names that git ignores in one clone: added to its own file, and taken out of it."""

import subprocess
from pathlib import Path

import pytest

from ramet.errors import ConfigError
from ramet.installer import exclude_block
from ramet.installer.changes import apply


@pytest.fixture
def common(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return tmp_path / ".git"


def ignored(common: Path, name: str) -> bool:
    command = ["git", "-C", str(common.parent), "check-ignore", "-q", "--", name]
    return subprocess.run(command, check=False).returncode == 0


@pytest.mark.parametrize("before", [None, "", "*.log", "*.log\n", "# mine\n\n"])
def test_what_is_added_is_ignored_and_what_was_there_is_there_again(common: Path, before: str | None) -> None:
    file = common / "info/exclude"
    file.unlink()
    if before is not None:
        file.write_text(before)
    apply(exclude_block.plan_install(common, [".mcp.json", "a b[c]*.json"]))
    apply(exclude_block.plan_install(common, [".mcp.json", ".codex/hooks.json"]))
    assert [ignored(common, name) for name in (".mcp.json", "a b[c]*.json", ".codex/hooks.json")] == [True] * 3
    assert not ignored(common, "deep/.mcp.json")
    assert not ignored(common, "a bc.json")
    assert exclude_block.plan_install(common, [".mcp.json"]).state == "installed"
    apply(exclude_block.plan_remove(common))
    assert (file.read_text() if file.exists() else "") == (before or "")
    assert exclude_block.plan_remove(common).state == "absent"


def test_it_is_not_written_through_a_link(common: Path, tmp_path: Path) -> None:
    (common / "info/exclude").unlink()
    (common / "info/exclude").symlink_to(tmp_path / "else")
    with pytest.raises(ConfigError, match="symbolic link"):
        apply(exclude_block.plan_install(common, [".mcp.json"]))
    assert not (tmp_path / "else").exists()
