"""Vectors come from where the owner says, and from nowhere by default."""

from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from tests.ai.conftest import KEY, KEY_VARIABLE
from tests.ai.model_directory import write_model
from tests.ai.scripted import DIMENSION, ScriptedServer

from ramet.ai import vector_arithmetic
from ramet.ai.vector_sources import open_vector_source
from ramet.config.environment import Environment
from ramet.config.settings import AiSettings, SearchSettings, Settings
from ramet.errors import ModelMissing

NOTHING = Environment(keys={})


@pytest.mark.requirement("R393")
def test_without_a_setting_there_are_no_vectors() -> None:
    assert open_vector_source(Settings(), NOTHING) is None


def test_a_directory_is_used_if_it_is_configured(tmp_path: Path) -> None:
    search = SearchSettings(embeddings="directory", model_directory=str(write_model(tmp_path)))
    source = open_vector_source(Settings(search=search), NOTHING)
    assert source is not None
    assert source.fingerprint.startswith("directory:")
    assert [len(each) for each in source.embed(["voucher", "nothing of it"])] == [6, 0]


@pytest.mark.parametrize(
    ("search", "field"),
    [
        (SearchSettings(embeddings="directory"), "search.model_directory"),
        (SearchSettings(embeddings="endpoint"), "ai.embed_model"),
    ],
)
def test_a_source_without_its_other_setting_is_refused(search: SearchSettings, field: str) -> None:
    with pytest.raises(ModelMissing) as refused:
        open_vector_source(Settings(search=search), NOTHING)
    assert refused.value.field == field


@pytest.mark.requirement("R393")
def test_an_endpoint_is_asked_for_the_texts_that_say_something(scripted: ScriptedServer) -> None:
    ai = AiSettings(embed_model="openai:small", base_url=f"{scripted.address}/v1", api_key_env=KEY_VARIABLE)
    settings = Settings(ai=ai, search=SearchSettings(embeddings="endpoint"))
    source = open_vector_source(settings, Environment(keys={"openai": KEY}))
    assert source is not None
    zero, empty, second = source.embed(["vouchers", "  ", "databases"])
    assert scripted.asked[-1].body["input"] == ["vouchers", "databases"]
    assert zero == empty == b""  # the server's first vector is all zeros, which points nowhere
    assert len(second) == 2 * DIMENSION
    moved = replace(ai, base_url="http://127.0.0.1:1/v1")
    other = open_vector_source(replace(settings, ai=moved), NOTHING)
    assert other is not None
    assert other.fingerprint != source.fingerprint


def test_more_rows_than_one_portion_are_ranked_together_and_in_one_order() -> None:
    count = 20_000
    rows = np.zeros((count, 2), dtype=np.float32)
    rows[:, 1] = 1.0
    rows[[3, 9_000, 19_999]] = [1.0, 0.0]
    asked, *packed = vector_arithmetic.pack(np.concatenate([np.array([[1.0, 0.0]], dtype=np.float32), rows]))
    found = vector_arithmetic.nearest(asked, enumerate(packed), limit=4)
    assert [row for row, _ in found] == [3, 9_000, 19_999, 0]
