"""What each driver makes of an attempt: a command, a prompt on its standard input, an environment."""

import pytest
from msgspec.structs import replace

from ramet.config.settings import ProfileSettings
from ramet.drivers import registry
from ramet.drivers.driver import Start

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
    return registry.find(driver).launch(start).arguments


@pytest.mark.requirement("R312")
@pytest.mark.parametrize("driver", ["claude", "codex", "command"])
def test_the_prompt_comes_on_standard_input_and_in_no_argument(driver: str) -> None:
    launch = registry.find(driver).launch(START)
    assert launch.stdin == START.prompt
    assert not any("Do it." in argument for argument in launch.arguments)
    assert launch.arguments[0] == "/bin/program"
    assert (launch.directory, launch.environment) == ("/tree", {"PATH": "/bin"})


def test_shell_runs_the_bare_instruction_and_gets_the_rest_on_standard_input() -> None:
    launch = registry.find("shell").launch(replace(START, program=["/bin/sh"]))
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
        *("--sandbox", "workspace-write", "-"),
    ]
    assert _arguments("codex", replace(START, resumes=True)) == [*fresh[:-1], "resume", SESSION, "-"]


@pytest.mark.parametrize(("driver", "option"), [("claude", "--permission-mode"), ("codex", "--sandbox")])
def test_model_permission_mode_and_arguments_come_from_the_configuration(driver: str, option: str) -> None:
    profile = ProfileSettings(permission_mode="plan", arguments=["--extra", "one"])
    arguments = _arguments(driver, replace(START, profile=profile, model="big"))
    assert arguments[arguments.index(option) + 1] == "plan"
    assert arguments[arguments.index("--model") + 1] == "big"
    assert arguments[arguments.index("--extra") + 1] == "one"


@pytest.mark.parametrize("driver", registry.names())
def test_an_agent_that_starts_work_does_not_lend_it_its_own_session(driver: str) -> None:
    outer = {"CLAUDECODE": "1", "CLAUDE_CODE_MESSAGING_TOKEN": "key", "CODEX_THREAD_ID": "t"}
    kept = {"CLAUDE_CODE_MAX_RETRIES": "1", "ANTHROPIC_API_KEY": "k", "CODEX_HOME": "/c"}
    launch = registry.find(driver).launch(replace(START, environment={**outer, **kept}))
    assert launch.environment == kept
