"""What a terminal would obey never reaches it."""

import json
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramet.cli.output import cell, clean, print_json


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
        ("ad\u200bmin\ufeff\u2060", "admin"),
        ("so\u00adft \u200cb\u200d", "soft b"),
        ("hidden\U000e0041\U000e0042\U000e0100", "hidden"),
        ("می\u200cخ 👩\u200d👧 ⚠\ufe0f", "می\u200cخ 👩\u200d👧 ⚠\ufe0f"),
    ],
)
def test_control_sequences_are_taken_out(text: str, shown: str) -> None:
    assert clean(text) == shown


@given(st.text(st.sampled_from("\x1b\x9b\x9d[]()0;m\x07\\P@ab\n\t\r\x00\x7f\u202e\u200b\u200c\u200d\ufeff\U000e0041")))
def test_nothing_harmful_is_ever_left(text: str) -> None:
    assert set(clean(text)) <= set("[]()0;m\\P@ab\n\t")


def test_json_names_the_characters_that_nobody_sees(capsys: pytest.CaptureFixture[str]) -> None:
    hidden = "a\u200b\u200d\u202e\x7f\U000e0041"
    print_json({"name": hidden})
    printed = capsys.readouterr().out
    assert printed.isascii()
    assert json.loads(printed) == {"name": hidden}


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "-"), (True, "yes"), ("a\n b", "a b"), (["a", "b"], "a, b"), ({"a": 1}, '{"a": 1}'), (0, "0"), ([], "-")],
)
def test_a_cell_is_one_line(value: object, shown: str) -> None:
    assert cell(value) == shown


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_cell_shows_an_instant_as_programs_get_it(moment: datetime) -> None:
    assert cell(moment) == msgspec.to_builtins(moment)
