"""`ramet hooks`: agent programs' settings, changed only after they were shown, and put back."""

import json
import os
import re
import stat
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command_line import CommandLine
from tests.cli.terminal import at_terminal

FOREIGN = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}\n'


@pytest.fixture
def repository(ramet: CommandLine) -> CommandLine:
    """A project that needs no git."""
    return ramet


def settings(at: CommandLine) -> Path:
    return at.cwd / ".claude" / "settings.json"


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def replace_by_link(program: Path) -> None:
    """Put a link to the same text in place of a program: a text that somebody can change later."""
    other = program.rename(program.with_name("other"))
    program.symlink_to(other)


def row(at: CommandLine, vendor: str, scope: str) -> Any:
    rows = json.loads(at("hooks", "status", "--json").stdout)["items"]
    return next(row for row in rows if (row["vendor"], row["scope"]) == (vendor, scope))


def test_install_shows_what_it_writes_and_remove_takes_it_back(repository: CommandLine) -> None:
    write(settings(repository), FOREIGN)
    text = repository.ok("hooks", "install", "--agent", "claude", "--agent", "codex", "--yes")
    assert f"claude: added ({settings(repository)})" in text
    assert '+    "PreToolUse": [' in text
    assert "codex runs new hooks only when you trust them" in text
    assert row(repository, "claude", "project")["state"] == "installed"
    assert row(repository, "codex", "project")["file"] == str(repository.cwd / ".codex/hooks.json")
    assert "codex: removed" in repository.ok("hooks", "remove", "--yes")
    assert settings(repository).read_text() == FOREIGN
    assert not (repository.cwd / ".codex").exists()


def test_installing_again_changes_nothing(repository: CommandLine) -> None:
    repository.ok("hooks", "install", "--agent", "claude", "--yes")
    before = settings(repository).read_bytes()
    assert repository.ok("hooks", "install", "--agent", "claude") == f"claude: unchanged ({settings(repository)})\n"
    assert settings(repository).read_bytes() == before


def test_without_a_person_to_ask_it_wants_to_be_told(repository: CommandLine) -> None:
    done = repository("hooks", "install", "--agent", "claude")
    assert done.returncode == 2
    assert "give --yes or --dry-run" in done.stderr
    assert not settings(repository).exists()


def test_a_person_sees_the_difference_before_they_are_asked(repository: CommandLine) -> None:
    refused = at_terminal(repository, "hooks", "install", "--agent", "claude", typed="n\n")
    assert refused.text.index('+  "hooks": {') < refused.text.index("Write these changes?")
    assert "nothing was written" in refused.text
    assert not settings(repository).exists()
    agreed = at_terminal(repository, "hooks", "install", "--agent", "claude", typed="y\n")
    assert agreed.text.count('+  "hooks": {') == 1
    assert settings(repository).exists()


def test_a_dry_run_only_shows_it(repository: CommandLine) -> None:
    reply = repository.json("hooks", "install", "--agent", "claude", "--dry-run")
    assert (reply["dry_run"], reply["items"][0]["result"]) == (True, "added")
    assert not settings(repository).exists()
    assert not (repository.home / "ramet" / "hook").exists()


def test_what_a_file_said_before_is_kept(repository: CommandLine) -> None:
    write(settings(repository), FOREIGN)
    repository.ok("hooks", "install", "--agent", "claude", "--yes")
    kept = list((repository.home / "ramet/backups/settings").iterdir())
    assert [file.read_text() for file in kept] == [FOREIGN]
    assert stat.S_IMODE(kept[0].stat().st_mode) == 0o600


def test_the_user_scope_has_the_users_own_files(repository: CommandLine) -> None:
    repository.ok("hooks", "install", "--agent", "claude", "--agent", "codex", "--scope", "user", "--yes")
    home = Path(repository.environ["HOME"])
    assert (home / ".claude/settings.json").exists()
    assert (home / ".codex/hooks.json").exists()
    assert not settings(repository).exists()
    text = repository.ok("hooks", "install", "--agent", "claude", "--yes")
    assert "its user settings have the hooks too" in text


def test_a_program_that_keeps_its_settings_elsewhere_is_found_there(repository: CommandLine) -> None:
    elsewhere = repository.home / "elsewhere"
    environ = {"CLAUDE_CONFIG_DIR": str(elsewhere)}
    done = repository("hooks", "install", "--agent", "claude", "--scope", "user", "--yes", environ=environ)
    assert done.returncode == 0
    assert (elsewhere / "settings.json").exists()


@pytest.mark.requirement("R304")
def test_status_names_what_was_tampered_with_and_install_mends_it(repository: CommandLine) -> None:
    repository.ok("hooks", "install", "--agent", "claude", "--yes")
    file = settings(repository)
    document = json.loads(file.read_text())
    document["hooks"]["Stop"][0]["hooks"][0]["timeout"] = 600
    file.write_text(json.dumps(document))
    assert row(repository, "claude", "project")["state"] == "outdated"
    done = repository("hooks", "status")
    assert done.returncode == 1
    assert (
        "claude (project): Stop: timeout is 600, not 10\n  fix: ramet hooks install --agent claude --scope project"
        in (done.stdout)
    )
    assert "claude: updated" in repository.ok("hooks", "install", "--agent", "claude", "--yes")
    assert repository("hooks", "status").returncode == 0


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda program: program.unlink(), "is missing"),
        (lambda program: program.write_text("#!/bin/sh\ncurl evil\n"), "is outdated or was changed"),
        (lambda program: program.chmod(0o777), "other users can write to"),
        (lambda program: program.chmod(0o600), "is not executable"),
        (replace_by_link, "is not a regular file"),
        (lambda program: os.truncate(program, 300 * 1024 * 1024), "is outdated or was changed"),
    ],
)
def test_status_looks_at_the_program_that_the_hooks_start(repository: CommandLine, spoil: Any, said: str) -> None:
    repository.ok("hooks", "install", "--agent", "claude", "--yes")
    program = repository.home / "ramet" / "hook"
    spoil(program)
    done = repository("hooks", "status")
    assert (done.returncode, said in done.stdout) == (1, True)
    repository.ok("hooks", "install", "--agent", "claude", "--yes")
    assert stat.S_IMODE(program.lstat().st_mode) == 0o700


