"""A purged session stays purged: `ramet import` does not fill it again, although its program still has its texts."""

import os
import shutil
from pathlib import Path

import pytest
from tests.cli.command_line import CommandLine

STORED = Path(__file__).parents[2] / "vendors" / "sessions" / "claude" / "home"


@pytest.mark.requirement("R399", "R380")
def test_a_purged_session_is_not_filled_again_by_an_import(ramet: CommandLine) -> None:
    home = Path(ramet.environ["HOME"])
    shutil.copytree(STORED, home, dirs_exist_ok=True)
    ramet.ok("import", "--yes")
    sessions = ramet.json("session", "list", "-A")["items"]
    for each in sessions:
        ramet.ok("session", "purge", f"s{each['id']}", "--yes")
    for path in (home / ".claude" / "projects").rglob("*.jsonl"):
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        path.write_text("".join([*lines, *lines[-1:]]), encoding="utf-8")
        os.utime(path, (1_800_000_000, 1_800_000_000))
    told = ramet.json("import", "--yes")["imported"]
    assert (told["new"], told["continued"], told["entries"], told["failed"]) == (0, 0, 0, [])
    assert told["recorded"] > 0
    for each in ramet.json("session", "list", "-A")["items"]:
        said = {item["content"] for item in ramet.json("session", "log", f"s{each['id']}")["items"]}
        assert said <= {"[purged]"}, each["id"]
