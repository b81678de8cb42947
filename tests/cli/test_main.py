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
from ramet.cli.main import COMMANDS, ramet
from ramet.version import __version__


def every_command() -> list[tuple[str, click.Command]]:
    found = []
    for name in COMMANDS:
        command = ramet.get_command(click.Context(ramet), name)
        assert command is not None
        verbs = command.commands if isinstance(command, click.Group) else {"": command}
        found += [(f"{name} {verb}".strip(), verb_command) for verb, verb_command in verbs.items()]
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
    assert "error: Invalid value for 'EFFORT': 'twelve' names no effort; write e12 or 12." in done.stderr
    assert "fix: see `ramet effort show --help`" in done.stderr


def test_a_wrong_usage_with_json_is_one_json_document(offline: CommandLine) -> None:
    done = offline("effort", "show", "twelve", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert json.loads(done.stderr)["error"]["code"] == "usage"


def test_a_refusal_says_error_and_fix_and_exits_with_its_status(ramet: CommandLine) -> None:
    done = ramet("session", "show", "s9")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.splitlines()[0] == "error: there is no session 9"
    assert done.stderr.splitlines()[1].startswith("  fix: name a session by")


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
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, "error: the current directory does not exist any more")
