"""A model in a directory: a tokenizer, and a matrix with one vector for each of its tokens.

The vector of a text is the mean of its tokens' vectors, so that a text costs microseconds and no network. The owner
puts the two files there, `tokenizer.json` and `model.safetensors`, as model2vec writes them; nothing is downloaded.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ramet.errors import ModelMissing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_TOKENIZER, _WEIGHTS = "tokenizer.json", "model.safetensors"
_MOST_TOKENIZER_BYTES = 64 * 1024 * 1024
_MOST_WEIGHTS_BYTES = 2 * 1024 * 1024 * 1024
_MOST_HEADER_BYTES = 16 * 1024 * 1024
_MOST_CHARACTERS = 20_000
"""Of one text: its beginning says what it is about, and a mean of more than that says nothing."""
_KINDS = {"F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I8": "|i1"}


class Tensor(NamedTuple):
    """Where a tensor is in the file."""

    kind: str
    shape: list[int]
    first: int
    last: int


class StaticModel:
    """The model in one directory. Opening it reads the tokenizer; the matrix is mapped, not read."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        try:
            import numpy as np  # noqa: PLC0415 - an optional package
            import splintr  # type: ignore[import-untyped]  # noqa: PLC0415 - another
        except ImportError as error:
            raise ModelMissing(
                f"the model in {directory} needs a package that is not installed",
                field="search.model_directory",
                value=str(directory),
                fix="install it with: pip install 'ramet[embeddings]'",
            ) from error
        self._np = np
        tokenizer = self._read(_TOKENIZER, _MOST_TOKENIZER_BYTES)
        try:
            self._tokenizer = splintr.from_json_bytes(tokenizer)
            self._unknown = _unknown_token(tokenizer)
        except ValueError as error:
            raise self._refusal(f"{_TOKENIZER} cannot be read: {error}") from error
        tensors = self._tensors()
        self._vectors = self._map(tensors, "embeddings")
        self._scales = self._map(tensors, "weights") if "weights" in tensors else None
        self._rows = self._map(tensors, "mapping") if "mapping" in tensors else None
        if self._vectors.ndim != 2 or 0 in self._vectors.shape:
            raise self._refusal(
                f"the tensor `embeddings` has the shape {list(self._vectors.shape)}, not rows and columns"
            )
        self.dimension = int(self._vectors.shape[1])
        self.fingerprint = self._digest(tokenizer)

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """A row for each text, of length 1; of zeros if the model knows nothing in it."""
        np = self._np
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for number, text in enumerate(texts):
            tokens = self._known(text[:_MOST_CHARACTERS])
            if len(tokens):
                rows[number] = self._mean(tokens)
        return rows

    def _known(self, text: str) -> "NDArray[np.int64]":
        np = self._np
        tokens = np.asarray(self._tokenizer.encode(text), dtype=np.int64)
        vocabulary = len(self._vectors) if self._rows is None else len(self._rows)
        return tokens[(tokens != self._unknown) & (tokens < vocabulary)]

    def _mean(self, tokens: "NDArray[np.int64]") -> "NDArray[np.float32]":
        np = self._np
        rows = tokens if self._rows is None else np.asarray(self._rows[tokens], dtype=np.int64)
        vectors = np.asarray(self._vectors[rows], dtype=np.float32)
        if self._scales is not None:
            vectors = vectors * np.asarray(self._scales[tokens], dtype=np.float32)[:, None]
        mean: NDArray[np.float32] = vectors.mean(axis=0)
        length = float(np.linalg.norm(mean))
        return mean / length if np.isfinite(length) and length > 0 else np.zeros_like(mean)

    # The files.

    def _tensors(self) -> dict[str, Tensor]:
        """The table at the beginning of the file of weights."""
        path = self._directory / _WEIGHTS
        try:
            size = path.stat().st_size
            with path.open("rb") as file:
                length = int.from_bytes(file.read(8), "little")
                if not 2 <= length <= min(_MOST_HEADER_BYTES, size) or size > _MOST_WEIGHTS_BYTES:
                    raise self._refusal(f"{_WEIGHTS} is not a file of safetensors, or larger than 2 GiB")
                header = json.loads(file.read(length))
        except OSError as error:
            raise self._refusal(f"{_WEIGHTS} cannot be read: {error.strerror}") from error
        except ValueError as error:
            raise self._refusal(f"{_WEIGHTS} is not a file of safetensors: {error}") from error
        found = {
            name: _tensor(each, 8 + length)
            for name, each in header.items()
            if name in ("embeddings", "weights", "mapping")
        }
        if "embeddings" not in found or None in found.values():
            raise self._refusal(f"{_WEIGHTS} has no tensor `embeddings` of floats, with rows for tokens")
        return {name: each for name, each in found.items() if each is not None}

    def _map(self, tensors: dict[str, Tensor], name: str) -> "NDArray[Any]":
        tensor = tensors[name]
        path, kind = self._directory / _WEIGHTS, self._np.dtype(tensor.kind)
        count = 1
        for each in tensor.shape:
            count *= each
        if tensor.last > path.stat().st_size or count * kind.itemsize != tensor.last - tensor.first:
            raise self._refusal(f"the tensor `{name}` is cut off or has another size than its shape says")
        if not count:
            return self._np.zeros(tensor.shape, dtype=kind)
        return self._np.memmap(path, dtype=kind, mode="r", offset=tensor.first, shape=tuple(tensor.shape))

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


def _tensor(described: Any, begin: int) -> Tensor | None:
    """A row of the table; None if it is not one, or of a kind that is not supported."""
    if not isinstance(described, dict):
        return None
    shape, offsets = described.get("shape"), described.get("data_offsets")
    kind = _KINDS.get(str(described.get("dtype")))
    if kind is None or not _are_counts(shape) or not _are_counts(offsets) or len(offsets) != 2:
        return None
    return Tensor(kind, shape, begin + offsets[0], begin + offsets[1])


def _are_counts(values: Any) -> bool:
    return isinstance(values, list) and all(type(each) is int and each >= 0 for each in values)


def _unknown_token(tokenizer: bytes) -> int | None:
    """The id of the token for everything that the vocabulary has no word for."""
    model = json.loads(tokenizer).get("model")
    if not isinstance(model, dict):
        return None
    vocabulary, name = model.get("vocab"), model.get("unk_token")
    if isinstance(vocabulary, dict) and isinstance(name, str):
        found = vocabulary.get(name)
        return found if isinstance(found, int) else None
    unknown = model.get("unk_id")
    return unknown if isinstance(unknown, int) else None
