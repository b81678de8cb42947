"""What a terminal would obey never reaches it."""

from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramet.cli.output import cell, clean


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\n\ttext é 漢", "plain\n\ttext é 漢"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]52;c;ZXZpbA==\x07clip", "clip"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\x1bPdevice\x1b\\b", "ab"),
        ("\x9b31mred", "red"),
        ("over\rwritten\x08\x7f", "overwritten"),
        ("abc\u202edef", "abcdef"),
        ("\x1b]never ended", ""),
        ("\x1b(Bset \x1bcreset", "set reset"),
    ],
)
def test_control_sequences_are_taken_out(text: str, shown: str) -> None:
    assert clean(text) == shown


@given(st.text(st.sampled_from("\x1b\x9b\x9d[]()0;m\x07\\P@ab\n\t\r\x00\x7f\u202e")))
def test_nothing_harmful_is_ever_left(text: str) -> None:
    assert set(clean(text)) <= set("[]()0;m\\P@ab\n\t")


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "-"), (True, "yes"), ("a\n b", "a b"), (["a", "b"], "a, b"), ({"a": 1}, '{"a": 1}'), (0, "0"), ([], "-")],
)
def test_a_cell_is_one_line(value: object, shown: str) -> None:
    assert cell(value) == shown


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_cell_shows_an_instant_as_programs_get_it(moment: datetime) -> None:
    assert cell(moment) == msgspec.to_builtins(moment)
