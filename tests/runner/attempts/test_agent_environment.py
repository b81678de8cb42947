"""Which variables an agent sees."""

from pathlib import Path

import pytest
from tests.docs.pages import ROOT

from ramet.config.keys import find_defaults
from ramet.config.settings import ProfileSettings, WorkSettings
from ramet.runner.attempts.agent_environment import find_visible
from ramet.vendors import registry

SHELL = {
    "PATH": "/bin",
    "ANTHROPIC_API_KEY": "a",
    "AWS_REGION": "b",
    "CLOUD_ML_REGION": "c",
    "OPENAI_API_KEY": "d",
    "OPENROUTER_API_KEY": "e",
    "GEMINI_API_KEY": "f",
    "MY_GATEWAY_KEY": "g",
    "MY_TEAM": "h",
    "SECRET": "i",
}


def default() -> WorkSettings:
    environment = find_defaults(registry.passed_variables())["work.environment"]
    assert isinstance(environment, list)
    return WorkSettings(environment=environment)


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    return {**SHELL, "HOME": str(tmp_path)}


def see(shell: dict[str, str], driver: str, settings: WorkSettings | None = None) -> set[str]:
    seen = find_visible(shell, settings or default(), driver, ProfileSettings(environment={"MINE": "1"}))
    return set(seen) - {"PATH", "HOME", "MINE"}


@pytest.mark.requirement("R372")
def test_an_agent_sees_the_variables_of_its_own_program_and_not_those_of_others(shell: dict[str, str]) -> None:
    assert see(shell, "claude") == {"ANTHROPIC_API_KEY", "AWS_REGION", "CLOUD_ML_REGION"}
    assert see(shell, "codex") == {"OPENAI_API_KEY", "OPENROUTER_API_KEY", "AWS_REGION"}
    everything = set(SHELL) - {"PATH", "MY_GATEWAY_KEY", "MY_TEAM", "SECRET"}
    assert see(shell, "command") == see(shell, "shell") == everything


@pytest.mark.requirement("R372")
def test_codex_sees_the_variables_that_its_own_configuration_names(shell: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text(
        '[model_providers.gateway]\nenv_key = "MY_GATEWAY_KEY"\nenv_http_headers = { X-Team = "MY_TEAM" }\n'
        '[model_providers.wide]\nenv_key = "*"\n[model_providers.odd]\nenv_key = 3\n'
    )
    assert see(shell, "codex") - see(shell | {"HOME": "/nowhere"}, "codex") == {"MY_GATEWAY_KEY", "MY_TEAM"}


def test_a_list_of_the_owners_is_exactly_what_every_agent_sees(shell: dict[str, str]) -> None:
    narrowed = WorkSettings(environment=["PATH", "OPENAI_*"])
    assert see(shell, "claude", narrowed) == see(shell, "codex", narrowed) == {"OPENAI_API_KEY"}


@pytest.mark.requirement("R372")
@pytest.mark.parametrize("driver", ["claude", "codex"])
def test_the_page_of_drivers_lists_the_variables_of_each(driver: str) -> None:
    page = (ROOT / "docs" / "drivers.md").read_text()
    (row,) = (line for line in page.splitlines() if line.startswith(f"| `{driver}` | `") and "_*`" in line)
    assert [name for name in registry.facts()[driver].passed_variables if f"`{name}`" not in row] == []
