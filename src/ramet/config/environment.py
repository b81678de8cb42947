"""The secrets that an entry point reads from the environment, because no configuration file holds them.

They are passed down as values, and never shown or stored.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase

from msgspec import Struct

from ramet.config.settings import Settings

_SHORTEST = 8
"""A shorter value is unlikely to be a secret, and would match inside ordinary words."""

_KEY_VARIABLES = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


class Environment(Struct, frozen=True, kw_only=True):
    """The secrets that the environment holds."""

    keys: dict[str, str] = {}
    """The key of each provider."""
    denied: tuple[str, ...] = ()
    """Values that are removed from everything that is stored."""

    def __repr__(self) -> str:
        return f"Environment({len(self.keys)} keys, {len(self.denied)} denied)"


def read_environment(environ: Mapping[str, str], settings: Settings) -> Environment:
    """The providers' keys, and the values of the variables that `redaction.environment` names."""
    variables = dict(_KEY_VARIABLES)
    if settings.ai.api_key_env:
        variables |= dict.fromkeys(configured_providers(settings), settings.ai.api_key_env)
    keys = {provider: environ[name] for provider, name in variables.items() if environ.get(name)}
    denied = {value for name, value in environ.items() if _is_denied(name, settings.redaction.environment)}
    return Environment(keys=keys, denied=tuple(sorted(filter(_is_long, {*denied, *keys.values()}))))


def configured_providers(settings: Settings) -> set[str]:
    """The providers of the configured models. `ai.base_url` and `ai.api_key_env` apply only to them."""
    models = filter(None, (settings.ai.model, settings.ai.embed_model))
    return {provider_of(model) for model in models}


def provider_of(model: str) -> str:
    """The provider of a model, regardless of which of its interfaces the model's name selects."""
    provider = model.partition(":")[0]
    return "openai" if provider.startswith("openai-") else provider


def key_variable(settings: Settings, provider: str) -> str | None:
    """The name of the variable that holds a provider's key, if Ramet reads it."""
    if settings.ai.api_key_env and provider in configured_providers(settings):
        return settings.ai.api_key_env
    return _KEY_VARIABLES.get(provider)


def _is_denied(name: str, patterns: list[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _is_long(value: str) -> bool:
    return len(value) >= _SHORTEST
