"""The agent programs that can be told of the server in a file of the project, and what each is told.

Each has a time limit for a call, which is raised. They are told the names of the variables that the server needs; where
they are not set, the server belongs to no session, and says so.
"""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from ramet.installer.json_entries import MARK, Made

VARIABLES = ("RAMET_TOKEN", "RAMET_SOCKET")
LIMIT_SECONDS = 3600
"""What the programs' time limits are raised to."""
TOOL_SECONDS = LIMIT_SECONDS - 60
"""Within which a call is answered."""

_OWN = {"RAMET_TOOL_SECONDS": str(TOOL_SECONDS)}


class Vendor(NamedTuple):
    """One program: the file that it reads, and our entry in it."""

    name: str
    program: str
    files: tuple[str, ...]
    """Where it looks in a project; the first is made where there is none."""
    table: str
    """The object that has the servers by name; in TOML, the table."""
    json_entry: Callable[[str, Made], dict[str, Any]] | None
    """Our entry; None where the file is TOML."""


def _claude(command: str, made: Made) -> dict[str, Any]:
    environment = {name: f"${{{name}:-}}" for name in VARIABLES}
    return {
        "type": "stdio",
        "command": command,
        "args": ["mcp"],
        "env": {**environment, **_OWN, MARK: made},
        "timeout": LIMIT_SECONDS * 1000,
    }


def _gemini(command: str, made: Made) -> dict[str, Any]:
    environment = {name: f"${name}" for name in VARIABLES}
    return {
        "command": command,
        "args": ["mcp"],
        "env": {**environment, **_OWN, MARK: made},
        "timeout": LIMIT_SECONDS * 1000,
    }


def _opencode(command: str, made: Made) -> dict[str, Any]:
    """Not every version heeds this limit for calls, so calls are answered within the usual time."""
    environment = {name: f"{{env:{name}}}" for name in VARIABLES}
    return {
        "type": "local",
        "command": [command, "mcp"],
        "environment": {**environment, MARK: made},
        "timeout": LIMIT_SECONDS * 1000,
    }


def codex_block(command: str) -> str:
    """Our table in Codex's file."""
    return (
        "[mcp_servers.ramet]\n"
        f"command = {json.dumps(command)}\n"
        'args = ["mcp"]\n'
        f"env_vars = {json.dumps(VARIABLES)}\n"
        f'env = {{ RAMET_TOOL_SECONDS = "{TOOL_SECONDS}" }}\n'
        "startup_timeout_sec = 60\n"
        f"tool_timeout_sec = {LIMIT_SECONDS}\n"
    )


VENDORS = {
    vendor.name: vendor
    for vendor in (
        Vendor("claude", "claude", (".mcp.json",), "mcpServers", _claude),
        Vendor("codex", "codex", (".codex/config.toml",), "mcp_servers", None),
        Vendor("gemini", "gemini", (".gemini/settings.json",), "mcpServers", _gemini),
        Vendor("opencode", "opencode", ("opencode.json", "opencode.jsonc"), "mcp", _opencode),
    )
}
