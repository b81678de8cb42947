"""Why a model did not answer, without any part of the question, of the answer or of the key.

A provider's own message is left out: it may quote the request, and some quote a part of the key.
"""

from typing import Any

from ramet.errors import ModelFailed

_REMEDIES = {
    401: "check the key (`ramet config ai.api_key_env`); if you changed the environment, run `ramet daemon stop`",
    403: "check that the key has access to this model",
    404: "check the model's name in ai.model, and ai.base_url",
    413: "send less text",
    429: "wait, or raise your limit at the provider",
}


def is_worth_retrying(error: Exception) -> bool:
    """Whether the same question may be answered in a moment: too many requests, a failing server, or silence."""
    from pydantic_ai import exceptions  # noqa: PLC0415

    passing = (
        exceptions.ModelRateLimitError,
        exceptions.ModelUnavailableError,
        exceptions.ModelServerError,
        exceptions.ModelTimeoutError,
        TimeoutError,
    )
    return isinstance(error, passing)


def retry_after_seconds(error: Exception) -> float | None:
    """How long the provider asks to wait, if it does."""
    seconds: Any = getattr(error, "retry_after", None)
    return float(seconds) if isinstance(seconds, int | float) else None


def explain(error: Exception, model: str, timeout_seconds: float) -> ModelFailed:
    """The error as it is shown."""
    from pydantic_ai import exceptions  # noqa: PLC0415

    match error:
        case exceptions.ModelHTTPError(status_code=status):
            fix = _REMEDIES.get(status, "try again later" if status >= 500 else "see the provider's documentation")
            return ModelFailed(f"{model} answered with status {status}", field="model", value=status, fix=fix)
        case TimeoutError() | exceptions.ModelTimeoutError():
            return ModelFailed(
                f"{model} did not answer within {timeout_seconds:g} seconds",
                field="timeout_seconds",
                value=timeout_seconds,
                fix="try again, or raise ai.timeout_seconds",
            )
        case exceptions.ModelConnectionError():
            return ModelFailed(f"{model} cannot be reached", field="model", value=model, fix="check ai.base_url")
        case _:
            kind = type(error).__name__
            return ModelFailed(f"{model} sent an answer that cannot be read ({kind})", field="model", value=model)
