"""Task files: what is a task, what is said about one, what waits for what, and what is refused and where."""

from typing import Any

import pytest
from tests.docs.pages import ROOT, blocks

from ramet.errors import BadRequest, TaskFileInvalid
from ramet.model.runs.line_order import needs, order, waves
from ramet.model.runs.task_file import (
    MAX_BYTES,
    Line,
    TaskFile,
    fingerprint,
    parse,
    render,
)

SHOP = """\
---
agent: claude
timeout: 20m
title: The shop
---
# The shop

Some words before the tasks.

## Cart

- [ ] 1. Find out why the cart
  forgets its items
  - Agent: @codex
  - Timeout: 1h30m
- [x] 2. Mend it
  - Depends: 1

## Checkout

* [ ] 3) Test it
  - **Skill:** `review`
  - Model: opus
  - Depends on: 1, 2
"""


def keys(lines: Any) -> list[str]:
    return [line.key for line in lines]


def line(text: str) -> Line:
    (found,) = parse(text).lines
    return found


def test_a_file_becomes_lines_with_all_that_is_said_of_them() -> None:
    assert parse(SHOP.encode()).lines == (
        Line(
            key="1",
            text="Find out why the cart\nforgets its items",
            agent="codex",
            timeout_seconds=5400,
            section="Cart",
            line_number=12,
        ),
        Line(
            key="2",
            text="Mend it",
            agent="claude",
            timeout_seconds=1200,
            depends_on=("1",),
            done=True,
            section="Cart",
            line_number=16,
        ),
        Line(
            key="3",
            text="Test it",
            agent="claude",
            skill="review",
            model="opus",
            timeout_seconds=1200,
            depends_on=("1", "2"),
            section="Checkout",
            line_number=21,
        ),
    )


def test_lines_that_are_ticked_are_not_to_do() -> None:
    assert keys(parse(SHOP).to_do) == ["1", "3"]


@pytest.mark.parametrize(
    "text",
    [
        "- [ ] 7. Mend it",
        "* [ ] 7) Mend it",
        "+ [ ] 7: Mend it",
        "-[ ]7.Mend it",
        "7. [ ] Mend it",
        "- [ ] 7.0 Mend it",
        "- [ ] 07. Mend it",
        "\ufeff- [ ] 7. Mend it\r\n",
        "    - [ ] 7. Mend it",
        "- [ ] 7.\n  Mend it",
        "- [ ] 7. <!-- note --> Mend it",
    ],
)
def test_a_task_may_be_written_in_the_ways_that_markdown_knows(text: str) -> None:
    assert (line(text).key, line(text).text) == ("7", "Mend it")


@pytest.mark.parametrize(
    "text",
    [
        "- Mend it",
        "- [x](https://example.org)",
        "[ ] Mend it",
        "> - [ ] Mend it",
        "```\n- [ ] Mend it\n```",
        "~~~~\n~~~\n- [ ] Mend it\n~~~~",
        "<!-- - [ ] Mend it -->",
        "<!--\n- [ ] Mend it\n-->",
        "- Agent: @claude",
        "# - [ ] Mend it",
    ],
)
def test_what_only_looks_like_a_task_is_none(text: str) -> None:
    with pytest.raises(TaskFileInvalid, match="the file has no tasks"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- [ ] a\n  b\n\n  c", "a\nb\n\nc"),
        ("- [ ] a\nb", "a\nb"),
        ("- [ ] a\n\nprose", "a"),
        ("- [ ] a\n  - detail\n    - deeper", "a\n- detail\n  - deeper"),
        ("- [ ] a\n  ```make\n  all:\n  \tcc\n\n\n  - [ ] x\n  ```", "a\n```make\nall:\n\tcc\n\n\n- [ ] x\n```"),
        ("- [ ] replace `<!-- x -->` <!-- not me -->", "replace `<!-- x -->`"),
        ("- [ ] a\n  <!-- hidden\n  too --> b", "a\nb"),
        ("- [ ] 5 apples", "5 apples"),
        ("- [ ] 2.5% more", "2.5% more"),
        ("- [ ] 2026-01-05 comes", "2026-01-05 comes"),
    ],
)
def test_the_text_is_what_belongs_to_the_item(text: str, expected: str) -> None:
    assert line(text).text == expected


