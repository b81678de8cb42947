"""Counting tokens: four characters each, or exactly as OpenAI's models do, brought to the scale of another's.

A count is made once, when a content is committed, and is only ever an estimate of what a provider will say. What a
provider did say is kept apart from it (`commits.reported_tokens`) and goes before it.
"""

from collections.abc import Callable, Mapping
from typing import Literal

from ramet.errors import MissingDriver
from ramet.model.history.commit import estimate_tokens

TokenCounter = Callable[[str], int]
Vocabulary = Literal["estimate", "o200k", "cl100k"]

CALIBRATION = {"anthropic:": 1.15}
"""What a model's tokens come to for one that is counted, by the beginning of its name.

No tokenizer of Anthropic's newer models is public. The provider says that OpenAI's vocabularies count 15 to 20 % too
little for text; four characters a token is a little above those vocabularies already. So the lower end is used.
"""

_LONG = 100_000
"""A text of more characters than this may leave pieces behind that are too large to be worth caching."""


def make_counter(vocabulary: Vocabulary, model: str | None, calibration: Mapping[str, float]) -> TokenCounter:
    """The counter for a vocabulary, on the scale of the model that is meant."""
    count = estimate_tokens if vocabulary == "estimate" else _exact(vocabulary)
    factor = _factor(model or "", {**CALIBRATION, **calibration})
    if factor == 1:
        return count
    return lambda text: round(count(text) * factor)


def _factor(model: str, calibration: Mapping[str, float]) -> float:
    """That of the longest beginning of the model's name."""
    known = [prefix for prefix in calibration if model.startswith(prefix)]
    return calibration[max(known, key=len)] if known else 1.0


def _exact(vocabulary: Vocabulary) -> TokenCounter:
    try:
        from splintr import Tokenizer  # noqa: PLC0415 - optional, and 40 MB that most never need
    except ImportError as error:
        raise MissingDriver(
            f"tokens.counter is {vocabulary}, which needs the package splintr-rs",
            field="tokens.counter",
            value=vocabulary,
            fix="run `pip install 'ramet[tokens]'`, or set tokens.counter to estimate",
        ) from error
    tokenizer = Tokenizer.from_pretrained(f"{vocabulary}_base")

    def count(text: str) -> int:
        tokens = len(tokenizer.encode_ordinary(text))
        if len(text) > _LONG:
            tokenizer.clear_cache()
        return tokens

    return count
