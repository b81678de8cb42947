"""The command line as a whole: help, versions, failures, and how it ends."""

import json
import os
import re
import signal
import subprocess
import sys

import click
import pytest
from tests.cli.command_line import CommandLine

from ramet.cli.command import Command
from ramet.cli.commands.moved_commands import MOVED
from ramet.cli.main import COMMANDS, DAILY, ramet
from ramet.version import __version__

WORKING_DAY = [
    *("init", "run", "add", "work", "chain", "ps", "show", "logs"),
    *("tell", "diff", "land", "search", "usage", "undo", "doctor"),
]
"""The daily commands in their order; those that do not exist yet have no line."""


def every_command(group: click.Group = ramet, path: str = "") -> list[tuple[str, click.Command]]:
    """Every command that is no group, with what is typed after `ramet`."""
    context = click.Context(group)
    found = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = f"{path} {name}".strip()
        found += every_command(command, inner) if isinstance(command, click.Group) else [(inner, command)]
    return found


@pytest.mark.parametrize(("name", "command"), every_command())
def test_every_command_has_a_purpose_examples_of_itself_and_json(name: str, command: click.Command) -> None:
    assert isinstance(command, Command)
    assert command.help
    assert command.examples
    assert all(f"ramet {name}" in example or re.search(rf"{name}\b", example) for example in command.examples)
    assert "--json" in {option for param in command.params for option in param.opts}


def test_help_imports_nothing_that_it_does_not_show(offline: CommandLine) -> None:
    program = "import sys; sys.argv = ['ramet', '--help']; from ramet.cli.main import main; main(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    modules = set(done.stdout.splitlines()[-1].split())
    assert not modules & {
        "rich",
        "msgspec",
        "yaml",
        "asyncio",
        "socket",
        "mcp",
        "ramet.client",
        "ramet.config",
        "ramet.mcp",
    }
    assert all(name in done.stdout for name in COMMANDS)


@pytest.mark.requirement("R325")
def test_the_first_screen_has_the_daily_commands_first_and_fits_40_lines(offline: CommandLine) -> None:
    lines = offline.ok("--help").splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    start = lines.index("Daily:") + 1
    assert [line.split()[0] for line in lines[start : start + len(DAILY)]] == list(DAILY)
    assert list(DAILY) == [name for name in WORKING_DAY if name in COMMANDS]
    assert offline.ok("help") == offline.ok("--help")


@pytest.mark.requirement("R325")
def test_help_all_lists_every_command(offline: CommandLine) -> None:
    text = offline.ok("help", "--all")
    listed = [row["command"] for row in offline.json("help", "--all")["items"]]
    assert {name for name, _ in every_command()} <= set(listed)
    assert all(re.search(rf"^ +{name} ", text, re.MULTILINE) for name in listed)
    assert "--debug" in text


def test_the_help_of_a_command_is_found_at_every_level(offline: CommandLine) -> None:
    for names in (["run"], ["history"], ["history", "log"], ["history", "branch", "list"]):
        assert offline.ok("help", *names) == offline.ok(*names, "--help")


# Names that are not there.


@pytest.mark.requirement("R325")
@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_a_moved_command_prints_the_new_line_with_its_arguments(
    offline: CommandLine, old: tuple[str, ...], new: tuple[str, ...]
) -> None:
    done = offline("--set", "work.retries=1", *old, "s7", "two words", "--flag")
    line = f"ramet --set work.retries=1 {' '.join(new)} s7 'two words' --flag"
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        f"error: `ramet {' '.join(old)}` is now `ramet {' '.join(new)}`",
        f"  fix: {line}",
    ]
    refused = offline(*old, "--json")
    assert json.loads(refused.stderr)["error"]["fix"] == f"ramet {' '.join(new)} --json"


def test_the_new_line_of_a_moved_command_is_a_command(offline: CommandLine) -> None:
    names = {name for name, _ in every_command()} | {"history branch"}
    assert {" ".join(new) for new in MOVED.values()} <= names
    assert not {" ".join(old) for old in MOVED} & names


@pytest.mark.requirement("R325")
def test_commands_that_settings_and_prompts_call_are_where_they_were() -> None:
    assert {"hooks", "mcp", "status-line", "note"} <= set(COMMANDS)
    assert "effort phase" in {name for name, _ in every_command()}


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (("wrok",), "ramet work"),
        (("pss",), "ramet ps"),
        (("sesion",), "ramet session"),
        (("comit",), "ramet history commit"),
        (("histroy", "log"), "ramet history"),
        (("history", "lgo"), "ramet history log"),
        (("history", "branch", "crate"), "ramet history branch create"),
        (("runs", "lst"), "ramet runs list"),
        (("help", "runn"), "ramet run"),
    ],
)
def test_a_misspelt_command_gets_a_suggestion(offline: CommandLine, typed: tuple[str, ...], meant: str) -> None:
    done = offline(*typed)
    assert done.returncode == 2
    assert f"did you mean `{meant}`" in done.stderr
    assert f"did you mean `{meant}`" in json.loads(offline(*typed, "--json").stderr)["error"]["fix"]


def test_a_misspelt_option_gets_a_suggestion(offline: CommandLine) -> None:
    assert "--graph" in offline("history", "log", "--grahp").stderr.splitlines()[1]


