"""Where the vectors of texts come from: a model in a directory, or the owner's embedding endpoint; by default nowhere.

Nothing is downloaded, and without `search.embeddings` nothing here is imported by anything that runs.
"""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from ramet.ai.models import Models
from ramet.config.environment import Environment
from ramet.config.settings import Settings
from ramet.errors import ModelFailed, ModelMissing
from ramet.model.memory.search.vector_source import VectorSource
from ramet.protocol.system.ai import Embed, Embedded

_MOST_SECONDS = 10
_MOST_CHARACTERS = 8000
"""Of a text for an endpoint: what most embedding models take."""


def open_vector_source(settings: Settings, environment: Environment) -> VectorSource | None:
    """The configured source, or None. Raises `ModelMissing` if it cannot be used."""
    match settings.search.embeddings:
        case "off":
            return None
        case "directory":
            return _open_directory(settings.search.model_directory)
        case "endpoint":
            return EndpointSource(settings, environment)


def _open_directory(directory: str | None) -> VectorSource:
    if directory is None:
        raise ModelMissing(
            "search.embeddings is `directory`, and no directory is configured",
            field="search.model_directory",
            fix="set search.model_directory to a directory with tokenizer.json and model.safetensors",
        )
    try:
        from ramet.ai.static_model import StaticModel  # noqa: PLC0415 - needs optional packages
    except ImportError as error:
        raise _not_installed("search.model_directory", directory) from error
    return StaticModel(Path(directory).expanduser())


class EndpointSource:
    """The owner's endpoint: `ai.embed_model` at `ai.base_url`. Its calls are short: words are searched anyway."""

    batch = 64

    def __init__(self, settings: Settings, environment: Environment) -> None:
        try:
            from ramet.ai import vector_arithmetic  # noqa: PLC0415 - needs an optional package
        except ImportError as error:
            raise _not_installed("search.embeddings", "endpoint") from error
        if not settings.ai.embed_model:
            raise ModelMissing("no model is configured: ai.embed_model is not set", field="ai.embed_model")
        self._arithmetic = vector_arithmetic
        hasty = replace(settings.ai, retries=0, timeout_seconds=min(settings.ai.timeout_seconds, _MOST_SECONDS))
        self._models = Models(replace(settings, ai=hasty), environment)
        address = hashlib.sha256((settings.ai.base_url or "").encode()).hexdigest()[:12]
        self.fingerprint = f"endpoint:{settings.ai.embed_model}:{address}"

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        asked = [text[:_MOST_CHARACTERS].strip() for text in texts]
        written = [text for text in asked if text]
        if not written:
            return [b""] * len(texts)
        answer = self._models.answer(Embed(texts=written))
        if not isinstance(answer, Embedded):
            raise ModelFailed("the embedding model answered with a text")
        vectors = iter(self._arithmetic.pack(self._arithmetic.matrix(answer.vectors)))
        return [next(vectors) if text else b"" for text in asked]

    def nearest(self, asked: bytes, rows: Iterable[tuple[int, bytes]], limit: int) -> list[tuple[int, float]]:
        return self._arithmetic.nearest(asked, rows, limit)


def _not_installed(field: str, value: str) -> ModelMissing:
    return ModelMissing(
        "search by meaning needs a package that is not installed",
        field=field,
        value=value,
        fix="install it with: pip install 'ramet[embeddings]'",
    )
