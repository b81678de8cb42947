"""What is said of a skill's mode."""

from typing import Any

import pytest

from ramet.model.record.skill import mode_meaning


@pytest.mark.requirement("R304")
@pytest.mark.parametrize(
    ("meaning", "told"),
    [
        ("one question at a time", "one question at a time"),
        ({"description": "ask", "steps": [1, None]}, '{"description": "ask", "steps": [1, null]}'),
        (["fragen", "zuhören"], '["fragen", "zuhören"]'),
    ],
)
def test_a_mode_is_told_in_its_own_words_or_as_json_and_never_as_python(meaning: Any, told: str) -> None:
    assert mode_meaning({"focused": meaning}, "focused") == told