def test_numbers_count_below_what_they_are_indented_under() -> None:
    file = parse(
        "- [ ] 1. a\n  - [ ] 1. b\n    - [ ] 2. c\n  - [ ] d\n"
        "- [ ] 2.0 e\n  - [ ] 2.4 f\n  - [ ] g\n- [ ] h\n- [ ] 3. i\n"
    )
    assert [(line.text, line.key) for line in file.lines] == [
        *(("a", "1"), ("b", "1.1"), ("c", "1.1.2"), ("d", "1.2")),
        *(("e", "2"), ("f", "2.4"), ("g", "2.5"), ("h", "4"), ("i", "3")),
    ]


def test_a_number_of_several_parts_needs_no_indentation() -> None:
    assert keys(parse("- [ ] 1. a\n- [ ] 1.1 b\n- [ ] 1.2. c\n").lines) == ["1", "1.1", "1.2"]


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("90", 90), ("90s", 90), ("10m", 600), ("1h30m", 5400), ("2d", 172_800), ("1 h 5 s", 3605), ("`10m`", 600)],
)
def test_a_time_has_units(written: str, seconds: int) -> None:
    assert line(f"- [ ] a\n  - Timeout: {written}").timeout_seconds == seconds


def test_comments_of_older_files_are_read_for_the_task_before_them() -> None:
    file = parse(
        "- [ ] 1. a\n<!-- agent: full-stack-dev -->\n- [ ] 2. b <!-- agent: self --> <!-- model: haiku -->\n"
        "  - [ ] 2.1 c\n<!-- depends: 1.0 -->\n<!-- depends: 2 -->\n"
    )
    assert [(each.agent, each.model, each.depends_on) for each in file.lines] == [
        *(("full-stack-dev", None, ()), (None, "haiku", ()), (None, None, ("1", "2"))),
    ]


def test_a_note_belongs_to_the_task_that_it_is_indented_under() -> None:
    file = parse("- [ ] 1. a\n  - [ ] 1.1 b\n  - Agent: @codex\n")
    assert [each.agent for each in file.lines] == ["codex", None]


def test_siblings_that_count_from_one_name_each_other_so() -> None:
    file = parse(
        "- [ ] 1. a\n- [ ] 2. b\n  - [ ] 1. c\n  - [ ] 2. d\n    - Depends: 1\n  - [ ] 2.9 e\n    - Depends: 1\n"
    )
    assert [each.depends_on for each in file.lines] == [(), (), (), ("2.1",), ("1",)]


# What waits for what.

GROUPS = "- [ ] 1. a\n  - [ ] 1.1 b\n  - [ ] 1.2 c\n- [ ] 2. d\n  - Depends: 1\n  - [ ] 2.1 e\n- [ ] 3. f\n"


def test_a_task_waits_for_what_it_names_with_all_below_it_and_for_what_it_stands_below() -> None:
    lines = parse(GROUPS).lines
    assert list(needs(lines).items()) == [
        *(("1", []), ("1.1", ["1"]), ("1.2", ["1"])),
        *(("2", ["1", "1.1", "1.2"]), ("2.1", ["2"]), ("3", [])),
    ]
    assert [keys(wave) for wave in waves(lines)] == [["1", "3"], ["1.1", "1.2"], ["2"], ["2.1"]]
    assert keys(order(lines)) == ["1", "1.1", "1.2", "2", "2.1", "3"]


def test_a_task_that_names_what_stands_below_it_comes_after_it() -> None:
    lines = parse("- [ ] 1. join\n  - Depends: 1.1\n  - [ ] 1.1 left\n  - [ ] 1.2 check\n").lines
    assert [keys(wave) for wave in waves(lines)] == [["1.1"], ["1"], ["1.2"]]


