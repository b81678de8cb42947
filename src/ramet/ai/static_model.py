"""A model in a directory: a tokenizer, and a matrix with one vector for each of its tokens.

The vector of a text is the mean of its tokens' vectors, so that a text costs microseconds and no network. The owner
puts the two files there, `tokenizer.json` and `model.safetensors`, as model2vec writes them; nothing is downloaded.

The packages that this needs are optional: only `ai.vector_sources` imports it, and only if a directory is configured.
"""

import hashlib
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import splintr
from msgspec import Meta, Struct
from numpy.typing import NDArray

from ramet.ai import vector_arithmetic
from ramet.ai.vector_arithmetic import Vectors
from ramet.errors import ModelMissing

Count = Annotated[int, Meta(ge=0)]

_TOKENIZER, _WEIGHTS = "tokenizer.json", "model.safetensors"
_MOST_TOKENIZER_BYTES = 64 * 1024 * 1024
_MOST_WEIGHTS_BYTES = 2 * 1024 * 1024 * 1024
_MOST_HEADER_BYTES = 16 * 1024 * 1024
_MOST_CHARACTERS = 20_000
"""Of one text: its beginning says what it is about, and a mean of more than that says nothing."""
_KINDS = {"F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I8": "|i1"}


class Tensor(Struct, frozen=True):
    """A row of the table at the beginning of the file of weights."""

    dtype: str
    shape: list[Count]
    data_offsets: tuple[Count, Count]


class StaticModel:
    """The model in one directory. Opening it reads the tokenizer; the matrix is mapped, not read."""

    batch = 8

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        tokenizer = self._read(_TOKENIZER, _MOST_TOKENIZER_BYTES)
        try:
            self._tokenizer = splintr.from_json_bytes(tokenizer)
            self._unknown = _unknown_token(tokenizer)
        except (ValueError, TypeError, msgspec.ValidationError) as error:
            raise self._refusal(f"{_TOKENIZER} cannot be read: {error}") from error
        self._tensors, self._begin = self._read_table()
        self._vectors = self._map("embeddings")
        self._scales = self._map("weights") if "weights" in self._tensors else None
        self._rows = self._map("mapping") if "mapping" in self._tensors else None
        if self._vectors.ndim != 2 or 0 in self._vectors.shape:
            raise self._refusal(
                f"the tensor `embeddings` has the shape {list(self._vectors.shape)}, not rows and columns"
            )
        self.dimension = int(self._vectors.shape[1])
        self.fingerprint = self._digest(tokenizer)

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """A vector for each text; empty if the model knows nothing in it."""
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for number, text in enumerate(texts):
            tokens = self._known(text[:_MOST_CHARACTERS])
            if len(tokens):
                rows[number] = self._mean(tokens)
        return vector_arithmetic.pack(rows)

    def nearest(self, asked: bytes, rows: Iterable[tuple[int, bytes]], limit: int) -> list[tuple[int, float]]:
        """The rows that mean most nearly what was asked."""
        return vector_arithmetic.nearest(asked, rows, limit)

    def _known(self, text: str) -> NDArray[np.int64]:
        tokens: NDArray[np.int64] = np.asarray(self._tokenizer.encode(text), dtype=np.int64)
        vocabulary = len(self._vectors) if self._rows is None else len(self._rows)
        is_known = (tokens != self._unknown) & (tokens < vocabulary)
        return np.asarray(tokens[is_known], dtype=np.int64)

    def _mean(self, tokens: NDArray[np.int64]) -> Vectors:
        rows = tokens if self._rows is None else np.asarray(self._rows[tokens], dtype=np.int64)
        vectors = np.asarray(self._vectors[rows], dtype=np.float32)
        if self._scales is not None:
            vectors = vectors * np.asarray(self._scales[tokens], dtype=np.float32)[:, None]
        return np.asarray(vectors.mean(axis=0), dtype=np.float32)

    # The files.

    def _read_table(self) -> tuple[dict[str, Tensor], int]:
        """The tensors that a model may have, and where in the file their bytes begin."""
        path = self._directory / _WEIGHTS
        try:
            size = path.stat().st_size
            with path.open("rb") as file:
                length = int.from_bytes(file.read(8), "little")
                if length > min(_MOST_HEADER_BYTES, size) or size > _MOST_WEIGHTS_BYTES:
                    raise self._refusal(f"{_WEIGHTS} is not a file of safetensors, or larger than 2 GiB")
                header = msgspec.json.decode(file.read(length), type=dict[str, Any])
            names = [name for name in ("embeddings", "weights", "mapping") if name in header]
            return {name: msgspec.convert(header[name], Tensor) for name in names}, 8 + length
        except OSError as error:
            raise self._refusal(f"{_WEIGHTS} cannot be read: {error.strerror}") from error
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            raise self._refusal(f"{_WEIGHTS} cannot be read as safetensors: {error}") from error

    def _map(self, name: str) -> NDArray[Any]:
        tensor = self._tensors.get(name)
        kind = None if tensor is None else _KINDS.get(tensor.dtype)
        if tensor is None or kind is None:
            raise self._refusal(f"{_WEIGHTS} has no tensor `{name}` of one of the kinds {', '.join(_KINDS)}")
        path, (first, last) = self._directory / _WEIGHTS, tensor.data_offsets
        size = math.prod(tensor.shape) * np.dtype(kind).itemsize
        if size == 0 or size != last - first or self._begin + last > path.stat().st_size:
            raise self._refusal(f"the tensor `{name}` is cut off, empty, or has another size than its shape says")
        return np.memmap(path, dtype=kind, mode="r", offset=self._begin + first, shape=tuple(tensor.shape))

    def _digest(self, tokenizer: bytes) -> str:
        """Vectors of another model must never be compared with this one's."""
        digest = hashlib.sha256(tokenizer)
        with (self._directory / _WEIGHTS).open("rb") as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
        return f"directory:{digest.hexdigest()[:32]}:{self.dimension}"

    def _read(self, name: str, most_bytes: int) -> bytes:
        try:
            with (self._directory / name).open("rb") as file:
                data = file.read(most_bytes + 1)
        except OSError as error:
            raise self._refusal(f"{name} cannot be read: {error.strerror}") from error
        if len(data) > most_bytes:
            raise self._refusal(f"{name} is larger than {most_bytes // 1024 // 1024} MiB")
        return data

    def _refusal(self, why: str) -> ModelMissing:
        return ModelMissing(
            f"the model in {self._directory} cannot be used: {why}",
            field="search.model_directory",
            value=str(self._directory),
            fix="set search.model_directory to a directory with tokenizer.json and model.safetensors",
        )


def _unknown_token(tokenizer: bytes) -> int | None:
    """The id of the token for everything that the vocabulary has no word for."""
    model = msgspec.json.decode(tokenizer, type=dict[str, dict[str, Any] | Any]).get("model")
    if not isinstance(model, dict):
        return None
    vocabulary = model.get("vocab")
    unknown = vocabulary.get(model.get("unk_token")) if isinstance(vocabulary, dict) else model.get("unk_id")
    return msgspec.convert(unknown, int | None)
