"""The models: a question in, an answer out, in bounded time.

A call blocks until it is answered, so it belongs on a thread of its own. Each attempt has its own time limit; what is
worth trying again is tried again a bounded number of times, after a pause that grows.
"""

import asyncio
import random
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from ramet.ai.failures import explain, is_worth_retrying, retry_after_seconds
from ramet.ai.providers import find_embedding_model, find_model, find_provider
from ramet.config.environment import Environment
from ramet.config.settings import Settings
from ramet.errors import ModelFailed, ModelMissing, RametError
from ramet.protocol.system.ai import Answer, Embed, Embedded, Generate, Generated, Question, Usage

if TYPE_CHECKING:
    from pydantic_ai.providers import Provider
    from pydantic_ai.settings import ModelSettings
    from pydantic_ai.usage import RequestUsage

_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 20.0

Attempt = Callable[["Provider[Any]"], Coroutine[Any, Any, Answer]]


class Models:
    """Asks the models that are configured, or one that a question names. Threads may share it."""

    def __init__(
        self, settings: Settings, environment: Environment, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._settings = settings
        self._environment = environment
        self._sleep = sleep

    def answer(self, question: Question) -> Answer:
        """What a model answers; raises `ModelMissing` or `ModelFailed`. Nothing of the question is kept."""
        ai = self._settings.ai
        if isinstance(question, Generate):
            name = _require(question.model or ai.model, "ai.model")
            limit = question.timeout_seconds or ai.timeout_seconds
            return self._ask(name, limit, lambda provider: _generate(name, question, provider))
        name = _require(question.model or ai.embed_model, "ai.embed_model")
        return self._ask(name, ai.timeout_seconds, lambda provider: _embed(name, question, provider))

    def _ask(self, name: str, timeout_seconds: float, attempt: Attempt) -> Answer:
        retries = self._settings.ai.retries
        while True:
            provider = find_provider(name, self._settings, self._environment)
            try:
                return _run(_within(timeout_seconds, attempt, provider))
            except RametError:
                raise
            except Exception as error:  # noqa: BLE001 - whatever a provider's library raises
                # `from None`, because those errors carry what was sent.
                if not retries or not is_worth_retrying(error):
                    raise explain(error, name, timeout_seconds) from None
                self._sleep(_pause(self._settings.ai.retries - retries, retry_after_seconds(error)))
                retries -= 1


async def _generate(name: str, question: Generate, provider: "Provider[Any]") -> Generated:
    from pydantic_ai.direct import model_request  # noqa: PLC0415
    from pydantic_ai.messages import ModelRequest, UserPromptPart  # noqa: PLC0415

    request = ModelRequest(parts=[UserPromptPart(content=question.prompt)], instructions=question.system)
    model = find_model(name, provider)
    response = await model_request(model, [request], model_settings=_settings(question))
    return Generated(
        text=response.text or "",
        model=name,
        usage=_usage(response.usage),
        finish_reason=response.finish_reason,
    )


async def _embed(name: str, question: Embed, provider: "Provider[Any]") -> Embedded:
    result = await find_embedding_model(name, provider).embed(question.texts, input_type="document")
    vectors = [list(vector) for vector in result.embeddings]
    if len(vectors) != len(question.texts):
        raise ModelFailed(f"{name} returned {len(vectors)} vectors for {len(question.texts)} texts", value=len(vectors))
    return Embedded(model=name, dimension=len(vectors[0]), vectors=vectors, usage=_usage(result.usage))


def _require(name: str | None, key: str) -> str:
    if not name:
        raise ModelMissing(f"no model is configured: {key} is not set", field=key, fix=f"set {key}, or name a model")
    return name


def _settings(question: Generate) -> "ModelSettings":
    settings: ModelSettings = {"max_retries": 0}
    if question.max_tokens is not None:
        settings["max_tokens"] = question.max_tokens
    if question.temperature is not None:
        settings["temperature"] = question.temperature
    return settings


def _usage(usage: "RequestUsage") -> Usage:
    return Usage(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)


def _pause(attempts: int, asked_seconds: float | None) -> float:
    """As long as the provider asks for, or longer each time; a little unequal, so that many do not come at once."""
    seconds = asked_seconds if asked_seconds is not None else _FIRST_PAUSE_SECONDS * 2**attempts
    return min(seconds, _LONGEST_PAUSE_SECONDS) * random.uniform(1.0, 1.25)  # noqa: S311


async def _within(seconds: float, attempt: Attempt, provider: "Provider[Any]") -> Answer:
    async with provider, asyncio.timeout(seconds):
        return await attempt(provider)


def _run(work: Coroutine[Any, Any, Answer]) -> Answer:
    """To its end, on this thread; or on another, if the caller is itself inside an event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
