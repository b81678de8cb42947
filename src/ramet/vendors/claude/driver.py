"""`claude`: starts Claude Code without its terminal. `stream` reads what it prints."""

import json
from collections.abc import Mapping

from ramet.config.settings import ProfileSettings
from ramet.model.work.driver import Abilities
from ramet.model.work.permission_rule import Policy
from ramet.protocol.work.keepers import Launch
from ramet.vendors.claude import permissions
from ramet.vendors.claude.facts import FACTS
from ramet.vendors.claude.stream import ClaudeReader
from ramet.vendors.contract.driver_protocol import NO_VARIABLES, Driver, Start, ToolServer, Unexpressed
from ramet.vendors.contract.launches import VENDOR_MARGIN_SECONDS, launch

_SPAWN = "mcp__ramet__spawn_agent"
_ALL = "default"
"""The word of `--tools` for all tools that there are; no tool has this name."""


def _arguments(start: Start) -> list[str]:
    """Ramet's tools beside the program's own, or only those that the agent may use; and what the policy allows.

    `--tools` chooses among the built-in ones, `--strict-mcp-config` leaves out every server that is not named here. Of
    ours, a confined agent may report and read; it may spawn, and so get at other tools, only where that was allowed.
    """
    arguments = ["--mcp-config", _server(start.tools)] if start.tools else []
    allowed = ["mcp__ramet"] if start.tools else []
    denied = permissions.denied(start.policy)
    if start.allowed_tools is not None:
        built_in = [name for name in start.allowed_tools if "__" not in name and name != _ALL]
        arguments += ["--strict-mcp-config", "--tools", ",".join(built_in)]
        if start.tools and _SPAWN not in start.allowed_tools:
            denied.append(_SPAWN)
        allowed += built_in
    allowed += permissions.allowed(start.policy)
    if denied:
        arguments += ["--disallowedTools", ",".join(denied)]
    return [*arguments, "--allowedTools", ",".join(allowed)] if allowed else arguments


def _server(tools: ToolServer) -> str:
    """Its `timeout` is how long a call may take, whatever MCP_TOOL_TIMEOUT says; with `alwaysLoad` the first turn waits
    for the server, and the model sees the tools without searching for them.
    """
    server = {
        "type": "stdio",
        "command": tools.command,
        "args": tools.arguments,
        "env": {
            **{name: f"${{{name}}}" for name in tools.variables},
            "RAMET_TOOL_SECONDS": str(tools.seconds),
        },
        "timeout": (tools.seconds + VENDOR_MARGIN_SECONDS) * 1000,
        "alwaysLoad": True,
    }
    return json.dumps({"mcpServers": {"ramet": server}})


class Claude(Driver):
    """Claude Code."""

    name = "claude"
    programs = ("claude",)
    bundled = ("claude_agent_sdk", "_bundled/claude")
    tells_version = True
    abilities = Abilities(
        resume=True, fork=True, tools=True, usage=True, cost=True, limits=True, mcp=True, confinement=True
    )
    names_sessions = True
    fix = "install Claude Code: npm install -g @anthropic-ai/claude-code, or pip install claude-agent-sdk"

    def launch(self, start: Start) -> Launch:
        """`claude -p`, with the prompt on its standard input: it may be long, and is nobody else's business."""
        arguments = ["-p", "--output-format", "stream-json", "--verbose", *_arguments(start)]
        if start.guidance:
            arguments += ["--append-system-prompt", start.guidance]
        arguments += ["--permission-mode", start.profile.permission_mode or FACTS.permission_mode or ""]
        if start.model:
            arguments += ["--model", start.model]
        if start.native_id:
            arguments += ["--resume" if start.resumes or start.forks else "--session-id", start.native_id]
        if start.forks:
            arguments.append("--fork-session")
        return launch(start, [*arguments, *start.profile.arguments], start.prompt)

    def reader(
        self,
        profile: ProfileSettings,  # noqa: ARG002 - it speaks one language
        environment: Mapping[str, str] = NO_VARIABLES,  # noqa: ARG002 - it has no files of its own
    ) -> ClaudeReader:
        """A reader of stream-json."""
        return ClaudeReader()

    def refuses(self, policy: Policy, profile: ProfileSettings) -> list[str]:
        """By its mode, and by what the rules allow."""
        mode = profile.permission_mode or FACTS.permission_mode
        if mode == "bypassPermissions":
            return []
        known = permissions.expressed(policy)
        commands = ", ".join(rule.pattern for rule in known if rule.kind == "run")
        hosts = ", ".join(rule.pattern for rule in known if rule.kind == "fetch")
        edits = "edits outside the worktree" if mode in ("acceptEdits", "auto") else f"edits (its mode is {mode})"
        return [
            f"commands that change something, other than {commands}" if commands else "commands that change something",
            edits,
            f"network addresses other than {hosts}" if hosts else "every network address",
        ]

    def find_unexpressed(self, policy: Policy, profile: ProfileSettings) -> list[Unexpressed]:  # noqa: ARG002
        """The rules that it has no words for, in any mode."""
        return list(permissions.find_unexpressed(policy))


DRIVER = Claude()