def test_in_sequence_the_order_is_the_files_unless_something_has_to_wait() -> None:
    lines = parse("- [ ] 1. a\n  - Depends: 3\n- [ ] 2. b\n- [ ] 3. c\n- [ ] 4. d\n").lines
    assert keys(order(lines)) == ["2", "3", "1", "4"]


def test_what_is_done_is_waited_for_no_more_but_what_is_left_below_it_is() -> None:
    text = GROUPS.replace("- [ ] 1. a", "- [x] 1. a").replace("- [ ] 1.1", "- [x] 1.1")
    assert needs(parse(text).to_do) == {"1.2": [], "2": ["1.2"], "2.1": ["2"], "3": []}


def test_nothing_to_do_has_no_waves() -> None:
    assert (waves([]), order([])) == ([], [])


def test_the_example_of_the_page_is_a_task_file() -> None:
    example = blocks(ROOT / "docs" / "task-files.md")[0].code
    lines = parse(example).to_do
    assert [keys(wave) for wave in waves(lines)] == [["1"], ["2"], ["2.1", "2.2"], ["3"]]
    assert [(line.agent, line.timeout_seconds) for line in lines if line.key in ("2", "3")] == [
        *(("claude", 5400), ("codex", 1800)),
    ]


# What is refused.


@pytest.mark.parametrize(
    ("content", "place", "message"),
    [
        ("", (1, 1), "the file is empty"),
        (" \n\t\n", (1, 1), "the file is empty"),
        ("# Plan\n\nwords\n", (1, 1), "the file has no tasks"),
        (b"- [ ] 1. a\n- [ ] \xff", (2, 7), "not UTF-8"),
        ("- [ ] 1. a\n- [ ] b\0", (2, 8), "NUL"),
        ("- [ ] 1. a\n- [ ] 2. b\n- [ ] 1.0 c", (3, 3), "there is a second task 1; the first one is in line 1"),
        ("- [ ] 1. a\n  - Depends: 1.1, 7", (2, 14), "there is no task 1.1"),
        ("- [ ] 1. a\n- [ ] 2. b\n  - Depends: 1, seven", (3, 17), "'seven' is not a task number"),
        ("- [ ] 9. a\n- [ ] 1. b <!-- depends: 8, 9 -->", (2, 26), "there is no task 8"),
        ("- [ ] 1. a\n<!-- depends: 9 -->", (2, 15), "there is no task 9"),
        ("- [ ] 1. a\n  - Depends: 1", (2, 3), "tasks wait for each other: 1 → 1"),
        ("- [ ] 1. a\n- [ ] 2. b\n  - Depends: 3\n- [ ] 3. c\n  - Depends: 2", (3, 3), "2 → 3 → 2"),
        ("- [ ] 1. a\n  - Depends: 2\n  - [ ] 1.1 b\n- [ ] 2. c\n  - Depends: 1.1", (2, 3), "1 → 2 → 1.1 → 1"),
        ("- [ ] 1. a\n  - Timeout: soon", (2, 14), "'soon' is not a duration"),
        ("- [ ] 1. a\n  - Timeout: 0", (2, 14), "'0' is not a duration"),
        ("- [ ] 1. a\n  - Timeout: 99999999d", (2, 14), "is not a duration"),
        ("---\ntimeout: later\n---\n- [ ] 1. a", (2, 10), "'later' is not a duration"),
        ("- [ ] 1. a\n  - Agent: @Big Boss", (2, 12), "'@Big Boss' is not a valid agent name"),
        ("- [ ] 1. a\n  - Model: the User class", (2, 12), "model must be one name"),
        ("- [ ] 1. a\n  - Skill: plan\n  - Skill: do", (3, 12), "skill is given twice"),
        ("- [ ] 1. a\n- [ ]", (2, 3), "the task has no text"),
        ("- [ ] 1. a\n  - [~] 2. b", (2, 5), "[~] is not a checkbox"),
        ("- [ ] 1. a\n\n```\n- [ ] 2. b", (3, 1), "this code block never ends"),
        ("- [ ] 1. a\n- [ ] 2. b <!-- c\n- [ ] 3. d", (2, 12), "this comment never ends"),
        ("".join(f"{'  ' * depth}- [ ] a\n" for depth in range(21)), (21, 43), "nested more than 20 deep"),
        ("- [ ] 999999999. a\n- [ ] b", (2, 3), "no number left"),
    ],
)
def test_what_is_wrong_is_said_with_its_place_and_a_fix(
    content: bytes | str, place: tuple[int, int], message: str
) -> None:
    with pytest.raises(TaskFileInvalid) as refused:
        parse(content)
    error = refused.value
    assert (error.line, error.column) == place
    assert error.message.startswith(f"line {place[0]}, column {place[1]}: ")
    assert message in error.message
    assert error.fix != error.code


