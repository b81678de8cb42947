"""What each driver makes of an attempt: a command, a prompt on its standard input, an environment."""

import json
import tomllib

import pytest
from msgspec.structs import replace

from ramet.config.settings import ProfileSettings
from ramet.vendors import registry, selection
from ramet.vendors.contract.driver_protocol import Start, ToolServer

START = Start(
    instruction="Do it.",
    context="The plan.\n",
    prompt="The plan.\nDo it.",
    program=["/bin/program"],
    directory="/tree",
    environment={"PATH": "/bin"},
    profile=ProfileSettings(),
    native_id="11111111-1111-4111-8111-111111111111",
)
SESSION = str(START.native_id)


def _arguments(driver: str, start: Start) -> list[str]:
    return registry.find_driver(driver).launch(start).arguments


@pytest.mark.requirement("R312")
@pytest.mark.parametrize("driver", ["claude", "codex", "command"])
def test_the_prompt_comes_on_standard_input_and_in_no_argument(driver: str) -> None:
    launch = registry.find_driver(driver).launch(START)
    assert launch.stdin == START.prompt
    assert not any("Do it." in argument for argument in launch.arguments)
    assert launch.arguments[0] == "/bin/program"
    assert (launch.directory, launch.environment) == ("/tree", {"PATH": "/bin"})


def test_shell_runs_the_bare_instruction_and_gets_the_rest_on_standard_input() -> None:
    launch = registry.find_driver("shell").launch(replace(START, program=["/bin/sh"]))
    assert launch.arguments == ["/bin/sh", "-c", "Do it."]
    assert launch.stdin == "The plan.\n"


def test_claude_gives_a_new_session_the_name_that_we_chose() -> None:
    arguments = _arguments("claude", START)
    assert arguments[1:] == [
        *("-p", "--output-format", "stream-json", "--verbose"),
        *("--permission-mode", "acceptEdits", "--session-id", SESSION),
    ]


@pytest.mark.requirement("R312")
def test_claude_resumes_and_forks_by_native_id() -> None:
    assert _arguments("claude", replace(START, resumes=True))[-2:] == ["--resume", SESSION]
    assert _arguments("claude", replace(START, forks=True))[-3:] == ["--resume", SESSION, "--fork-session"]


@pytest.mark.requirement("R312")
def test_codex_resumes_by_thread_and_takes_its_prompt_from_standard_input() -> None:
    fresh = _arguments("codex", START)
    assert fresh[1:] == [
        *("exec", "--json", "--skip-git-repo-check", "-C", "/tree"),
        *("-c", 'default_permissions="ramet"', "-c", 'permissions.ramet={extends=":workspace"}', "-"),
    ]
    assert _arguments("codex", replace(START, resumes=True)) == [*fresh[:-1], "resume", SESSION, "-"]


@pytest.mark.parametrize(("driver", "option"), [("claude", "--permission-mode"), ("codex", "--sandbox")])
def test_model_permission_mode_and_arguments_come_from_the_configuration(driver: str, option: str) -> None:
    profile = ProfileSettings(permission_mode="plan", arguments=["--extra", "one"])
    arguments = _arguments(driver, replace(START, profile=profile, model="big"))
    assert arguments[arguments.index(option) + 1] == "plan"
    assert arguments[arguments.index("--model") + 1] == "big"
    assert arguments[arguments.index("--extra") + 1] == "one"


@pytest.mark.parametrize("driver", registry.names("driver"))
def test_an_agent_that_starts_work_does_not_lend_it_its_own_session(driver: str) -> None:
    outer = {"CLAUDECODE": "1", "CLAUDE_CODE_MESSAGING_TOKEN": "key", "CODEX_THREAD_ID": "t"}
    kept = {"CLAUDE_CODE_MAX_RETRIES": "1", "ANTHROPIC_API_KEY": "k", "CODEX_HOME": "/c"}
    start = replace(START, environment={**outer, **kept})
    assert selection.launch(registry.find_driver(driver), start).environment == kept


@pytest.mark.parametrize("vendor", registry.names("facts"))
def test_every_variable_of_a_vendor_s_session_is_kept_from_the_work_that_it_asks_for(vendor: str) -> None:
    outer = dict.fromkeys(registry.facts()[vendor].own_variables, "1")
    start = replace(START, environment={**outer, "PATH": "/bin"})
    for driver in registry.names("driver"):
        assert selection.launch(registry.find_driver(driver), start).environment == {"PATH": "/bin"}


