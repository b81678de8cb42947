"""`codex`: starts Codex without its terminal. `stream` reads what it prints."""

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from ramet.config.files import user_home
from ramet.config.settings import ProfileSettings
from ramet.model.work.driver import Abilities
from ramet.protocol.work.keepers import Launch
from ramet.vendors.codex.facts import FACTS
from ramet.vendors.codex.stream import CodexReader
from ramet.vendors.contract.driver_protocol import NO_VARIABLES, Driver, Start, ToolServer
from ramet.vendors.contract.launches import VENDOR_MARGIN_SECONDS, launch

UNCONFINED = "danger-full-access"
"""Its permission mode for an agent that something else confines."""


def _server(tools: ToolServer) -> str:
    """`required` lets the first turn wait for the server; nobody is there to approve of its calls."""
    return (
        f"{{command={_toml(tools.command)}, args={_toml(tools.arguments)}, env_vars={_toml(tools.variables)}, "
        f'env={{RAMET_TOOL_SECONDS="{tools.seconds}"}}, required=true, default_tools_approval_mode="approve", '
        f"startup_timeout_sec=60, tool_timeout_sec={tools.seconds + VENDOR_MARGIN_SECONDS}}}"
    )


def _toml(value: str | list[str]) -> str:
    """As TOML writes strings and lists of them: like JSON, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


class Codex(Driver):
    """Codex."""

    name = "codex"
    programs = ("codex",)
    bundled = ("codex_cli_bin", "bin/codex")
    tells_version = True
    abilities = Abilities(resume=True, tools=True, usage=True, limits=True, mcp=True)
    names_sessions = False
    fix = "install Codex: npm install -g @openai/codex, or pip install openai-codex-cli-bin"

    def launch(self, start: Start) -> Launch:
        """`codex exec`, with the prompt on its standard input.

        Whether the folder is a repository is not its business: Ramet has chosen it.
        """
        arguments = ["exec", "--json", "--skip-git-repo-check", "-C", start.directory]
        # Inside a sandbox of ours it cannot make its own.
        mode = FACTS.permission_mode if start.profile.sandbox == "off" else UNCONFINED
        arguments += ["--sandbox", start.profile.permission_mode or mode or ""]
        if start.model:
            arguments += ["--model", start.model]
        if start.tools:
            arguments += ["-c", f"mcp_servers.ramet={_server(start.tools)}"]
        if start.guidance:
            arguments += ["-c", f"developer_instructions={_toml(start.guidance)}"]
        arguments += start.profile.arguments
        if start.resumes and start.native_id:
            arguments += ["resume", start.native_id]
        return launch(start, [*arguments, "-"], start.prompt)

    def reader(
        self,
        profile: ProfileSettings,  # noqa: ARG002 - it speaks one language
        environment: Mapping[str, str] = NO_VARIABLES,
    ) -> CodexReader:
        """A reader of its JSON lines, and of what its thread's rollout says meanwhile."""
        named = environment.get("CODEX_HOME")
        folder = Path(named) if named else user_home(environment) / ".codex" if environment else None
        if folder is None:
            return CodexReader()
        from ramet.vendors.codex.rollout import Rollout  # noqa: PLC0415 - only a keeper reads a stream

        return CodexReader(open_rollout=partial(Rollout, folder / "sessions"))


DRIVER = Codex()
