"""Tokens: an estimate that needs nothing, OpenAI's vocabularies exactly, and the scale of other models."""

import sys

import pytest

from ramet.errors import MissingDriver
from ramet.model.history.tokens import make_counter

CODE = 'def add(first: int, second: int) -> int:\n    """Sum."""\n    return first + second\n'


def test_the_estimate_is_four_characters_a_token() -> None:
    count = make_counter("estimate", None, {})
    assert [count(text) for text in ("", "abc", "abcd", "é" * 9)] == [0, 0, 1, 2]


@pytest.mark.parametrize(
    ("vocabulary", "text", "tokens"),
    [
        ("o200k", "hello world", 2),
        ("cl100k", "hello world", 2),
        ("o200k", CODE, 23),
        ("cl100k", CODE, 23),
        ("o200k", "Größenwahn 漢字 👍🏽", 11),
        ("cl100k", "Größenwahn 漢字 👍🏽", 14),
        ("o200k", "<|endoftext|>", 7),
        ("o200k", "", 0),
    ],
)
def test_openais_vocabularies_are_counted_exactly(vocabulary: str, text: str, tokens: int) -> None:
    assert make_counter(vocabulary, "openai:gpt-5", {})(text) == tokens  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("model", "calibration", "tokens"),
    [
        (None, {}, 100),
        ("openai:gpt-5", {}, 100),
        ("anthropic:claude-sonnet-4-5", {}, 115),
        ("anthropic:claude-sonnet-4-5", {"anthropic:": 1.3}, 130),
        ("anthropic:claude-sonnet-4-5", {"anthropic:claude-sonnet": 1.2, "anthropic:": 9}, 120),
        ("mistral:large", {"mistral:": 0.5}, 50),
    ],
)
def test_the_count_is_brought_to_the_scale_of_the_model(
    model: str | None, calibration: dict[str, float], tokens: int
) -> None:
    assert make_counter("estimate", model, calibration)("x" * 400) == tokens


def test_a_long_text_leaves_nothing_behind() -> None:
    count = make_counter("o200k", None, {})
    assert count("a" * 200_000) == 25_000
    assert count("a" * 200_000) == 25_000


def test_a_vocabulary_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "splintr", None)
    with pytest.raises(MissingDriver, match=r"tokens\.counter is o200k") as missing:
        make_counter("o200k", None, {})
    assert "ramet[tokens]" in missing.value.fix
