"""The commands that worked in an effort: read from the recorded calls of the tools with which agents run commands.

A compaction keeps most decisions and almost no command. Commands are shown with their exit status, the repeated and the
newest first. Commands that never worked, and those that only look at files, are left out.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

SHELL_TOOLS = (
    "Bash",
    "bash",
    "command_execution",
    "exec_command",
    "local_shell",
    "run_shell_command",
    "run_terminal_cmd",
    "shell",
    "shell_command",
)
"""The tools of agent programs that run a command line."""
MOST_BYTES = 1024
"""Of the list in a resume contract."""
_MOST_SHOWN = 12
_LONGEST = 200
"""Characters of a command. A longer one could only be shown cut, and would not run."""
_LOOKING = frozenset(
    {
        "awk",
        "cat",
        "cd",
        "cut",
        "date",
        "echo",
        "env",
        "false",
        "file",
        "find",
        "grep",
        "head",
        "jq",
        "less",
        "ls",
        "nl",
        "printf",
        "pwd",
        "rg",
        "sed",
        "sleep",
        "sort",
        "stat",
        "tail",
        "test",
        "tr",
        "tree",
        "true",
        "type",
        "uniq",
        "wc",
        "which",
    }
)
"""The first words of commands that only look."""
_PARTS = re.compile(r"&&|\|\|?|;")
_SHELL_FLAGS = ("-c", "-lc", "-ic")


class CommandRun(Struct, frozen=True):
    """One run of a command."""

    command: str
    has_worked: bool
    at_ms: int


class WorkedCommand(Struct, frozen=True):
    """A command that worked, and how often."""

    command: str
    times: int
    last_ms: int
    has_failed_since: bool


def read_command(given: Any) -> str | None:
    """The command line in the arguments of such a tool; None if there is none."""
    if not isinstance(given, Mapping):
        return None
    command = next((given[name] for name in ("command", "cmd") if given.get(name)), None)
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        is_wrapped = len(command) == 3 and command[1] in _SHELL_FLAGS
        command = command[2] if is_wrapped else " ".join(command)
    return command.strip() or None if isinstance(command, str) else None


def list_worked(runs: Iterable[CommandRun]) -> list[WorkedCommand]:
    """The commands that worked. Runs are given oldest first."""
    found: dict[str, WorkedCommand] = {}
    for run in runs:
        known = found.get(run.command)
        if run.has_worked and _is_worth_telling(run.command):
            found[run.command] = WorkedCommand(run.command, known.times + 1 if known else 1, run.at_ms, False)
        elif known is not None:
            found[run.command] = WorkedCommand(known.command, known.times, known.last_ms, has_failed_since=True)
    # Repeated commands first, but three runs say as much as thirty.
    return sorted(found.values(), key=lambda each: (min(each.times, 3), each.last_ms), reverse=True)[:_MOST_SHOWN]


def describe(worked: Iterable[WorkedCommand]) -> list[str]:
    """One line for each command, as far as all of them fit."""
    lines: list[str] = []
    room = MOST_BYTES
    for each in worked:
        times = f", {each.times} times" if each.times > 1 else ""
        line = f"{each.command} [exit 0{times}{'; failed since' if each.has_failed_since else ''}]"
        room -= len(line.encode(errors="replace")) + 3
        if room < 0:
            break
        lines.append(line)
    return lines


def _is_worth_telling(command: str) -> bool:
    if len(command) > _LONGEST or "\n" in command:
        return False
    firsts = {words[0] for part in _PARTS.split(command) if (words := part.split(maxsplit=1))}
    return not firsts <= _LOOKING