def test_a_refusal_is_a_wrong_request_and_survives_the_wire() -> None:
    with pytest.raises(TaskFileInvalid) as refused:
        parse("- [ ] 1. a\n- [ ] 1. b")
    assert isinstance(refused.value, BadRequest)
    again = TaskFileInvalid.from_wire(refused.value.to_wire())
    assert isinstance(again, TaskFileInvalid)
    assert (again.message, again.fix, again.field) == (refused.value.message, refused.value.fix, "line 2, column 3")


def test_an_unknown_dependency_is_answered_with_the_tasks_that_there_are() -> None:
    with pytest.raises(TaskFileInvalid) as refused:
        parse("".join(f"- [ ] {number}. a\n" for number in range(1, 30)) + "  - Depends: 77")
    assert refused.value.fix == "name one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …"


def test_ten_thousand_lines_are_read_and_more_than_a_megabyte_is_refused() -> None:
    text = "".join(f"- [ ] {number}. task\n  - Depends: {number - 1}\n" for number in range(2, 10_001))
    file = parse("- [ ] 1. task\n" + text)
    assert len(waves(file.lines)) == len(file.lines) == 10_000
    assert parse("- [ ] a" + "a" * (MAX_BYTES - 7)).lines
    with pytest.raises(TaskFileInvalid, match="larger than 1,048,576 bytes"):
        parse("- [ ] a" + "a" * (MAX_BYTES - 6))


def test_more_dependencies_than_anybody_means_are_refused() -> None:
    below = "".join(f"- [ ] 1.{number} b\n" for number in range(1, 2001))
    after = "".join(f"- [ ] {number} c\n" for number in range(1000))
    with pytest.raises(TaskFileInvalid, match="more than 1,000,000 dependencies"):
        parse(f"- [ ] 1. a\n{below}{after.replace(' c', ' c' + chr(10) + '  - Depends: 1')}")


def test_lines_made_by_hand_that_wait_for_each_other_are_refused_too() -> None:
    circle = [Line(key="1", text="a", depends_on=("2",)), Line(key="2", text="b", depends_on=("1",))]
    for arrange in (order, waves):
        with pytest.raises(TaskFileInvalid, match="1 → 2 → 1"):
            arrange(circle)


# Rendering and fingerprints.


def test_a_file_is_rendered_as_people_would_write_it() -> None:
    file = parse(
        "# Cart\n- [X] 1.0 Find out\n   why <!-- agent: @codex -->\n"
        "    * [ ] mend it\n      - timeout: 90\n      - depends: 1"
    )
    assert render(file) == (
        "## Cart\n\n- [x] 1. Find out\n  why\n  - Agent: @codex\n"
        "  - [ ] 1.1 mend it\n    - Timeout: 90s\n    - Depends: 1\n"
    )


