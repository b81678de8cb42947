"""The corpora: how much of what was planted is found, how little else is, and that the documentation says so."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.model.redaction import figures
from tests.model.redaction.planted import TOKENS

from ramet.model.redaction.vendor_shapes import SHAPES

PAGE = Path(__file__).parents[3] / "docs" / "redaction.md"


@pytest.mark.requirement("R339")
@pytest.mark.parametrize(
    ("measure", "least"),
    [(figures.tokens, 99), (figures.keys, 99), (figures.assigned, 95), (figures.entropy, 95)],
    ids=["tokens", "keys", "assigned", "entropy"],
)
def test_planted_secrets_are_found_and_the_page_shows_the_figure(
    measure: Callable[[], figures.Recall], least: float
) -> None:
    recall = measure()
    assert recall.percent >= least, recall.missed[:20]
    assert recall.row() in PAGE.read_text()


@pytest.mark.requirement("R339")
def test_at_most_one_innocent_line_in_ten_thousand_changes_and_the_page_shows_the_figure() -> None:
    found = figures.false_positives()
    assert len(found.changed) <= found.lines / 10_000, found.changed[:20]
    assert found.row() in PAGE.read_text()


@pytest.mark.requirement("R339")
def test_the_shapes_of_at_least_sixty_services_are_known_and_planted() -> None:
    assert len(SHAPES) >= 60
    assert len(TOKENS) >= 60
