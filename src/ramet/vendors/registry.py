"""The one table of vendors, which is the folder `vendors` itself: a folder in it with a `facts.py` is a vendor.

The other files of the folder are its parts. A part has one value, named like the part in capitals (`driver.DRIVER`). It
is imported when it is first asked for: a keeper asks for one driver and imports no other, `ramet --help` asks for none.
So nothing but the standard library and the errors is imported here.

This is the only module outside the vendors' folders that may name a vendor, and it does so once (`PREFERRED`).
"""

import os
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from ramet import vendors
from ramet.errors import UnknownDriver

if TYPE_CHECKING:
    from ramet.vendors.contract.driver_protocol import Driver
    from ramet.vendors.contract.edits.calls import EditCalls
    from ramet.vendors.contract.hooks.protocol import Hooks
    from ramet.vendors.contract.hooks.settings import Program
    from ramet.vendors.contract.stored_files.session_sources import Sessions
    from ramet.vendors.contract.tool_settings import Tools
    from ramet.vendors.contract.transcript_lines import Transcripts
    from ramet.vendors.contract.vendor_facts import Facts
    from ramet.vendors.contract.vendor_state import State

Part = Literal["driver", "edits", "facts", "hooks", "sessions", "settings", "state", "tools", "transcript"]

PREFERRED = ("claude", "codex")
"""If no driver is named or configured: the first of these that is installed. Examples in help texts name them too."""


@cache
def names(part: Part) -> tuple[str, ...]:
    """The vendors that have a part, in the order of their names."""
    # With `os`, because every keeper asks this and `pathlib` takes longer to import than all else here.
    folders = ((path, name) for path in vendors.__path__ for name in os.listdir(path))  # noqa: PTH208
    return tuple(sorted(name for path, name in folders if os.path.exists(f"{path}/{name}/{part}.py")))  # noqa: PTH110


def find_driver(name: str) -> "Driver":
    """A driver by its name."""
    if name not in names("driver"):
        raise unknown_driver(name)
    driver: Driver = _load(name, "driver")
    return driver


def unknown_driver(name: str, profiles: Iterable[str] = ()) -> UnknownDriver:
    """The error for a driver that does not exist."""
    known = ", ".join(dict.fromkeys([*names("driver"), *profiles]))
    return UnknownDriver(f"there is no driver {name!r}; the drivers are {known}", field="driver", value=name)


@cache
def facts() -> Mapping[str, "Facts"]:
    """The facts about every vendor, by its name."""
    return _load_all("facts")


@cache
def hooks() -> Mapping[str, "Hooks"]:
    """The hooks of every vendor that has some."""
    return _load_all("hooks")


@cache
def settings() -> Mapping[str, "Program"]:
    """The settings files of every vendor into which our hooks can be written."""
    return _load_all("settings")


@cache
def tools() -> Mapping[str, "Tools"]:
    """The files in which every vendor can be configured with our MCP server."""
    return _load_all("tools")


@cache
def transcripts() -> Mapping[str, "Transcripts"]:
    """The transcripts of every vendor that can be read."""
    return _load_all("transcript")


@cache
def edits() -> Mapping[str, "EditCalls"]:
    """The tools that change files of every vendor whose calls can be read."""
    return _load_all("edits")


def find_edits(name: str) -> "EditCalls | None":
    """The tools of one vendor that change files; None if its calls cannot be read."""
    if name not in names("edits"):
        return None
    found: EditCalls = _load(name, "edits")
    return found


@cache
def sessions() -> Mapping[str, "Sessions"]:
    """The sessions on the disk of every vendor whose sessions can be imported."""
    return _load_all("sessions")


def find_state(name: str) -> "State | None":
    """The files and hosts that a driver's program needs; None if it keeps nothing in the user's home."""
    return _load(name, "state") if name in names("state") else None


# Facts of all vendors together.


def passed_variables() -> list[str]:
    """The environment variables that have the programs' settings and keys, each once; * matches anything."""
    return list(dict.fromkeys(variable for each in facts().values() for variable in each.passed_variables))


def own_variables() -> frozenset[str]:
    """The variables that describe the running session of any program to the commands that it starts."""
    return frozenset().union(*(each.own_variables for each in facts().values()))


def resume_commands() -> dict[str, tuple[str, ...]]:
    """What a person types before the program's own name of a session, to open that session again."""
    return {name: (name, *each.resume_arguments) for name, each in facts().items() if each.resume_arguments}


def directive_files() -> list[str]:
    """The names of the files from which programs read a project's directives."""
    return [each.directive_file for each in facts().values() if each.directive_file]


def settings_folders() -> list[str]:
    """The folders in a project whose files say what programs run."""
    return [each.settings_folder for each in facts().values() if each.settings_folder]


def skill_folders() -> list[str]:
    """The folders of the programs' skills, in a project and in the user's home."""
    return [each.skill_folder for each in facts().values() if each.skill_folder]


def with_status_line() -> dict[str, str]:
    """The vendors whose programs show a line of ours below their prompt, with their titles."""
    return {name: each.title for name, each in facts().items() if each.shows_status_line}


def _load_all(part: Part) -> dict[str, Any]:
    return {name: _load(name, part) for name in names(part)}


def _load(name: str, part: Part) -> Any:
    return getattr(import_module(f"{vendors.__name__}.{name}.{part}"), part.upper())
