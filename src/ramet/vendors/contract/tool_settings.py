"""How an agent program that people start learns of our MCP server: an entry in a file of the project or of the user,
in its own form.

Every program has a time limit for a call, which the entry raises. The entry names the variables that the server needs;
if they are not set, the server belongs to no session, and says so.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ramet.config.files import user_home
from ramet.installer import json_entries, toml_block
from ramet.installer.changes import State
from ramet.installer.json_entries import Made

VARIABLES = ("RAMET_TOKEN", "RAMET_SOCKET")
LIMIT_SECONDS = 3600
"""What the programs' time limits are raised to."""
TOOL_SECONDS = LIMIT_SECONDS - 60
"""Within which a call is answered."""
OWN_ENVIRONMENT = {"RAMET_TOOL_SECONDS": str(TOOL_SECONDS)}
"""The variables whose values we set in an entry."""


class OwnFile(NamedTuple):
    """The file in which a program looks for the servers of its user, in every project."""

    variable: str
    """The environment variable that names another folder than that in the user's home."""
    folder: str
    file: str

    def find(self, environ: Mapping[str, str]) -> tuple[Path, Path]:
        """The file, and the folder that no link may lead out of."""
        named = environ.get(self.variable)
        root = Path(named) if named else user_home(environ)
        return root / ("" if named else self.folder) / self.file, root


class JsonTools(NamedTuple):
    """A program that reads its servers from a JSON file."""

    name: str
    program: str
    """What it is called in PATH."""
    files: tuple[str, ...]
    """Where it looks in a project; the first is made if there is none."""
    table: str
    """The object that has the servers by name."""
    entry: Callable[[str, Made], dict[str, Any]]
    """Our entry, for the command that starts the server."""
    own_file: OwnFile | None = None
    """None if only projects name servers."""

    def find_state(self, text: str, command: str) -> State:
        """Whether the file has our entry, and as we would write it."""
        entry = json_entries.find(text, self.table)
        if entry is None:
            return "absent"
        if (made := json_entries.made(entry)) is None:
            return "foreign"
        return "installed" if entry == self.entry(command, made) else "outdated"

    def install(self, text: str | None, command: str) -> str:
        """The file with our entry, which must not be in it yet."""
        return json_entries.install(text, self.table, partial(self.entry, command))

    def remove(self, text: str) -> str | None:
        """The file as it was without our entry; None if it would not be there at all."""
        return json_entries.remove(text, self.table)


class TomlTools(NamedTuple):
    """A program that reads its servers from a TOML file."""

    name: str
    program: str
    """What it is called in PATH."""
    files: tuple[str, ...]
    """Where it looks in a project; the first is made if there is none."""
    table: str
    """The table that has the servers by name."""
    block: Callable[[str], str]
    """Our table as text, for the command that starts the server."""
    own_file: OwnFile | None = None
    """None if only projects name servers."""

    def find_state(self, text: str, command: str) -> State:
        """Whether the file has our block, and as we would write it."""
        if json_entries.NAME in toml_block.read(text).get(self.table, {}):
            return "foreign"
        block = toml_block.find(text)
        if block is None:
            return "absent"
        return "installed" if block == self.block(command) else "outdated"

    def install(self, text: str | None, command: str) -> str:
        """The file with our block, which must not be in it yet."""
        return toml_block.install(text, self.block(command))

    def remove(self, text: str) -> str | None:
        """The file as it was without our block; None if it would not be there at all."""
        return toml_block.remove(text)


Tools = JsonTools | TomlTools
