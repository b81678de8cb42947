"""A model in a directory, made by hand: a few words, each with a vector that says what it is about."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
WORDS = {
    "voucher": (1.0, 0.0, 0.0),
    "coupon": (0.9, 0.1, 0.0),
    "database": (0.0, 1.0, 0.0),
    "sqlite": (0.1, 0.9, 0.0),
    "button": (0.0, 0.0, 1.0),
}


def tokenizer(words: list[str]) -> dict[str, Any]:
    vocabulary = {word: number for number, word in enumerate([*SPECIAL, *words])}
    special = [
        {"id": number, "content": word, "special": True, "normalized": False} for number, word in enumerate(SPECIAL)
    ]
    added = [{"single_word": False, "lstrip": False, "rstrip": False, **each} for each in special]
    return {
        "version": "1.0",
        "added_tokens": added,
        "normalizer": {"type": "BertNormalizer", "lowercase": True, "clean_text": True, "handle_chinese_chars": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": vocabulary,
        },
    }


def safetensors(**tensors: Any) -> bytes:
    """The bytes of a file with these arrays."""
    kinds = {"float32": "F32", "float16": "F16", "int64": "I64"}
    header, body = {}, b""
    for name, array in tensors.items():
        data = np.ascontiguousarray(array).tobytes()
        offsets = [len(body), len(body) + len(data)]
        header[name] = {"dtype": kinds[array.dtype.name], "shape": list(array.shape), "data_offsets": offsets}
        body += data
    head = json.dumps(header).encode()
    return len(head).to_bytes(8, "little") + head + body


def write_model(folder: Path, words: Mapping[str, tuple[float, ...]] | None = None, kind: str = "float32") -> Path:
    """A directory as model2vec writes it."""
    known = WORDS if words is None else words
    width = len(next(iter(known.values())))
    rows = np.array([[0.0] * width] * len(SPECIAL) + list(known.values()), dtype=kind)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer(list(known))))
    (folder / "model.safetensors").write_bytes(safetensors(embeddings=rows))
    return folder
