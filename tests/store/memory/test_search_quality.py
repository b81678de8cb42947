"""How often search is right, on small seeded corpora: a floor below which no change may lower it."""

from collections.abc import Callable

import pytest
from benchmarks.search_corpus import Corpus, code, conversations
from benchmarks.search_quality import measure


@pytest.mark.parametrize("make", [conversations, code])
def test_the_ladder_is_right_at_first_more_often_than_plain_sessions(make: Callable[..., Corpus]) -> None:
    rows = {row.method: row for row in measure("small", make(seed=7, sessions=80, questions=100))}
    plain, ladder = rows["FTS5 BM25, whole sessions"], rows["the ladder"]
    assert ladder.first >= plain.first
    assert ladder.reciprocal >= plain.reciprocal


@pytest.mark.slow
@pytest.mark.parametrize("make", [conversations, code])
def test_on_the_published_corpora_the_ladder_is_above_every_simple_method(make: Callable[..., Corpus]) -> None:
    *simple, _, ladder = measure("published", make())
    for row in simple:
        assert ladder.first >= row.first, row
        assert ladder.fifth >= row.fifth, row
