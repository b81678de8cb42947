"""From a model's name to something that can be asked: the provider's client, with our key and our address."""

from typing import TYPE_CHECKING, Any

from ramet.config.environment import Environment, configured_providers, key_variable, provider_of
from ramet.config.settings import Settings
from ramet.errors import ModelMissing

if TYPE_CHECKING:
    from pydantic_ai.embeddings import EmbeddingModel
    from pydantic_ai.models import Model
    from pydantic_ai.providers import Provider

_NO_KEY = "none"
"""The key for a server of one's own if none is configured: the client libraries insist on one."""


def find_model(name: str, provider: "Provider[Any]") -> "Model":
    """The model that writes. `openai:` means the chat interface, which every compatible server has."""
    from pydantic_ai.models import infer_model  # noqa: PLC0415

    kind, _, model = name.partition(":")
    spoken = f"openai-chat:{model}" if kind == "openai" else name
    return infer_model(spoken, provider_factory=lambda _: provider)


def find_embedding_model(name: str, provider: "Provider[Any]") -> "EmbeddingModel":
    """The model that makes vectors."""
    from pydantic_ai.embeddings import infer_embedding_model  # noqa: PLC0415

    return infer_embedding_model(name, provider_factory=lambda _: provider)


def find_provider(name: str, settings: Settings, environment: Environment) -> "Provider[Any]":
    """The provider: with the configured address and key if it is the configured provider, else with its own."""
    kind = provider_of(name)
    try:
        if kind == "openai":
            from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

            return _once(OpenAIProvider(api_key=_key(kind, settings, environment), base_url=_address(kind, settings)))
        if kind == "anthropic":
            from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415

            return _once(
                AnthropicProvider(api_key=_key(kind, settings, environment), base_url=_address(kind, settings))
            )
        return _other(name)
    except ImportError as error:
        raise ModelMissing(
            f"{name} needs a package that is not installed",
            field="model",
            value=name,
            fix="install it with: pip install 'ramet[ai]'",
        ) from error


def _once(provider: "Provider[Any]") -> "Provider[Any]":
    """Its client tries everything once: trying again is decided in one place, and that is not there."""
    provider.client.max_retries = 0
    return provider


def _other(name: str) -> "Provider[Any]":
    """A provider that pydantic-ai knows, which finds its key in its usual place."""
    from pydantic_ai.exceptions import UserError  # noqa: PLC0415
    from pydantic_ai.providers import infer_provider  # noqa: PLC0415

    try:
        return infer_provider(name.partition(":")[0])
    except (ValueError, UserError) as error:
        raise ModelMissing(
            f"{name} cannot be used: there is no such provider, or its key is not set",
            field="model",
            value=name,
            fix="use openai:… or anthropic:…; for another provider, set its own key variable",
        ) from error


def _address(provider: str, settings: Settings) -> str | None:
    """The configured address, for the configured provider; no key is ever sent to another one."""
    return settings.ai.base_url if _is_configured(provider, settings) else None


def _is_configured(provider: str, settings: Settings) -> bool:
    configured = configured_providers(settings)
    return provider in configured or not configured


def _key(provider: str, settings: Settings, environment: Environment) -> str:
    key = environment.keys.get(provider)
    if key:
        return key
    if _address(provider, settings):
        return _NO_KEY
    variable = key_variable(settings, provider)
    raise ModelMissing(
        f"there is no key for {provider}: {variable} is not set",
        field="ai.api_key_env",
        value=variable,
        fix=f"set {variable} in the environment; if a daemon is running, run `ramet daemon stop`",
    )
