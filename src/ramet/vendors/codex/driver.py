"""`codex`: starts Codex without its terminal. `stream` reads what it prints."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from ramet.config.files import user_home
from ramet.config.settings import ProfileSettings
from ramet.model.work.driver import Abilities
from ramet.model.work.permission_rule import Policy
from ramet.protocol.work.keepers import Launch
from ramet.vendors.codex import permissions
from ramet.vendors.codex.facts import FACTS
from ramet.vendors.codex.stream import CodexReader
from ramet.vendors.codex.toml_values import toml
from ramet.vendors.contract.driver_protocol import NO_VARIABLES, Driver, Start, ToolServer, Unexpressed
from ramet.vendors.contract.launches import VENDOR_MARGIN_SECONDS, launch

UNCONFINED = "danger-full-access"
"""Its permission mode for an agent that something else confines."""
_CONFINED = FACTS.permission_mode or ""
"""The mode in which the policy decides what its sandbox lets commands do."""


def _server(tools: ToolServer) -> str:
    """`required` lets the first turn wait for the server; nobody is there to approve of its calls."""
    return (
        f"{{command={toml(tools.command)}, args={toml(tools.arguments)}, env_vars={toml(tools.variables)}, "
        f'env={{RAMET_TOOL_SECONDS="{tools.seconds}"}}, required=true, default_tools_approval_mode="approve", '
        f"startup_timeout_sec=60, tool_timeout_sec={tools.seconds + VENDOR_MARGIN_SECONDS}}}"
    )


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
        mode = _mode(start.profile)
        arguments += permissions.arguments(start.policy, start.git) if mode == _CONFINED else ["--sandbox", mode]
        if start.model:
            arguments += ["--model", start.model]
        if start.tools:
            arguments += ["-c", f"mcp_servers.ramet={_server(start.tools)}"]
        if start.guidance:
            arguments += ["-c", f"developer_instructions={toml(start.guidance)}"]
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

    def refuses(self, policy: Policy, profile: ProfileSettings) -> list[str]:  # noqa: ARG002 - its mode decides
        """By its mode; the sandbox is the same for every command."""
        match _mode(profile):
            case "danger-full-access":
                return []
            case "read-only":
                return ["every change", "every network address"]
            case _:
                return ["changes outside the worktree", "every network address"]

    def find_unexpressed(self, policy: Policy, profile: ProfileSettings) -> list[Unexpressed]:
        """Every rule, if the profile names a mode that takes none."""
        if _mode(profile) == _CONFINED:
            return list(permissions.find_unexpressed(policy))
        reason = f"its permission mode is {_mode(profile)}"
        lists = (("ask", policy.ask), ("deny", policy.deny))
        return [Unexpressed(verdict, str(rule), reason) for verdict, rules in lists for rule in rules]


def _mode(profile: ProfileSettings) -> str:
    """Inside a sandbox of ours it cannot make its own."""
    return profile.permission_mode or (_CONFINED if profile.sandbox == "off" else UNCONFINED)


DRIVER = Codex()
