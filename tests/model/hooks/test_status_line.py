"""The status line."""

import pytest

from ramet.model.hooks.status_line import status_line


@pytest.mark.requirement("R271")
@pytest.mark.parametrize(
    ("ordinal", "skill", "phase", "line"),
    [
        (1, "brainstorm", "1: Ideas", "[brainstorm:P1]"),
        (2, "implement", "3: Test", "[2:impl:P3]"),
        (2, "impl", "3: Build", "[2:impl:P3]"),
        (3, "brainstorm", "2", "[3:brainstorm:P2]"),
        (1, "impl", "2.A: Sketch", "[impl:P2.A]"),
        (1, "impl", "12.3", "[impl:P12.3]"),
        (2, "do", None, "[2:do]"),
        (1, "impl", "build it", "[impl:build-it]"),
    ],
)
def test_the_ordinal_is_shown_only_from_the_second_effort_on(
    ordinal: int, skill: str, phase: str | None, line: str
) -> None:
    assert status_line(ordinal, skill, phase) == line


def test_nothing_in_it_is_obeyed_by_a_terminal() -> None:
    assert status_line(1, 'a\x1b[31m"b', "\x07\n") == "[a-31m-b:-]"
