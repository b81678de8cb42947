"""Whether a hit answers a question: by how much of the question it has, and how unlikely that is by chance."""

import pytest

from ramet.model.memory.relevance import WeighedWord, Weighing

RARE, COMMON, UNKNOWN = WeighedWord("rare", 2), WeighedWord("common", 3000), WeighedWord("unknown", 0)
QUESTION = Weighing([RARE, COMMON, UNKNOWN], 10_000)
MISSING = Weighing([RARE, COMMON, *(WeighedWord(f"u{number}", 0) for number in range(4))], 10_000)
PROMPT = Weighing([WeighedWord(f"w{number}", 10) for number in range(5)] + [UNKNOWN] * 20, 10_000)


def test_a_rare_word_says_more_than_a_common_one_and_an_unknown_one_may_be_a_turn_of_phrase() -> None:
    assert RARE.weight == 0.5
    assert COMMON.weight < 0.1
    assert COMMON.weight < UNKNOWN.weight < RARE.weight
    assert QUESTION.share({"rare", "common", "unknown"}) == 1
    assert Weighing([], 0).share(set()) == 0


def test_several_rare_words_together_are_a_surprise_and_common_ones_are_none() -> None:
    assert PROMPT.surprise({"w1"}) < 0
    assert PROMPT.surprise({"w1", "w2", "w3"}) > 14
    assert QUESTION.surprise({"common"}) < 0
    assert Weighing([], 0).surprise(set()) == 0
    assert Weighing([WeighedWord("a", 9)], 0).surprise({"a"}) < 1


@pytest.mark.requirement("R391")
def test_a_hit_that_has_only_the_common_words_is_no_answer() -> None:
    assert not QUESTION.is_relevant("some", {"common"}, is_hint=False)
    assert not QUESTION.is_relevant("most", {"rare"}, is_hint=False), "one word of three is no answer"
    assert QUESTION.is_relevant("most", {"rare", "common"}, is_hint=False)
    assert not MISSING.is_relevant("most", {"rare", "common"}, is_hint=False)
    assert Weighing([RARE], 10_000).is_relevant("all", {"rare"}, is_hint=False)
    assert QUESTION.is_relevant("phrase", {"common"}, is_hint=False)
    assert PROMPT.is_relevant("some", {"w1", "w2", "w3"}, is_hint=False)


@pytest.mark.requirement("R455")
def test_a_hint_needs_several_words_that_are_unlikely_together() -> None:
    assert PROMPT.is_relevant("some", {"w1", "w2", "w3"}, is_hint=True)
    assert not PROMPT.is_relevant("all", {"w1", "w2"}, is_hint=True)
    assert not QUESTION.is_relevant("phrase", {"rare"}, is_hint=True)
