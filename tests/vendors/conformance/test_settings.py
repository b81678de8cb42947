"""Every vendor's settings files: our hooks put in, looked at, taken out again to the last byte."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.vendors.fixtures import files_of
from tests.vendors.settings_files import install, remove, write

from ramet.hooks import installation
from ramet.installer import json_text
from ramet.vendors import registry
from ramet.vendors.contract.hooks.settings import Program

PROGRAMS = list(registry.settings().values())

each_program = pytest.mark.parametrize("program", PROGRAMS, ids=registry.names("settings"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / ".agent" / "settings.json"


@pytest.mark.requirement("R321")
@each_program
def test_the_file_that_is_made_is_the_recorded_one(program: Program, tmp_path: Path) -> None:
    """Some programs trust a hook by its text: a change here asks every user again."""
    made = program.settings_file("project", tmp_path, {})
    install(program, made, status_line=True)
    (recorded,) = files_of(program.name, "settings")
    assert recorded.name == made.name
    assert made.read_bytes() == recorded.read_bytes()


@each_program
def test_the_user_s_own_file_is_in_the_home_or_where_a_variable_says(program: Program, tmp_path: Path) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    environ = {"HOME": str(home)}
    assert program.settings_file("user", tmp_path, environ) == home / program.folder / program.file
    environ[program.folder_variable] = str(other)
    assert program.settings_file("user", tmp_path, environ) == other / program.file


@each_program
def test_a_file_that_says_nothing_about_it_does_not_turn_hooks_off(program: Program, file: Path) -> None:
    assert program.find_switch(file, file.parent) is None
    install(program, file)
    assert program.find_switch(file, file.parent) is None


@each_program
def test_a_file_is_made_where_there_is_none_and_goes_again(program: Program, file: Path) -> None:
    install(program, file)
    assert json.loads(file.read_text())["hooks"].keys() == program.timeouts_seconds.keys()
    remove(program, file)
    assert not file.parent.exists()


@each_program
def test_every_event_has_the_same_command_line_and_it_names_no_machine(program: Program, file: Path) -> None:
    install(program, file)
    groups = [group for groups in json.loads(file.read_text())["hooks"].values() for group in groups]
    assert {handler["command"] for group in groups for handler in group["hooks"]} == {program.command}
    assert not re.search(r"/(home|root|usr|tmp|Users)/", program.command)
    assert all("matcher" not in group for group in groups)


@each_program
def test_time_limits_are_in_seconds_and_longer_where_much_is_read(program: Program) -> None:
    limits = program.timeouts_seconds
    assert limits["PreToolUse"] < limits["SessionStart"] == limits["PreCompact"] <= 60
    assert limits["SessionEnd"] <= 3


@each_program
def test_the_command_does_nothing_where_ramet_is_not_installed(program: Program, tmp_path: Path) -> None:
    done = run(program, {"HOME": str(tmp_path)})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@each_program
@pytest.mark.parametrize(
    ("variable", "below"), [("HOME", ".local/share/ramet"), ("XDG_DATA_HOME", "ramet"), ("RAMET_HOME", "")]
)
def test_the_command_starts_the_program_of_the_users_home(
    program: Program, variable: str, below: str, tmp_path: Path
) -> None:
    folder = tmp_path / "with space" / below
    folder.mkdir(parents=True)
    (folder / "hook").write_text('#!/bin/sh\necho "$1: $(cat)"\nexit 2\n')
    (folder / "hook").chmod(0o755)
    done = run(program, {variable: str(tmp_path / "with space")}, "{}")
    assert (done.returncode, done.stdout) == (2, f"{program.name}: {{}}\n")


def run(program: Program, environ: dict[str, str], stdin: str = "") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["/bin/sh", "-c", program.command],
        env={"PATH": "/usr/bin:/bin", **environ},
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=10,
    )


@each_program
def test_installing_twice_changes_nothing_the_second_time(program: Program, file: Path) -> None:
    first, second = install(program, file), install(program, file)
    assert (first.state, second.state, second.diff) == ("absent", "installed", "")


TEXTS = [
    "{}",
    "{ }\n",
    '{"hooks": {}}',
    '{"hooks": { },"theme":"dark"}',
    '{"hooks": {"Stop": []}}',
    '{"hooks": {"Stop": [ ], "PreToolUse": [{"matcher": "Bash", "hooks": []}]}}\n',
    '{\n  "hooks": {\n    "Stop": [\n      {"hooks": [{"type": "command", "command": "say }]"}]}\n    ]\n  }\n}\n',
    '{\r\n\t"theme": "{\\"hooks\\": 1}",\r\n\t"hooks": {\r\n\t\t"Other": [ { } , 1 ]\r\n\t}\r\n}',
    '{"hooks": {"Stop": [\n  {"hooks": [] }, // mine\n], }, }\n',
    '\ufeff{"permissions": {"allow": ["Bash(hooks)"]}, "statusLine": {"type": "command", "command": "mine"}}\n\n',
]


@each_program
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("status_line", [False, True])
def test_what_others_wrote_stays_and_the_file_is_restored_to_the_last_byte(
    program: Program, text: str, status_line: bool, file: Path
) -> None:
    write(file, text)
    file.chmod(0o600)
    install(program, file, status_line=status_line)
    assert install(program, file, status_line=status_line).diff == ""
    assert json_text.parse(file.read_bytes().decode())["hooks"].keys() >= program.groups().keys()
    remove(program, file)
    assert file.read_bytes() == text.encode()
    assert file.stat().st_mode & 0o777 == 0o600


@each_program
def test_others_entries_are_run_as_before(program: Program, file: Path) -> None:
    foreign = {"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}
    write(file, json.dumps({"hooks": {"PreToolUse": [foreign], "Else": [foreign]}}))
    install(program, file)
    hooks = json.loads(file.read_text())["hooks"]
    assert hooks["PreToolUse"] == [foreign, program.groups()["PreToolUse"]], "Codex trusts hooks by their positions"
    assert hooks["Else"] == [foreign]


@each_program
def test_an_entry_that_went_and_one_that_came_are_named(program: Program, file: Path) -> None:
    install(program, file)
    document = json.loads(file.read_text())
    document["hooks"]["Setup"] = document["hooks"].pop("Stop")
    document["hooks"]["PreToolUse"] *= 2
    document["hooks"]["PostToolUse"][0]["matcher"] = "Bash"
    file.write_text(json.dumps(document))
    assert sorted(installation.find_differences(program, file, file.parent)) == [
        "PostToolUse: also has matcher",
        "PreToolUse: 2 entries instead of one",
        "Setup: an entry that Ramet does not write",
        "Stop: no entry",
    ]


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
_HANDLERS = st.lists(st.fixed_dictionaries({"type": st.just("command"), "command": st.text(max_size=8)}), max_size=3)
_GROUPS = st.lists(st.fixed_dictionaries({"hooks": _HANDLERS}, optional={"matcher": st.text()}) | _VALUES, max_size=3)
_EVENTS = st.sampled_from([*sorted({event for each in PROGRAMS for event in each.events}), "Setup", "FileChanged", ""])


@given(
    rest=st.dictionaries(st.text().filter(lambda key: key != "hooks"), _VALUES, max_size=3),
    hooks=st.none() | st.dictionaries(_EVENTS, _GROUPS, max_size=4),
    indent=st.sampled_from([None, 0, 2, 4, "\t"]),
    is_ascii=st.booleans(),
    program=st.sampled_from(PROGRAMS),
    status_line=st.booleans(),
)
def test_any_settings_file_is_restored(
    rest: dict[str, Any],
    hooks: dict[str, Any] | None,
    indent: int | str | None,
    is_ascii: bool,
    program: Program,
    status_line: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    document = rest if hooks is None else {**rest, "hooks": hooks}
    text = json.dumps(document, indent=indent, ensure_ascii=is_ascii)
    file = tmp_path_factory.mktemp("any") / "settings.json"
    file.write_bytes(text.encode())
    install(program, file, status_line=status_line)
    installed = json.loads(file.read_bytes())
    assert all(program.groups()[event] in installed["hooks"][event] for event in program.timeouts_seconds)
    assert all(group in installed["hooks"][event] for event, groups in (hooks or {}).items() for group in groups)
    remove(program, file)
    assert file.read_bytes() == text.encode()
