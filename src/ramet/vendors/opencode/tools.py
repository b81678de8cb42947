"""opencode's entry for our MCP server."""

from typing import Any

from ramet.installer.json_entries import MARK, Made
from ramet.vendors.contract.tool_settings import LIMIT_SECONDS, VARIABLES, JsonTools


def _entry(command: str, made: Made) -> dict[str, Any]:
    """Not every version obeys this limit for calls, so calls are answered within the usual time."""
    environment = {name: f"{{env:{name}}}" for name in VARIABLES}
    return {
        "type": "local",
        "command": [command, "mcp"],
        "environment": {**environment, MARK: made},
        "timeout": LIMIT_SECONDS * 1000,
    }


TOOLS = JsonTools("opencode", program="opencode", files=("opencode.json", "opencode.jsonc"), table="mcp", entry=_entry)
