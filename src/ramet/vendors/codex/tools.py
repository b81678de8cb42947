"""Codex's table for our MCP server. For agents that Ramet starts, `driver` names the server as an argument."""

import json

from ramet.vendors.contract.tool_settings import LIMIT_SECONDS, TOOL_SECONDS, VARIABLES, OwnFile, TomlTools


def _block(command: str) -> str:
    return (
        "[mcp_servers.ramet]\n"
        f"command = {json.dumps(command)}\n"
        'args = ["mcp"]\n'
        f"env_vars = {json.dumps(VARIABLES)}\n"
        f'env = {{ RAMET_TOOL_SECONDS = "{TOOL_SECONDS}" }}\n'
        'default_tools_approval_mode = "approve"\n'  # else its calls are refused unless a person is there to ask
        "startup_timeout_sec = 60\n"
        f"tool_timeout_sec = {LIMIT_SECONDS}\n"
    )


TOOLS = TomlTools(
    "codex",
    program="codex",
    files=(".codex/config.toml",),
    table="mcp_servers",
    block=_block,
    own_file=OwnFile("CODEX_HOME", ".codex", "config.toml"),
)
