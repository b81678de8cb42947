"""What a briefing says of a skill's mode."""

from typing import Any

import pytest

from ramet.model.hooks.briefing import tell_mode


@pytest.mark.requirement("R304")
@pytest.mark.parametrize(
    ("meaning", "told"),
    [
        ("one question at a time", "mode focused: one question at a time"),
        ({"description": "ask", "steps": [1, None]}, 'mode focused: {"description": "ask", "steps": [1, null]}'),
        (["fragen", "zuhören"], 'mode focused: ["fragen", "zuhören"]'),
    ],
)
def test_a_mode_is_told_in_its_own_words_or_as_json_and_never_as_python(meaning: Any, told: str) -> None:
    assert tell_mode("focused", meaning) == told
