"""How often search is right, on small seeded corpora: a floor below which no change may lower it."""

import pytest
from benchmarks.search_corpus import Corpus, code, conversations
from benchmarks.search_quality import measure


@pytest.mark.parametrize(
    "corpus", [conversations(7, sessions=120, turns=12, questions=150), code(8, sessions=120, questions=150)]
)
def test_the_ladder_is_right_more_often_than_plain_sessions(corpus: Corpus) -> None:
    rows = {row.method: row for row in measure("small", corpus)}
    plain, ladder = rows["FTS5 BM25, whole sessions"], rows["the ladder"]
    assert ladder.first >= plain.first
    assert ladder.fifth >= plain.fifth
    assert ladder.reciprocal >= plain.reciprocal