def test_nothing_that_deletes_is_suggested_for_something_else(offline: CommandLine) -> None:
    assert "reset" not in offline("db", "restore", "backup.db").stderr


# Defects of Ramet itself.

_DEFECT = """
import sys
import ramet.cli.commands.system.config as module
from ramet.cli.main import main
def fail(**_):
    raise TypeError("nobody foresaw\x1b[2J this")
module.config.callback = fail
sys.exit(main())
"""


def _run_defect(offline: CommandLine, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", _DEFECT, *arguments],
        capture_output=True,
        text=True,
        env=offline.environ,
        cwd=offline.cwd,
        check=False,
    )


def test_a_defect_is_one_line_and_its_traceback_is_in_a_file(offline: CommandLine) -> None:
    done = _run_defect(offline, "config")
    error, fix = done.stderr.splitlines()
    log = offline.home / "ramet" / "logs" / "command-line.log"
    assert (done.returncode, error) == (1, "error: Ramet failed: TypeError: nobody foresaw this")
    assert str(log) in fix
    assert "`ramet --debug config`" in fix
    assert "Traceback" in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600
    assert json.loads(_run_defect(offline, "config", "--json").stderr)["error"]["code"] == "failed"


def test_debug_shows_the_traceback_of_a_defect(offline: CommandLine) -> None:
    done = _run_defect(offline, "--debug", "config")
    assert (done.returncode, "Traceback" in done.stderr) == (1, True)


def test_a_defect_is_reported_even_if_no_file_can_be_written(offline: CommandLine) -> None:
    offline.environ["RAMET_HOME"] = "/dev/null/ramet"
    done = _run_defect(offline, "config")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 2)
    assert "`ramet --debug config`" in done.stderr


def test_help_has_the_examples_on_lines_of_their_own(offline: CommandLine) -> None:
    text = offline.ok("effort", "start", "--help")
    assert "Examples:\n  ramet effort start login implement\n" in text


@pytest.mark.parametrize("arguments", [(), ("effort",)])
def test_a_noun_alone_explains_itself(offline: CommandLine, arguments: tuple[str, ...]) -> None:
    assert offline.ok(*arguments).startswith(" ".join(["Usage: ramet", *arguments]))


def test_the_version_is_told(offline: CommandLine) -> None:
    assert __version__ in offline.ok("--version")


def test_a_wrong_usage_exits_with_2_and_says_where_to_look(offline: CommandLine) -> None:
    done = offline("effort", "show", "twelve")
    assert done.returncode == 2
    assert "error: Invalid value for 'EFFORT': 'twelve' is not an effort; write e12 or 12." in done.stderr
    assert "fix: see `ramet effort show --help`" in done.stderr


def test_a_wrong_usage_with_json_is_one_json_document(offline: CommandLine) -> None:
    done = offline("effort", "show", "twelve", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert json.loads(done.stderr)["error"]["code"] == "usage"


def test_a_refusal_says_error_and_fix_and_exits_with_its_status(ramet: CommandLine) -> None:
    done = ramet("session", "show", "s9")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.splitlines()[0] == "error: there is no session 9"
    assert done.stderr.splitlines()[1].startswith("  fix: name a session as")


def test_a_refusal_with_json_is_one_json_document_wherever_the_flag_stands(ramet: CommandLine) -> None:
    for arguments in (("agent", "show", "nobody", "--json"), ("--json", "agent", "show", "nobody")):
        done = ramet(*arguments)
        error = json.loads(done.stderr)["error"]
        assert (done.returncode, error["code"]) == (3, "agent_not_found")
        assert set(error) == {"code", "message", "field", "value", "fix"}


@pytest.mark.requirement("R262")
def test_without_a_daemon_and_without_autostart_a_command_says_what_to_do(offline: CommandLine) -> None:
    done = offline("--set", "daemon.autostart=false", "ps")
    assert done.returncode == 1
    assert "no daemon answers at" in done.stderr
    assert "fix: start it with `ramet daemon start`" in done.stderr


def test_an_interrupt_ends_it_with_130_and_no_traceback(ramet: CommandLine) -> None:
    ramet.ok("project", "add", ".")
    process = subprocess.Popen(
        [ramet.program, "events", "--follow", "--after", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ramet.environ,
        cwd=ramet.cwd,
    )
    assert process.stdout is not None
    assert b"project.added" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert (process.returncode, stderr.strip()) == (130, b"")


def test_a_reader_that_goes_away_is_no_error_to_speak_of(offline: CommandLine) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [offline.program, "rpc", "list", "--json"],
        stdout=writer,
        stderr=subprocess.PIPE,
        env=offline.environ,
        check=False,
    )
    os.close(writer)
    assert done.stderr == b""


def test_a_home_may_be_given_by_a_flag(offline: CommandLine) -> None:
    assert f"home          {offline.home}/elsewhere" in offline.ok("--home", "../elsewhere", "config")


def test_a_directory_that_is_gone_is_said(offline: CommandLine) -> None:
    program = "import os, sys; os.mkdir('x'); os.chdir('x'); os.rmdir('../x'); os.execv(sys.argv[1], sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", program, offline.program, "config"],
        capture_output=True,
        text=True,
        cwd=offline.cwd,
        env=offline.environ,
        check=False,
    )
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, "error: the current directory no longer exists")
