"""A part of a context is the same, whether all of it was read or only this part."""

from typing import Any

import pytest
from hypothesis import strategies as st
from tests.conformance.history.life import FORMATS, Step, live, names, prove
from tests.conformance.history.story import forget
from tests.world import World

PARTS: tuple[dict[str, Any], ...] = (
    {"max_tokens": 1},
    {"max_tokens": 7},
    {"max_tokens": 55},
    {"max_tokens": 120},
    {"max_tokens": 9999},
    {"window": {"first": 0, "last": 0}},
    {"window": {"first": 2, "last": 3}},
    {"window": {"first": 1, "last": 4}, "max_tokens": 40},
    {"window": {"first": 40, "last": 40}, "max_tokens": 60},
)


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str | None:
    return None if request.param == "sqlite" else str(request.getfixturevalue("worlds_schema"))


def compiled(world: World, branch: str, form: str, **part: Any) -> Any:
    return world.call("history.compile", branch=branch, format=form, **part)


def in_pages(world: World, branch: str, form: str, limit: int, **part: Any) -> list[Any]:
    """All pages, each by an engine that remembers none of the others."""
    pages = [compiled(world, branch, form, limit=limit, **part)]
    while pages[-1].next is not None:
        forget(world)
        pages.append(compiled(world, branch, form, limit=limit, cursor=pages[-1].next, **part))
    return pages


_NUMBER = st.integers(0, 40)
_VERBS = (
    "call",
    "answer",
    "say",
    "edit",
    "annotate",
    "compress",
    "instruct",
    "call",
    "answer",
    "branch",
    "merge",
    "pick",
)
LIVES = st.lists(
    st.builds(Step, st.sampled_from(_VERBS), st.sampled_from(("main", "main", "side")), _NUMBER, _NUMBER, _NUMBER),
    min_size=20,
    max_size=40,
)
"""Long enough that a budget cuts between a call and its result, and a summary hides what is edited later."""


@pytest.mark.requirement("R460")
def test_a_part_is_the_same_whether_everything_was_read_or_only_the_part(url: str | None) -> None:
    def law(world: World, taken: list[Step]) -> None:
        live(world, taken)
        for branch in names(world):
            for form in FORMATS:
                compiled(world, branch, form)
                known = [compiled(world, branch, form, **part) for part in PARTS]
                forget(world)
                assert [compiled(world, branch, form, **part) for part in PARTS] == known

    prove(url, LIVES, law, 12)


def test_the_pages_together_are_the_whole_context(url: str | None) -> None:
    def law(world: World, drawn: tuple[list[Step], int, dict[str, Any]]) -> None:
        taken, limit, part = drawn
        live(world, taken)
        for branch in names(world):
            for form in FORMATS:
                whole = compiled(world, branch, form, **part)
                forget(world)
                pages = in_pages(world, branch, form, limit, **part)
                assert [message for page in pages for message in page.messages] == whole.messages
                assert all(0 < len(page.messages) <= limit for page in pages[:-1])
                assert {(page.tokens, page.omitted, page.head) for page in pages} == {
                    (whole.tokens, whole.omitted, whole.head)
                }
                assert [page.prefix_hash for page in pages] == [""] * (len(pages) - 1) + [whole.prefix_hash]
                assert [page.system for page in pages] == [whole.system] + [None] * (len(pages) - 1)

    parts = st.sampled_from(({}, {}, *PARTS))
    prove(url, st.tuples(LIVES, st.sampled_from((1, 2, 3, 7)), parts), law, 8)
