"""Which commands are told to an agent that continues, and how they are read from the calls of its tools."""

import re
from pathlib import Path

import pytest

import ramet.store
from ramet.model.hooks.worked_commands import (
    MOST_BYTES,
    SHELL_TOOLS,
    CommandRun,
    describe,
    list_worked,
    read_command,
)


def runs(*commands: tuple[str, bool]) -> list[CommandRun]:
    return [CommandRun(command, has_worked, number) for number, (command, has_worked) in enumerate(commands)]


@pytest.mark.requirement("R455")
def test_repeated_commands_come_first_then_the_newest() -> None:
    found = list_worked(runs(("make", True), ("make test", True), ("make", True), ("make lint", True)))
    assert describe(found) == ["make [exit 0, 2 times]", "make lint [exit 0]", "make test [exit 0]"]


@pytest.mark.requirement("R455")
def test_a_command_that_never_worked_is_left_out_and_one_that_fails_since_says_so() -> None:
    found = list_worked(runs(("npm test", False), ("make", True), ("make", False)))
    assert describe(found) == ["make [exit 0; failed since]"]
    assert describe(list_worked([*runs(("make", False)), CommandRun("make", True, 9)])) == ["make [exit 0]"]


@pytest.mark.parametrize(
    "command", ["ls -la", "cat a.py", "grep -rn x .", "cd /tmp && ls | sort", "x" * 500, "cat <<E\nmake\nE"]
)
def test_commands_that_only_look_or_cannot_be_shown_whole_are_left_out(command: str) -> None:
    assert list_worked(runs((command, True))) == []


@pytest.mark.parametrize("command", ["cd web && npm test", "echo y | make install", "CI=1 make test"])
def test_a_command_that_does_more_than_look_is_told(command: str) -> None:
    assert describe(list_worked(runs((command, True)))) == [f"{command} [exit 0]"]


def test_the_list_is_bounded_in_bytes() -> None:
    many = list_worked(runs(*((f"make {'é' * 90}{number}", True) for number in range(50))))
    lines = describe(many)
    assert 3 < len(lines) < 12
    assert sum(len(line.encode()) + 3 for line in lines) <= MOST_BYTES


@pytest.mark.parametrize(
    ("given", "command"),
    [
        ({"command": "make test"}, "make test"),
        ({"cmd": " make "}, "make"),
        ({"command": ["bash", "-lc", "make test"]}, "make test"),
        ({"command": ["make", "test"]}, "make test"),
        ({"command": ["make", 3]}, None),
        ({"command": ""}, None),
        ({"path": "x"}, None),
        ("make", None),
        (None, None),
    ],
)
def test_a_command_is_read_from_what_any_program_gives(given: object, command: str | None) -> None:
    assert read_command(given) == command


def test_the_query_reads_the_same_tools() -> None:
    file = Path(ramet.store.__file__).parent / "sql" / "queries" / "hooks" / "resume_contracts.sql"
    (listed,) = re.findall(r"tool_name IN \(('Bash'.*?)\)", file.read_text(), re.DOTALL)
    assert tuple(re.findall(r"'(\w+)'", listed)) == SHELL_TOOLS
