"""A cloned project's settings files cannot lead `ramet init`, `hooks` and `mcp` out of it, nor exhaust them."""

import json
from pathlib import Path

import pytest
from tests.cli.command_line import CommandLine

_COMMANDS: dict[str, list[tuple[str, ...]]] = {
    ".claude/settings.json": [("hooks", "install", "--agent", "claude", "--yes"), ("hooks", "remove", "--yes")],
    ".codex/hooks.json": [("hooks", "install", "--agent", "codex", "--yes")],
    ".mcp.json": [("mcp", "install", "claude"), ("mcp", "remove", "claude")],
    ".codex/config.toml": [("mcp", "install", "codex")],
}
_CASES = [(file, command) for file, commands in _COMMANDS.items() for command in commands]


@pytest.mark.requirement("R345")
@pytest.mark.parametrize(("name", "command"), _CASES)
def test_a_committed_link_leads_no_command_out_of_the_project(
    offline: CommandLine, name: str, command: tuple[str, ...]
) -> None:
    target = offline.home / "target"
    target.write_text("# theirs\n" if name.endswith("toml") else "{}\n")
    before = target.read_text()
    file = offline.cwd / name
    file.parent.mkdir(exist_ok=True)
    file.symlink_to(target)
    done = offline(*command)
    assert (done.returncode, str(target) in done.stderr) == (2, True), done.stderr
    assert done.stderr.count(str(file)) == 1
    assert target.read_text() == before


@pytest.mark.requirement("R345")
@pytest.mark.parametrize(("name", "command"), _CASES)
def test_a_deep_file_is_one_plain_message(offline: CommandLine, name: str, command: tuple[str, ...]) -> None:
    file = offline.cwd / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("a = " + "[" * 200_000 if name.endswith("toml") else "[" * 200_000)
    done = offline(*command)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert str(file) in done.stderr
    assert "nested" in done.stderr


@pytest.mark.requirement("R345")
def test_a_settings_file_that_cannot_be_read_does_not_stop_the_others(offline: CommandLine) -> None:
    link = offline.cwd / ".claude"
    link.symlink_to(offline.home)
    rows = {
        (row["vendor"], row["scope"]): row for row in json.loads(offline("hooks", "status", "--json").stdout)["items"]
    }
    assert rows["codex", "project"]["problems"] == []
    assert str(Path(offline.home, "settings.json")) in str(rows["claude", "project"])
