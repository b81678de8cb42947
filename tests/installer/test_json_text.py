"""Items put into somebody else's JSON file, and taken out again."""

import doctest
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramet.errors import ConfigError
from ramet.installer import json_text

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    rest=st.lists(_VALUES, max_size=3),
    items=st.lists(_VALUES, min_size=1, max_size=3),
    indent=st.sampled_from([None, 0, 2, "\t"]),
)
def test_what_is_put_into_a_list_comes_first_and_can_be_taken_out(
    rest: list[Any], items: list[Any], indent: int | str | None
) -> None:
    text = json.dumps({"a": {"b": rest}, "c": []}, indent=indent)
    added = json_text.put_first(text, ("a", "b"), [json.dumps(item, indent=2) for item in items])
    assert json.loads(added)["a"]["b"] == [*items, *rest]
    for place in reversed(range(len(items))):
        added = json_text.take_out(added, ("a", "b", place))
    assert added == text


@given(
    rest=st.lists(_VALUES, min_size=1, max_size=3),
    items=st.lists(_VALUES, min_size=1, max_size=2),
    indent=st.sampled_from([None, 0, 2, "\t"]),
)
def test_what_is_put_at_the_end_of_a_list_can_be_taken_out(
    rest: list[Any], items: list[Any], indent: int | str | None
) -> None:
    text = json.dumps({"a": {"b": rest}, "c": []}, indent=indent)
    added = json_text.put_last(text, ("a", "b"), [json.dumps(item) for item in items])
    assert json.loads(added)["a"]["b"] == [*rest, *items]
    for _ in items:
        added = json_text.take_out(added, ("a", "b", len(json.loads(added)["a"]["b"]) - 1))
    assert added == text


@pytest.mark.parametrize(
    "text",
    ['{"a": [ 1 /* last */ ]}', '{"a": [1,]}', '{"a": [\r\n\t1, // one\r\n\t2 // two\r\n]}', '{"a": [1 , // one\n]}'],
)
def test_what_is_put_at_the_end_minds_comments_and_trailing_commas(text: str) -> None:
    before = json_text.parse(text)["a"]
    added = json_text.put_last(text, ("a",), ["7"])
    assert json_text.parse(added) == {"a": [*before, 7]}
    assert json_text.take_out(added, ("a", len(before))) == text


@pytest.mark.parametrize(
    ("text", "is_empty"), [('{"a": [ ]}', True), ('{"a": [ 1 ]}', False), ('{"a": [\n  1\n]}', False)]
)
def test_whether_it_was_put_into_something_empty_can_be_told_later(text: str, is_empty: bool) -> None:
    first = json_text.put_first(text, ("a",), ["2"])
    assert json_text.was_empty(first, ("a",)) is is_empty
    assert json_text.was_empty(json_text.put_first(first, ("a",), ["3"]), ("a",)) is is_empty


def test_lines_end_as_the_others_do() -> None:
    text = '{\r\n  "a": {\r\n    "b": 1\r\n  }\r\n}\r\n'
    added = json_text.put_first(text, ("a",), ['"c": [\n  2\n]', '"d": 3'])
    assert json_text.parse(added) == {"a": {"c": [2], "d": 3, "b": 1}}
    assert added.count("\n") == added.count("\r\n")
    assert json_text.take_out(json_text.take_out(added, ("a", "d")), ("a", "c")) == text


def test_comments_and_trailing_commas_stay() -> None:
    text = '// one\n{"a": [ /* two */ "}", ], /* "a": 1 */\n}'
    added = json_text.put_first(text, ("a",), ["7"])
    assert json_text.parse(added) == {"a": [7, "}"]}
    assert json_text.take_out(added, ("a", 0)) == text


def test_a_key_that_is_there_twice_is_not_guessed_at() -> None:
    with pytest.raises(ConfigError, match="it has a twice"):
        json_text.put_first('{"a": [], "a": []}', ("a",), ["1"])


def test_the_example_in_its_docstring_is_so() -> None:
    assert doctest.testmod(json_text) == (0, 5)
