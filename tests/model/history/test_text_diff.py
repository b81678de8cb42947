"""The diff of two lists of messages: what it says makes the one list of the other, and long lists take no longer."""

import re
from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from ramet.model.history import text_diff
from ramet.model.history.text_diff import compare

HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")

MESSAGES = st.lists(st.sampled_from(["a", "b", "c\nd", "e\n\nf\ng", "", "h", "i\nj\nk\nl\nm\nn"]), max_size=12)


def lines_of(messages: list[str]) -> list[str]:
    return [line for message in messages for line in [*message.splitlines(), ""]]


def patch(old: list[str], diff: list[str]) -> list[str]:
    """The lines that a unified diff makes of others; its context must be theirs."""
    made: list[str] = []
    at = 0
    for line in diff[2:]:
        if found := HUNK.fullmatch(line):
            start = int(found[1]) - (found[2] != "0")
            made += old[at:start]
            at = start
        elif line.startswith("+"):
            made.append(line[1:])
        else:
            assert old[at] == line[1:]
            made += [line[1:]] if line.startswith(" ") else []
            at += 1
    return made + old[at:]


@given(MESSAGES, MESSAGES)
def test_a_diff_makes_the_one_list_of_the_other(a: list[str], b: list[str]) -> None:
    diff = list(compare(a, b, "a", "b"))
    assert diff[:2] == (["--- a", "+++ b"] if diff else [])
    assert patch(lines_of(a), diff) == lines_of(b)
    assert bool(diff) == (lines_of(a) != lines_of(b))


def test_a_diff_of_one_changed_line_shows_it_between_three_others() -> None:
    old = [f"message {number}\nits second line" for number in range(500)]
    new = [*old[:250], "message 250\nits changed line", *old[251:]]
    assert list(compare(old, new, "a", "b")) == [
        "--- a",
        "+++ b",
        "@@ -749,7 +749,7 @@",
        " its second line",
        " ",
        " message 250",
        "-its second line",
        "+its changed line",
        " ",
        " message 251",
        " its second line",
    ]


def test_many_messages_that_differ_everywhere_are_replaced_without_comparing_lines() -> None:
    old = [f"old {number}\nand the same line" for number in range(30_000)]
    new = [f"new {number}\nand the same line" for number in range(30_000)]
    started = process_time()
    diff = list(compare(old, new, "a", "b"))
    assert process_time() - started < 10
    assert diff[2] == "@@ -1,90000 +1,90000 @@"
    assert patch(lines_of(old), diff) == lines_of(new)


def test_every_other_message_of_many_changed_takes_no_quadratic_time() -> None:
    old = [f"{number}" for number in range(60_000)]
    new = [text if number % 2 else f"{text} changed" for number, text in enumerate(old)]
    started = process_time()
    diff = list(compare(old, new, "a", "b"))
    assert process_time() - started < 15
    assert patch(lines_of(old), diff) == lines_of(new)


def test_what_is_beyond_the_bound_of_compared_lines_is_still_right() -> None:
    old = [f"{number}\nx" if number % 9 else "same\ny" for number in range(text_diff._MOST_COMPARED // 2)]
    new = [f"{number}\nz" if number % 7 else text for number, text in enumerate(old)]
    assert patch(lines_of(old), list(compare(old, new, "a", "b"))) == lines_of(new)