@pytest.mark.parametrize(
    "same",
    [
        SHOP.replace("[x]", "[ ]").replace("- [ ] 1.", "- [X] 1."),
        SHOP.replace("\n  forgets its items", " forgets   its items").replace("Some words", "Other words"),
        SHOP.replace("1h30m", "5400s").replace("## Cart", "## Basket").replace("on: 1, 2", "on: 2, 1"),
        SHOP.replace("\n", "\r\n"),
    ],
)
def test_ticking_wrapping_and_prose_do_not_change_the_fingerprint(same: str) -> None:
    assert fingerprint(parse(same)) == fingerprint(parse(SHOP))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Mend it", "Break it"),
        ("@codex", "@claude"),
        ("1h30m", "1h"),
        ("opus", "haiku"),
        ("on: 1, 2", "on: 1"),
        ("3)", "4)"),
    ],
)
def test_another_task_is_another_fingerprint(old: str, new: str) -> None:
    assert fingerprint(parse(SHOP.replace(old, new))) != fingerprint(parse(SHOP))


def test_lines_in_another_order_are_another_file() -> None:
    lines = parse(SHOP).lines
    assert fingerprint(TaskFile(lines=lines[::-1])) != fingerprint(TaskFile(lines=lines))


@pytest.mark.requirement("R359")
@pytest.mark.parametrize("said", ["no_change", "No change", "`no-change`"])
def test_a_task_may_accept_that_nothing_changes(said: str) -> None:
    file = parse(f"- [ ] 1. sort the imports\n  - Accept: {said}\n- [ ] 2. review\n")
    assert [line.accepts_no_change for line in file.lines] == [True, False]
    assert parse(render(file)).lines[0].accepts_no_change
    assert fingerprint(file) != fingerprint(parse("- [ ] 1. sort the imports\n- [ ] 2. review\n"))


def test_nothing_else_can_be_accepted() -> None:
    with pytest.raises(TaskFileInvalid) as refusal:
        parse("- [ ] 1. sort the imports\n  - Accept: failure\n")
    assert (refusal.value.line, refusal.value.value) == (2, "failure")
    assert "Accept: no_change" in (refusal.value.fix or "")


@pytest.mark.requirement("R377")
@pytest.mark.parametrize(
    ("text", "line", "written", "meant"),
    [
        ("- [ ] 1. a\n- [ ] 2. b\n  - Depend: 1\n", 3, "Depend", "Depends: 1"),
        ("- [ ] 1. a\n  and more of it\n  - Modle: opus\n", 3, "Modle", "Model: opus"),
        ("- [ ] 1. a\n  - Agent: x\n  - **Skil**: plan\n", 3, "Skil", "Skill: plan"),
        ("- [ ] 1. a\n- [ ] 2. b\n  * depnds-on: 1\n", 3, "depnds-on", "Depends on: 1"),
        ("- [ ] 1. a\n  - Timeuot: 10m\n", 2, "Timeuot", "Timeout: 10m"),
        ("- [ ] 1. a\n  - Acept: no_change\n", 2, "Acept", "Accept: no_change"),
        ("- [ ] 1. a <!-- agnet: codex -->\n", 1, "agnet", "Agent: codex"),
        ("---\nagnet: codex\n---\n- [ ] 1. a\n", 2, "agnet", "Agent: codex"),
    ],
)
def test_a_misspelt_directive_is_an_error_with_its_line_and_a_suggestion(
    text: str, line: int, written: str, meant: str
) -> None:
    with pytest.raises(TaskFileInvalid) as refusal:
        parse(text)
    found = refusal.value
    assert (found.line, found.column, found.value) == (line, text.splitlines()[line - 1].find(written) + 1, written)
    assert f"there is no directive {written!r}; did you mean {meant.partition(':')[0]}?" in found.message
    assert f"`{meant}`" in (found.fix or "")


@pytest.mark.requirement("R377")
@pytest.mark.parametrize(
    "below",
    [
        "\n  - Mode: x",  # behind an empty line
        "  - Use the new table\n  - Mode: x",  # in a list of the task's own
        "  - Note: x\n  - Files: y",  # not similar
        "  - Get: x",  # too short
        "  ```\n  - Modle: x\n  ```",
        "  <!-- Modle: of another year -->",
    ],
)
def test_a_list_in_the_text_of_a_task_is_no_misspelt_directive(below: str) -> None:
    (line,) = parse(f"- [ ] 1. a\n{below}\n").lines
    assert (line.agent, line.skill, line.model) == (None, None, None)