TOOLS = ToolServer(
    command="/bin/python", arguments=["-P", "-m", "ramet.mcp"], variables=["RAMET_SOCKET", "RAMET_TOKEN"], seconds=3600
)
EQUIPPED = replace(
    START,
    tools=TOOLS,
    guidance='Say "hi".\nTwice.',
    environment={"PATH": "/bin", "RAMET_SOCKET": "/run/ramet", "RAMET_TOKEN": "s7.secret"},
)


@pytest.mark.requirement("R115")
def test_claude_is_given_the_tools_allowed_to_use_them_and_told_about_them() -> None:
    arguments = _arguments("claude", EQUIPPED)
    assert arguments[5:] == [
        *("--mcp-config", arguments[6], "--allowedTools", "mcp__ramet"),
        *("--append-system-prompt", 'Say "hi".\nTwice.'),
        *("--permission-mode", "acceptEdits", "--session-id", SESSION),
    ]
    assert json.loads(arguments[6]) == {
        "mcpServers": {
            "ramet": {
                "type": "stdio",
                "command": "/bin/python",
                "args": ["-P", "-m", "ramet.mcp"],
                "env": {
                    "RAMET_SOCKET": "${RAMET_SOCKET}",
                    "RAMET_TOKEN": "${RAMET_TOKEN}",
                    "RAMET_TOOL_SECONDS": "3600",
                },
                "timeout": 3_660_000,
                "alwaysLoad": True,
            }
        }
    }


@pytest.mark.requirement("R115")
def test_codex_is_given_the_tools_allowed_to_use_them_and_told_about_them() -> None:
    arguments = _arguments("codex", EQUIPPED)
    options = [arguments[index + 1] for index, argument in enumerate(arguments) if argument == "-c"]
    assert arguments[-1] == "-"
    assert tomllib.loads("\n".join(options)) == {
        "default_permissions": "ramet",
        "permissions": {"ramet": {"extends": ":workspace"}},
        "mcp_servers": {
            "ramet": {
                "command": "/bin/python",
                "args": ["-P", "-m", "ramet.mcp"],
                "env_vars": ["RAMET_SOCKET", "RAMET_TOKEN"],
                "env": {"RAMET_TOOL_SECONDS": "3600"},
                "required": True,
                "default_tools_approval_mode": "approve",
                "startup_timeout_sec": 60,
                "tool_timeout_sec": 3660,
            }
        },
        "developer_instructions": 'Say "hi".\nTwice.',
    }


@pytest.mark.parametrize("driver", registry.names("driver"))
def test_a_token_is_in_no_argument(driver: str) -> None:
    launch = registry.find_driver(driver).launch(EQUIPPED)
    assert not any("s7.secret" in argument for argument in launch.arguments)
    assert launch.environment["RAMET_TOKEN"] == "s7.secret"


@pytest.mark.requirement("R142")
@pytest.mark.parametrize(
    ("allowed", "tools", "granted", "may_spawn"),
    [
        (["Read", "Grep"], "Read,Grep", "mcp__ramet,Read,Grep", False),
        ([], "", "mcp__ramet", False),
        (["Read", "mcp__ramet__spawn_agent", "mcp__other__do"], "Read", "mcp__ramet,Read", True),
        (["default"], "", "mcp__ramet", False),
    ],
)
def test_claude_is_confined_to_the_tools_that_are_named(
    allowed: list[str], tools: str, granted: str, may_spawn: bool
) -> None:
    arguments = _arguments("claude", replace(EQUIPPED, allowed_tools=allowed))
    assert "--strict-mcp-config" in arguments
    assert arguments[arguments.index("--tools") + 1] == tools
    assert arguments[arguments.index("--allowedTools") + 1] == granted
    assert ("--disallowedTools" not in arguments) is may_spawn


@pytest.mark.requirement("R142")
def test_only_a_driver_that_can_confine_its_program_says_so() -> None:
    assert [name for name in registry.names("driver") if registry.find_driver(name).abilities.confinement] == ["claude"]
    assert [name for name in registry.names("driver") if registry.find_driver(name).abilities.mcp] == [
        "claude",
        "codex",
    ]
