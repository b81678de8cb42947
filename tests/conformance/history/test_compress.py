"""compress: a summary in the place of a range, and the range again by undo, to the byte."""

import pytest
from tests.conformance.history.story import (
    answer_tool,
    call_tool,
    compiled,
    compress,
    findings,
    fork,
    head,
    logged,
    merge,
    put,
    say,
    texts,
)
from tests.world import World

from ramet.errors import InvalidRange, NothingToExpand, NotInHistory
from ramet.model.history.commit import estimate_tokens

FORMS = ("openai", "anthropic", "text")


def test_a_given_text_stands_in_the_place_of_its_range(world: World) -> None:
    said = say(world, *"abcdef")
    summary = compress(world, said[1], said[3], text="b to d")
    say(world, "g")
    assert texts(world) == ["a", "b to d", "e", "f", "g"]
    assert (summary.depth, summary.branch) == (7, "main")
    row = world.call("history.log", branch="main", limit=2).items[1]
    assert (row.hash, row.compresses, row.content_type) == (summary.hash, ["2", "4"], "output")
    assert [world.call("history.show", hash=each).text for each in said] == list("abcdef")


def test_an_extract_says_something_of_everything_and_is_always_the_same(world: World) -> None:
    said = say(world, *(f"{word} has a meaning. " + "More of it. " * 30 for word in ("alpha", "beta", "gamma")))
    fork(world, "again")
    compress(world, said[0], said[2])
    compress(world, said[0], said[2], "again")
    (text,) = texts(world)
    assert texts(world, "again") == [text]
    assert all(f"- user: {word} has a meaning." in text for word in ("alpha", "beta", "gamma"))
    assert estimate_tokens(text) < sum(world.call("history.show", hash=each).tokens for each in said) / 3


def test_an_extract_keeps_the_sentence_that_mattered_and_not_the_form_of_data(world: World) -> None:
    matters = "The cart's total is wrong because the discount is applied twice."
    said = [
        *say(world, "Look at the cart please."),
        put(world, "tool_io", text='{"command":"echo hi","options":[{"deep":true}]}', tool_name="Bash"),
        *say(world, f"{matters} " + "Here is what I looked at before. " * 10),
    ]
    compress(world, said[0], said[-1])
    (text,) = texts(world)
    assert text.splitlines()[0] == "- user: Look at the cart please."
    assert matters in text
    assert "{" not in text


@pytest.mark.parametrize("target", [20, 60, 200])
def test_an_extract_keeps_to_its_target(world: World, target: int) -> None:
    said = say(world, *(f"Sentence {number} about something. " * 20 for number in range(12)))
    summary = compress(world, said[0], said[-1], target_tokens=target)
    assert target / 4 < summary.tokens <= target


@pytest.mark.requirement("R46")
def test_what_matters_more_is_shortened_less(world: World) -> None:
    words = "one two three four five six seven eight nine ten " * 20
    first = put(world, "tool_io", text=words, tool_name="Bash")
    last = put(world, "artifact", text=words, artifact_type="code")
    compress(world, first, last, target_tokens=100)
    (text,) = texts(world)
    by_role = dict(line.removeprefix("- ").split(": ", 1) for line in text.splitlines())
    assert len(by_role["assistant"]) > 2.5 * len(by_role["tool"])
    world.call("history.undo", branch="main")
    compress(world, first, last, target_tokens=8)
    assert texts(world)[0].startswith("- assistant: one two")


@pytest.mark.requirement("R46")
def test_boundaries_instructions_and_pinned_content_stay(world: World) -> None:
    world.call("history.register", name="law", compression_priority=90)
    first = say(world, "a")[0]
    put(world, "session", session_type="checkpoint", summary="half way")
    put(world, "instruction", text="be brief")
    say(world, "thou shalt", content_type="law")
    (pinned,) = say(world, "p", priority="pinned")
    (last,) = say(world, "z")
    compress(world, first, last, text="a to z")
    assert texts(world) == ["a to z", "[Session checkpoint]\n\nhalf way", "be brief", "thou shalt", "p"]
    with pytest.raises(InvalidRange, match="nothing to compress"):
        compress(world, pinned, pinned, text="p!")


@pytest.mark.requirement("R46")
def test_an_unprotected_type_of_ones_own_is_compressed(world: World) -> None:
    world.call("history.register", name="chatter", compression_priority=89)
    first, last = say(world, "x", "y", content_type="chatter")
    compress(world, first, last, text="chatter")
    assert texts(world) == ["chatter"]


