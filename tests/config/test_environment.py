"""What is taken from the environment beside the keys: secrets, which are handed down and shown nowhere."""

from pathlib import Path

import pytest

from ramet.config.environment import read_environment
from ramet.config.layers import load
from ramet.config.settings import AiSettings, RedactionSettings, Settings
from ramet.errors import InvalidSetting

ENVIRON = {
    "OPENAI_API_KEY": "openai-key-1",
    "ANTHROPIC_API_KEY": "anthropic-key-1",
    "MY_KEY": "my-own-key-1",
    "DEPLOY_TOKEN": "deploy-token",
    "SHORT_TOKEN": "1234567",
    "PATH": "/usr/bin:/bin",
}


def test_each_provider_has_its_own_key() -> None:
    environment = read_environment(ENVIRON, Settings())
    assert environment.keys == {"openai": "openai-key-1", "anthropic": "anthropic-key-1"}


def test_a_named_variable_is_for_the_configured_provider_alone() -> None:
    settings = Settings(ai=AiSettings(model="openai-responses:gpt-5", api_key_env="MY_KEY"))
    environment = read_environment(ENVIRON, settings)
    assert environment.keys == {"openai": "my-own-key-1", "anthropic": "anthropic-key-1"}
    assert "my-own-key-1" in environment.denied


def test_the_values_of_denied_variables_are_secrets_unless_they_are_short() -> None:
    denied = read_environment(ENVIRON, Settings()).denied
    assert "deploy-token" in denied
    assert {"1234567", "/usr/bin:/bin"}.isdisjoint(denied)


def test_which_variables_are_denied_is_configured() -> None:
    settings = Settings(redaction=RedactionSettings(environment=["PA?H"]))
    assert "/usr/bin:/bin" in read_environment(ENVIRON, settings).denied


def test_it_shows_nothing_of_what_it_holds() -> None:
    shown = repr(read_environment(ENVIRON, Settings()))
    assert all(value not in shown for value in ENVIRON.values())


def test_lists_and_mappings_come_from_a_file_or_as_json_from_the_environment(tmp_path: Path) -> None:
    own = tmp_path / ".config/ramet/config.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("redaction:\n  patterns: ['corp-[0-9]+']\ntokens:\n  calibration: {'mistral:': 1.1}\n")
    environ = {"HOME": str(tmp_path), "RAMET_REDACTION_ENVIRONMENT": '["*_PIN"]'}
    settings = load(environ, tmp_path, {"tokens.counter": "o200k"}).settings
    assert settings.redaction.patterns == ["corp-[0-9]+"]
    assert settings.redaction.environment == ["*_PIN"]
    assert settings.tokens.calibration == {"mistral:": 1.1}
    assert settings.tokens.counter == "o200k"


@pytest.mark.parametrize("given", ["*_PIN", "[1]", '{"a": 1}', "["])
def test_what_is_no_list_is_refused_with_what_would_be(tmp_path: Path, given: str) -> None:
    environ = {"HOME": str(tmp_path), "RAMET_REDACTION_PATTERNS": given}
    with pytest.raises(InvalidSetting, match=r"redaction\.patterns is .* must be a list of strings") as refused:
        load(environ, tmp_path, {})
    assert "as JSON" in refused.value.fix