def test_status_says_where_hooks_are_switched_off(repository: CommandLine) -> None:
    write(settings(repository), '{"disableAllHooks": true}')
    write(repository.cwd / ".codex/config.toml", "[features]\nhooks = false\n")
    repository.ok("hooks", "install", "--agent", "claude", "--agent", "codex", "--yes")
    text = repository("hooks", "status").stdout
    assert "claude (project): the program does not call the hooks: disableAllHooks is true" in text
    assert "codex (project): the program does not call the hooks: features.hooks is false" in text


def test_status_says_what_codex_still_wants_until_each_of_our_hooks_is_trusted(repository: CommandLine) -> None:
    repository.ok("hooks", "install", "--agent", "codex", "--yes")
    file = repository.cwd / ".codex/hooks.json"
    assert "codex (project): codex runs new hooks only when you trust them" in repository.ok("hooks", "status")
    events = [
        "".join(f"_{c.lower()}" if c.isupper() else c for c in e)[1:] for e in json.loads(file.read_text())["hooks"]
    ]
    states = [f'[hooks.state."{file}:{event}:0:0"]\ntrusted_hash = "sha256:1"\n' for event in events]
    config = Path(repository.environ["HOME"]) / ".codex/config.toml"
    write(config, "".join(states[1:]))
    assert row(repository, "codex", "project")["to_do"] is not None
    write(config, "".join(states))
    assert row(repository, "codex", "project")["to_do"] is None
    assert "trust" not in repository.ok("hooks", "install", "--agent", "codex")


def test_where_nothing_is_installed_nothing_is_wrong(repository: CommandLine) -> None:
    assert {row["state"] for row in repository.json("hooks", "status")["items"]} == {"absent"}


def test_a_file_that_cannot_be_read_changes_none(repository: CommandLine) -> None:
    write(repository.cwd / ".codex/hooks.json", "{nonsense")
    done = repository("hooks", "install", "--agent", "claude", "--agent", "codex", "--yes")
    assert done.returncode == 2
    assert "hooks.json: it is not JSON" in done.stderr
    assert not settings(repository).exists()


def test_a_broken_file_of_the_other_scope_is_named_and_does_not_make_the_install_fail(repository: CommandLine) -> None:
    broken = Path(repository.environ["HOME"]) / ".claude/settings.json"
    write(broken, "{nonsense")
    text = repository.ok("hooks", "install", "--agent", "claude", "--yes")
    assert f"claude: added ({settings(repository)})" in text
    assert f"{broken}: it is not JSON" in text


def test_status_has_a_row_for_a_broken_file_and_all_the_others(repository: CommandLine) -> None:
    repository.ok("hooks", "install", "--agent", "claude", "--yes")
    write(repository.cwd / ".codex/hooks.json", "{nonsense")
    done = repository("hooks", "status")
    assert done.returncode == 1
    assert [line.split()[:3] for line in done.stdout.splitlines()[1:6]] == [
        *(["claude", "user", "absent"], ["claude", "project", "installed"], ["claude", "local", "absent"]),
        *(["codex", "user", "absent"], ["codex", "project", "broken"]),
    ]
    assert f"{repository.cwd}/.codex/hooks.json: it is not JSON" in done.stdout
    (problem,) = row(repository, "codex", "project")["problems"]
    assert problem["fix"] == "fix the file first"


def test_without_names_and_without_programs_it_asks_for_names(repository: CommandLine) -> None:
    done = repository("hooks", "install", environ={"PATH": "/nowhere"})
    assert (done.returncode, "claude, codex" in done.stderr) == (2, True)


def test_somebody_elses_status_line_stays_and_is_named(repository: CommandLine) -> None:
    write(settings(repository), '{"statusLine": {"type": "command", "command": "mine"}}')
    text = repository.ok("hooks", "install", "--agent", "claude", "--status-line", "--yes")
    assert "claude: kept its own status line" in text
    assert row(repository, "claude", "project")["status_line"] == "foreign"


def test_a_status_line_can_be_added_later(repository: CommandLine) -> None:
    repository.ok("hooks", "install", "--agent", "claude", "--yes")
    assert "claude: updated" in repository.ok("hooks", "install", "--agent", "claude", "--status-line", "--yes")
    assert row(repository, "claude", "project")["status_line"] == "installed"


@pytest.mark.requirement("R305", "R357")
def test_the_doctor_tells_of_the_hooks_and_how_long_they_take(ramet: CommandLine) -> None:
    ramet.ok("hooks", "install", "--agent", "claude", "--yes")
    payload = json.dumps({"session_id": "x", "hook_event_name": "Stop", "cwd": str(ramet.cwd)})
    ramet.ok("rpc", "call", "hooks.event", json.dumps({"vendor": "claude", "payload": payload}))
    items = json.loads(ramet("doctor", "--json").stdout)["items"]
    details = [item["detail"] for item in items if item["name"] == "hooks"]
    assert details[0] == "installed: claude (project)"
    assert re.fullmatch(r"claude Stop: p50 [\d.]+ ms, p95 [\d.]+ ms, p99 [\d.]+ ms in 1 call", details[-1])
