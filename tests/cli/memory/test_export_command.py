"""`ramet export` and the import of what it wrote: three formats, no file overwritten, identical hashes elsewhere."""

import json
from pathlib import Path

import pytest
from tests.cli.command_line import CommandLine


def hashes(ramet: CommandLine, session: str) -> list[str]:
    return [item["commit"] for item in ramet.json("session", "log", session)["items"]]


@pytest.mark.requirement("R398", "R342")
def test_sessions_are_exported_in_three_formats_and_imported_in_another_home(shop: CommandLine, home: Path) -> None:
    shop.ok("project", "add", ".")
    reference = "s" + str(shop.json("effort", "start", "login", "do")["session"]["id"])
    shop.ok("session", "say", reference, "user", "Why does the login fail?")
    shop.ok("session", "say", reference, "assistant", "The cookie has expired.")
    shop.ok("session", "finish", reference)
    markdown = shop.ok("export", reference, "--format", "markdown", "--output", "-")
    assert "The cookie has expired." in markdown
    atif = json.loads(shop.ok("export", reference, "--format", "atif", "--output", "-"))
    assert (atif["schema_version"], len(atif["steps"])) == ("ATIF-v1.7", 2)
    archive = home / "all.ramet"
    told = shop.json("export", "--all", "--output", str(archive))
    assert (told["format"], told["bytes"]) == ("ramet", archive.stat().st_size)
    assert archive.stat().st_mode & 0o077 == 0
    before = archive.read_bytes()
    again = shop("export", "--all", "--output", str(archive))
    assert (again.returncode != 0, archive.read_bytes() == before) == (True, True)
    for wrong in (["s99"], ["e99"], ["r99"], [str(home / "nowhere")], [reference, "--format", "pdf"]):
        refused = shop("export", *wrong, "--output", str(home / "wrong"))
        assert (refused.returncode != 0, refused.stderr != "") == (True, True), wrong
    assert not (home / "wrong").exists()
    other = CommandLine(home / "other", shop.cwd)
    (home / "other").mkdir()
    try:
        other.ok("import", str(archive), "--dry-run")
        assert other.json("session", "list", "-A")["items"] == []
        other.ok("import", str(archive))
        (copied,) = other.json("session", "list", "-A")["items"]
        assert hashes(other, f"s{copied['id']}") == hashes(shop, reference)
        other.ok("import", str(archive))
        assert len(other.json("session", "list", "-A")["items"]) == 1
    finally:
        other("daemon", "stop")
