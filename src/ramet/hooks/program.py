"""The program that agents' settings name: a file that never moves, with everything that the shim has to know.

The command line in an agent's settings stays the same for ever, because a program may trust a hook by its hash. What
may change (the interpreter, the environment that Ramet is installed in, the settings) is in this file, and the file is
written again whenever it differs: at `ramet hooks install`, and when the daemon starts.

There is one for all projects, so it follows the user's own settings alone (`find_own`): otherwise the project that was
used last, or cloned last, would decide where the hooks of all agents go, and whether they block an agent.
"""

import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ramet.config.layers import load_own
from ramet.config.places import find_places, make_private
from ramet.config.settings import Places, Settings
from ramet.hooks import shim

_LONGEST_LINE = 120
"""Systems cut the first line of a script short at 127 bytes or more."""

_START = "from ramet.cli.main import main; raise SystemExit(main())"

_SOCKET = "\n    socket={}"
_PROGRAM = """\
# Hands an agent's hooks to the Ramet daemon. Written by Ramet, which rewrites it when something below changes.
import sys

sys.path.insert(0, {folder!r})
try:
    from shim import main
except ImportError:  # Ramet is no longer installed there: the agent continues
    sys.exit(0)
main(
    home={home!r},
    socket={socket!r},
    start={start!r},
    deadline_seconds={deadline_seconds!r},
    start_deadline_seconds={start_deadline_seconds!r},
    on_daemon_down={on_daemon_down!r},
)
"""


class Own(NamedTuple):
    """The user's own settings, and the places of the daemon that they name: it receives the hooks of all agents but
    those that another daemon runs.
    """

    settings: Settings
    places: Places


def find_own(environ: Mapping[str, str], home: Path) -> Own:
    """The settings of hooks, for every project."""
    settings = load_own(environ).settings
    return Own(settings, find_places({**environ, "RAMET_HOME": str(home)}, settings))


def program_path(home: Path) -> Path:
    """The path of the program."""
    return home / "hook"


def write_program(settings: Settings, places: Places) -> Path:
    """Make the program as it should be; a file that is right is left alone. Returns its path."""
    path = program_path(places.home)
    wanted = make_program(settings, places)
    if find_fault(path, wanted) is not None:
        make_private(path.parent)
        fresh = path.with_name(f"{path.name}.{os.getpid()}")
        fresh.write_text(wanted, encoding="utf-8")
        fresh.chmod(0o700)
        fresh.replace(path)  # an agent may be starting it right now
    return path


def find_fault(path: Path, wanted: str) -> str | None:
    """Why the file is not the program that Ramet wrote, in words; None if it is.

    Agents start it with each of their hooks, so a file that another user or program can exchange is a fault, even if
    its text is right.
    """
    try:
        found = path.lstat()
    except OSError:
        return f"{path} is missing"
    if not stat.S_ISREG(found.st_mode):
        return f"{path} is not a regular file"
    if found.st_uid != os.geteuid():
        return f"{path} belongs to another user"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"other users can write to {path}"
    expected = wanted.encode()
    if found.st_size != len(expected) or path.read_bytes() != expected:
        return f"{path} is outdated or was changed"
    return None if found.st_mode & stat.S_IXUSR else f"{path} is not executable"


def keep_program_current(environ: Mapping[str, str], places: Places) -> None:
    """The same when the daemon of the program starts, if there is a program at all."""
    own = find_own(environ, places.home)
    if own.places.socket == places.socket and program_path(places.home).is_file():
        write_program(*own)


def is_heard_by(places: Places) -> bool:
    """Whether the reports of hooks that reached no daemon (`gaps.jsonl`) are for this daemon: others, with other
    databases, may share its home.
    """
    path = program_path(places.home)
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    return _SOCKET.format("") not in text or _SOCKET.format(repr(str(places.socket))) in text


def make_program(settings: Settings, places: Places) -> str:
    """The program's text."""
    hooks = settings.hooks
    return _first_line(_interpreter()) + _PROGRAM.format(
        folder=str(Path(shim.__file__).parent),
        home=str(places.home),
        socket=str(places.socket),
        start=(sys.executable, "-P", "-c", _START, "daemon", "start") if settings.daemon.autostart else (),
        deadline_seconds=hooks.deadline_ms / 1000,
        start_deadline_seconds=hooks.start_deadline_ms / 1000,
        on_daemon_down=hooks.on_daemon_down,
    )


def _interpreter() -> str:
    """The interpreter that the environment was made from: it starts faster, and outlives the environment."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def _first_line(interpreter: str) -> str:
    """What makes the file a program: the interpreter itself, or a shell if its path cannot be in the first line."""
    line = f"#!{interpreter} -IS\n"
    if len(os.fsencode(line)) <= _LONGEST_LINE and not any(character.isspace() for character in interpreter):
        return line
    quoted = "'" + interpreter.replace("'", "'\\''") + "'"
    return f"#!/bin/sh\n''':'\nexec {quoted} -I -S \"$0\" \"$@\"\n'''\n"
