"""Output that is longer than the screen goes through a pager, on a terminal only."""

from pathlib import Path

import pytest
from tests.cli.command_line import CommandLine
from tests.cli.terminal import at_terminal

LINES = 60
"""More than the test terminal has rows."""


@pytest.fixture
def ramet(ramet: CommandLine) -> CommandLine:
    """A branch with a commit whose text is longer than the screen."""
    ramet.ok("history", "commit", "main", "\n".join(f"line {number}" for number in range(LINES)))
    return ramet


def pager(ramet: CommandLine, script: str) -> Path:
    """A pager that leaves a mark, and then does what the script says."""
    program = ramet.home / "pager"
    program.write_text(f'#!/bin/sh\necho "LESS=$LESS" > {ramet.home}/mark\n{script}\n')
    program.chmod(0o755)
    return program


def test_long_output_on_a_terminal_is_given_to_the_pager(ramet: CommandLine) -> None:
    program = pager(ramet, "sed 's/^/> /'")
    seen = at_terminal(ramet, "show", "main", environ={"PAGER": str(program)})
    assert seen.status == 0
    assert f"> line {LINES - 1}\n" in seen.text
    assert (ramet.home / "mark").read_text() == "LESS=FRX\n"
    at_terminal(ramet, "show", "main", environ={"PAGER": str(program), "LESS": "S"})
    assert (ramet.home / "mark").read_text() == "LESS=S\n"


def test_leaving_the_pager_early_is_no_error(ramet: CommandLine) -> None:
    program = pager(ramet, "head -3")
    seen = at_terminal(ramet, "show", "main", environ={"RAMET_PAGER": str(program), "PAGER": "cat"})
    assert seen.status == 0
    assert "error" not in seen.text
    assert "line 50" not in seen.text


@pytest.mark.parametrize("environ", [{"PAGER": "cat"}, {"PAGER": ""}, {"NO_PAGER": "1"}, {"PAGER": "no-such-pager"}])
def test_without_a_pager_everything_is_printed(ramet: CommandLine, environ: dict[str, str]) -> None:
    program = pager(ramet, "cat")
    seen = at_terminal(ramet, "show", "main", environ={"PAGER": str(program), **environ})
    assert seen.status == 0
    assert f"line {LINES - 1}\n" in seen.text
    assert not (ramet.home / "mark").exists()


def test_short_output_json_and_pipes_have_no_pager(ramet: CommandLine) -> None:
    program = pager(ramet, "cat")
    ramet.ok("history", "commit", "short", "one line")
    environ = {"PAGER": str(program)}
    assert "one line" in at_terminal(ramet, "show", "short", environ=environ).text
    assert '"hash"' in at_terminal(ramet, "show", "main", "--json", environ=environ).text
    assert f"line {LINES - 1}\n" in ramet("show", "main", environ=environ).stdout
    assert not (ramet.home / "mark").exists()
