"""A model in a directory gives vectors without a network, and a directory that is no model is refused by name."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.ai.model_directory import WORDS, safetensors, write_model

from ramet.ai.static_model import StaticModel
from ramet.errors import ModelMissing


@pytest.mark.requirement("R393")
@pytest.mark.parametrize("kind", ["float32", "float16"])
def test_a_text_is_near_the_texts_that_are_about_the_same(tmp_path: Path, kind: str) -> None:
    model = StaticModel(write_model(tmp_path, kind=kind))
    asked, near, far, unknown = model.embed(["the Voucher", "a coupon", "sqlite database", "xylophone"])
    assert unknown == b""
    (first, likeness), (second, other) = model.nearest(asked, [(7, far), (8, unknown), (9, near)], limit=5)
    assert (first, second) == (9, 7)
    assert likeness > 0.9
    assert other < 0.2


def test_tokens_have_the_weights_and_rows_that_the_file_gives_them(tmp_path: Path) -> None:
    write_model(tmp_path)
    rows = np.array([[1.0, 0.0], [0.0, 1.0]], dtype="float32")
    mapping = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1], dtype="int64")  # `voucher` has the first row, the others the second
    weights = np.array([1, 1, 1, 1, 3, 4, 1, 1, 1], dtype="float32")
    (tmp_path / "model.safetensors").write_bytes(safetensors(embeddings=rows, mapping=mapping, weights=weights))
    (both,) = StaticModel(tmp_path).embed(["voucher coupon"])
    assert np.frombuffer(both, dtype="<f2") == pytest.approx([0.6, 0.8], abs=1e-3)


@pytest.mark.requirement("R393")
def test_the_fingerprint_tells_models_apart(tmp_path: Path) -> None:
    first = StaticModel(write_model(tmp_path / "a")).fingerprint
    assert StaticModel(write_model(tmp_path / "b")).fingerprint == first
    other = {**WORDS, "voucher": (0.0, 0.0, 1.0)}
    assert StaticModel(write_model(tmp_path / "c", other)).fingerprint != first


def _cut(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-4])


def _without_rows(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(safetensors(other=np.zeros((2, 2), dtype="float32")))


def _huge_header(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes((1 << 60).to_bytes(8, "little") + b"{}")


def _lying_shape(folder: Path) -> None:
    header = json.dumps({"embeddings": {"dtype": "F32", "shape": [1 << 40, 1 << 40], "data_offsets": [0, 4]}}).encode()
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"\0\0\0\0")


def _no_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()


def _binary_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_bytes(b"\0\xff")


@pytest.mark.parametrize(
    "damage",
    [_cut, _without_rows, _huge_header, _lying_shape, _no_tokenizer, _binary_tokenizer],
    ids=lambda d: d.__name__,
)
def test_a_directory_that_is_no_model_is_refused_with_the_reason(tmp_path: Path, damage: object) -> None:
    damage(write_model(tmp_path))  # type: ignore[operator]
    with pytest.raises(ModelMissing) as refused:
        StaticModel(tmp_path)
    assert refused.value.field == "search.model_directory"
    assert "cannot be" in str(refused.value)
    assert refused.value.fix is not None
