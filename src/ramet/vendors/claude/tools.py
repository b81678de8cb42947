"""Claude Code's entry for our MCP server. For agents that Ramet starts, `driver` names the server as an argument."""

from typing import Any

from ramet.installer.json_entries import MARK, Made
from ramet.vendors.contract.tool_settings import LIMIT_SECONDS, OWN_ENVIRONMENT, VARIABLES, JsonTools, OwnFile


def _entry(command: str, made: Made) -> dict[str, Any]:
    environment = {name: f"${{{name}:-}}" for name in VARIABLES}
    return {
        "type": "stdio",
        "command": command,
        "args": ["mcp"],
        "env": {**environment, **OWN_ENVIRONMENT, MARK: made},
        "timeout": LIMIT_SECONDS * 1000,
        "alwaysLoad": True,  # otherwise the first turn may come before our tools
    }


TOOLS = JsonTools(
    "claude",
    program="claude",
    files=(".mcp.json",),
    table="mcpServers",
    entry=_entry,
    own_file=OwnFile("CLAUDE_CONFIG_DIR", "", ".claude.json"),
)
