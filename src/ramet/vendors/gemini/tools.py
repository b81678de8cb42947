"""Gemini CLI's entry for our MCP server."""

from typing import Any

from ramet.installer.json_entries import MARK, Made
from ramet.vendors.contract.tool_settings import LIMIT_SECONDS, OWN_ENVIRONMENT, VARIABLES, JsonTools


def _entry(command: str, made: Made) -> dict[str, Any]:
    environment = {name: f"${name}" for name in VARIABLES}
    return {
        "command": command,
        "args": ["mcp"],
        "env": {**environment, **OWN_ENVIRONMENT, MARK: made},
        "timeout": LIMIT_SECONDS * 1000,
    }


TOOLS = JsonTools("gemini", program="gemini", files=(".gemini/settings.json",), table="mcpServers", entry=_entry)
