"""How our hooks are: in the settings of agent programs, and the program that they start."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

from ramet.cli.invocation import Invocation
from ramet.cli.settings_changes import project_folder, settings_folder
from ramet.hooks import installing
from ramet.hooks.program import make_program, program_path
from ramet.hooks.settings_files import PROGRAMS, Program, Scope
from ramet.installer import changes, json_text

_STATES = {"outdated": "changed"}


class Problem(NamedTuple):
    """Why hooks that are installed do not work as they should, and what to do about it."""

    text: str
    fix: str


def settings_file(invocation: Invocation, program: Program, scope: Scope) -> Path:
    """The file that a program reads."""
    folder = project_folder if program.shares_worktrees else settings_folder
    return program.settings_file(scope, folder(invocation), invocation.environ)


def look(invocation: Invocation) -> Iterator[dict[str, Any]]:
    """Each program in each scope: whether our hooks are there, what is not right about them, and what is left to do."""
    for program in PROGRAMS.values():
        for scope in get_args(Scope):
            file = settings_file(invocation, program, scope)
            state = installing.find_state(program, file)
            yield {
                "program": program.name,
                "scope": scope,
                "state": _STATES.get(state, state),
                "file": str(file),
                "status_line": installing.find_status_line(file) if program.status_line else None,
                "problems": installing.find_differences(program, file),
                "switched_off": None if state == "absent" else _switched_off(program, file),
                "to_do": None if state == "absent" else find_to_do(invocation, program, scope),
            }


def find_to_do(invocation: Invocation, program: Program, scope: Scope) -> str | None:
    """What a person has to do before the program runs our hooks; None where nothing is left, as far as can be seen."""
    folder = settings_folder(invocation) / program.folder
    if scope == "project" and program.shares_worktrees and not folder.is_dir():
        return f"in a linked worktree {program.name} reads hooks only where there is a folder {folder}: make it"
    if program.advice is None:
        return None
    config = program.settings_file("user", folder, invocation.environ).with_name("config.toml")
    trusted = _table(_table(_read_toml(config), "hooks"), "state")
    file = settings_file(invocation, program, scope)
    keys = [f"{file}:{_snake(event)}:{place}:{index}" for event, place, index in installing.find_positions(file)]
    return None if all("trusted_hash" in _table(trusted, key) for key in keys) else program.advice


def look_at_program(invocation: Invocation) -> dict[str, Any]:
    """What the command line in the settings starts, and what is not right about it."""
    path = program_path(invocation.places.home)
    wanted = make_program(invocation.configuration.settings, invocation.places)
    problem, fix = None, "ramet hooks install"
    if not path.is_file():
        problem = "is not there"
    elif path.read_text(encoding="utf-8", errors="replace") != wanted:
        problem = "is not as Ramet would write it now"
    elif path.stat().st_mode & 0o022:
        problem, fix = "may be written to by others", f"chmod 700 {path}"
    return {"file": str(path), "problem": problem, "fix": fix}


def find_problems(rows: Sequence[dict[str, Any]], program: dict[str, Any]) -> Iterator[Problem]:
    """Why hooks that are installed do not work as they should."""
    for row in rows:
        name, again = f"{row['program']} ({row['scope']})", f"--agent {row['program']} --scope {row['scope']}"
        for problem in row["problems"]:
            yield Problem(f"{name}: {problem}", f"ramet hooks install {again}")
        if row["switched_off"]:
            yield Problem(f"{name}: the program does not call them: {row['switched_off']}", "take that setting out")
    if program["problem"] and any(row["state"] != "absent" for row in rows):
        yield Problem(f"{program['file']} {program['problem']}", program["fix"])


def _switched_off(program: Program, file: Path) -> str | None:
    """The setting by which a person has turned all hooks off."""
    if program.name == "claude":
        is_off = json_text.parse(changes.read(file) or "{}").get("disableAllHooks") is True
        return "disableAllHooks is true" if is_off else None
    config = file.with_name("config.toml")
    is_off = _table(_read_toml(config), "features").get("hooks") is False
    return f"features.hooks is false in {config}" if is_off else None


def _read_toml(file: Path) -> dict[str, Any]:
    """What a program's own configuration says; nothing where it cannot be understood, which the program will tell."""
    try:
        return tomllib.loads(changes.read(file) or "")
    except tomllib.TOMLDecodeError:
        return {}


def _table(around: dict[str, Any], name: str) -> dict[str, Any]:
    found = around.get(name)
    return found if isinstance(found, dict) else {}


def _snake(event: str) -> str:
    """`PreToolUse` as `pre_tool_use`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
