"""Whether a hit answers a question: by how much of the question's weight it has."""

import pytest

from ramet.model.memory.relevance import WeighedWord, is_relevant, share

RARE, COMMON, UNKNOWN = WeighedWord("rare", 2), WeighedWord("common", 3000), WeighedWord("unknown", 0)
WORDS = [RARE, COMMON, UNKNOWN]


def test_a_rare_word_says_more_than_a_common_one_and_an_unknown_word_says_most() -> None:
    assert UNKNOWN.weight == 1
    assert RARE.weight == 0.5
    assert COMMON.weight < 0.1
    assert share(WORDS, {"rare", "common", "unknown"}) == 1
    assert share([], set()) == 0


@pytest.mark.requirement("R391")
def test_a_hit_that_has_only_the_common_words_is_no_answer() -> None:
    assert not is_relevant("some", WORDS, {"common"}, is_hint=False)
    assert not is_relevant("most", WORDS, {"rare", "common"}, is_hint=False)
    assert is_relevant("most", WORDS, {"unknown", "common"}, is_hint=False)
    assert is_relevant("phrase", WORDS, {"common"}, is_hint=False)


@pytest.mark.requirement("R455")
def test_a_hint_needs_several_words_and_more_of_the_weight() -> None:
    assert is_relevant("all", [RARE], {"rare"}, is_hint=False)
    assert not is_relevant("all", [RARE], {"rare"}, is_hint=True)
    assert is_relevant("all", WORDS, {"rare", "common", "unknown"}, is_hint=True)