def test_a_compression_can_be_compressed_and_edited(world: World) -> None:
    said = say(world, *"abcdef")
    inner = compress(world, said[1], said[2], text="b, c")
    outer = compress(world, said[0], said[3], text="a to d")
    assert texts(world) == ["a to d", "e", "f"]
    world.call("history.edit", branch="main", target=outer.hash, text="A to D")
    assert texts(world) == ["A to D", "e", "f"]
    world.call("history.undo", branch="main", steps=2)
    assert texts(world) == ["a", "b, c", "d", "e", "f"]
    expanded = world.call("history.expand", hash=inner.hash)
    assert [row.preview for row in expanded.commits] == ["b", "c"]


def test_ranges_that_overlap_hide_nothing_twice(world: World) -> None:
    said = say(world, *"abcdef")
    compress(world, said[1], said[3], text="b to d")
    compress(world, said[2], said[4], text="e only")
    assert texts(world) == ["a", "b to d", "e only", "f"]
    compress(world, said[0], said[1], text="a only")
    assert texts(world) == ["a only", "b to d", "e only", "f"]
    with pytest.raises(InvalidRange, match="nothing to compress"):
        compress(world, said[2], said[3])


def test_undo_restores_what_was_compiled_to_the_byte(world: World) -> None:
    said = say(world, *"abcd")
    call_tool(world, "c1", '{"q": 1}')
    answer_tool(world, "c1", "one")
    put(world, "instruction", text="be brief")
    before, stood = [compiled(world, format=form) for form in FORMS], head(world)
    compress(world, said[1], str(stood))
    compress(world, said[0], said[0], text="A")
    assert compiled(world) != before[0]
    world.call("history.undo", branch="main", steps=2)
    assert [compiled(world, format=form) for form in FORMS] == before
    assert head(world) == stood


def test_a_result_whose_call_was_compressed_is_plain_text(world: World) -> None:
    call = call_tool(world, "c1")
    answer_tool(world, "c1", "one")
    compress(world, call, call, text="asked")
    assert compiled(world).messages == [
        {"role": "user", "content": "asked"},
        {"role": "user", "content": "[Bash]\none"},
    ]


def test_a_compression_is_of_its_branch_only_and_forks_share_it(world: World) -> None:
    said = say(world, *"abc")
    fork(world, "before")
    compress(world, said[0], said[1], text="a, b")
    fork(world, "after")
    say(world, "d", branch="after")
    assert (texts(world, "before"), texts(world, "after")) == (["a", "b", "c"], ["a, b", "c", "d"])
    assert logged(world, "after") == ["a", "b", "c", "a, b", "d"]
    assert findings(world) == []


def test_expand_opens_a_compression_to_its_originals(world: World) -> None:
    said = say(world, *"abcd")
    summary = compress(world, said[1], said[2], text="b, c")
    expanded = world.call("history.expand", hash=summary.hash)
    assert (expanded.kind, expanded.branch, expanded.head) == ("compression", None, None)
    assert [row.hash for row in expanded.commits] == said[1:3]
    with pytest.raises(NothingToExpand) as refusal:
        world.call("history.expand", hash=said[0])
    assert (refusal.value.field, refusal.value.value) == ("hash", said[0])


def test_a_range_that_is_none_is_refused(world: World) -> None:
    said = say(world, *"abc")
    (elsewhere,) = say(world, "x", branch="other")
    before = world.dump()
    with pytest.raises(InvalidRange, match="comes after"):
        compress(world, said[2], said[0], text="x")
    with pytest.raises(NotInHistory) as refusal:
        compress(world, said[0], elsewhere, text="x")
    assert refusal.value.field == "to"
    assert world.dump() == before


def test_a_range_that_crosses_a_merge_is_refused(world: World) -> None:
    (shared,) = say(world, "a")
    fork(world, "side")
    say(world, "s", branch="side")
    say(world, "b")
    merge(world, "side")
    (last,) = say(world, "c")
    before = world.dump()
    with pytest.raises(InvalidRange) as refusal:
        compress(world, shared, last, text="x")
    assert (refusal.value.field, refusal.value.value) == ("to", last)
    assert refusal.value.fix
    assert world.dump() == before


def test_a_range_that_crosses_an_imported_merge_of_a_plain_type_is_refused(world: World) -> None:
    first, middle, last = say(world, *"abc")
    (other,) = say(world, "s", branch="side")
    # Merges made here are of the type metadata; those of an earlier system have the type that they had there.
    world.sql(
        "UPDATE commits SET second_parent_id = (SELECT id FROM commits WHERE hash = :other) WHERE hash = :hash"
        " RETURNING id",
        other=bytes.fromhex(other),
        hash=bytes.fromhex(middle),
    )
    with pytest.raises(InvalidRange) as refusal:
        compress(world, first, last, text="x")
    assert (refusal.value.field, refusal.value.value) == ("to", last)
