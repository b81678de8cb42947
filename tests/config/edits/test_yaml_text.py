"""A text keeps everything but the edited value, and a text that cannot be edited is refused."""

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from ramet.config.edits.yaml_text import append_value, remove_value, set_value
from ramet.errors import InvalidSetting

COMMENTED = """\
# about everything
work:   # about work
  retries: 3  # three are enough
  # behind the last key

# about children
spawn:
  drivers:
    # the careful one
    - codex
"""


@pytest.mark.requirement("R374")
@pytest.mark.parametrize(
    ("path", "value", "old", "new"),
    [
        ("work.retries", 5, "retries: 3  #", "retries: 5  #"),
        ("work.skill", "off", "enough\n", "enough\n  skill: 'off'\n"),
        ("hooks.record", "all", "- codex\n", "- codex\nhooks:\n  record: all\n"),
        ("spawn.depth", 2, "- codex\n", "- codex\n  depth: 2\n"),
    ],
)
def test_a_set_key_changes_its_own_line_only(path: str, value: object, old: str, new: str) -> None:
    assert set_value(COMMENTED, path.split("."), value) == COMMENTED.replace(old, new)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "a:\n  b:\n    - x\n"),
        ("# nothing yet", "# nothing yet\na:\n  b:\n    - x\n"),
        ("a:\n", "a:\n  b:\n    - x\n"),
        ("a:  # later\nc: 1\n", "a:  # later\n  b:\n    - x\nc: 1\n"),
        ("a:\n  b:\n", "a:\n  b: [x]\n"),
        ("a.b: [y]  # dotted\n", "a.b: [x]  # dotted\n"),
        ("a: {c: 1}\n", "a: {c: 1, b: [x]}\n"),
        ('{"a": {}}', '{"a": {b: [x]}}'),
        ("a:\n  b:\n    - y\n    - z\nc: 1\n", "a:\n  b:\n    - x\nc: 1\n"),
        ("c: 1\n...\n", "c: 1\na:\n  b:\n    - x\n...\n"),
        ("a:\r\n  c: 1\r\n", "a:\r\n  c: 1\r\n  b:\r\n    - x\r\n"),
        ("a:\n  c: |\n    text\nd: 1\n", "a:\n  c: |\n    text\n  b:\n    - x\nd: 1\n"),
    ],
)
def test_every_style_of_mapping_can_be_set(before: str, after: str) -> None:
    assert set_value(before, ("a", "b"), ["x"]) == after


@pytest.mark.requirement("R374")
@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.b", "# one\na:\n  b: 1  # two\n  c: 2  # three\n", "# one\na:\n  c: 2  # three\n"),
        ("a.b", "# one\na:\n  b: 1\nc: 2\n", "# one\nc: 2\n"),
        ("a.b", "a: {b: 1, c: 2}\n", "a: {c: 2}\n"),
        ("a.c", "a: {b: 1, c: 2}\n", "a: {b: 1}\n"),
        ("a.b", "a.b: 1\nc: 2\n", "c: 2\n"),
        ("a.b", "a:\n  b:\n    - 1\n    - 2\n  c: 3\n", "a:\n  c: 3\n"),
        ("a.b.c", "a:\n  b:\n    c: 1\n  d: 2\n", "a:\n  d: 2\n"),
        ("a.z", "a:\n  b: 1\n", "a:\n  b: 1\n"),
        ("a.b", '{"a": {"b": 1}}', "{}"),
    ],
)
def test_a_removed_key_takes_its_empty_section_along(path: str, before: str, after: str) -> None:
    assert remove_value(before, path.split(".")) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "p:\n  allow:\n    - run: make *\n"),
        ("p:\n  allow: []\n", "p:\n  allow: [{run: make *}]\n"),
        ("p:\n  allow: [x]  # y\n", "p:\n  allow: [x, {run: make *}]  # y\n"),
        ("p:\n  allow:\n  - x  # y\n  # z\n", "p:\n  allow:\n  - x  # y\n  - run: make *\n  # z\n"),
        ("p:\n  allow:\n    - run: make *\n", "p:\n  allow:\n    - run: make *\n"),
    ],
)
def test_a_value_is_appended_to_a_list_once(before: str, after: str) -> None:
    assert append_value(before, ("p", "allow"), {"run": "make *"}) == after


@pytest.mark.requirement("R374")
@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: &x {b: 1}\nc: *x\n", "aliases"),
        ("a: {b: 1}\na.b: 2\n", "more than once"),
        ("a: {b: 1}\na: {b: 2}\n", "more than once"),
        ("a:\n  b:\n    - 1\n    # why two\n    - 2\n", "comments between"),
        ("a: [1]\n", "not a section"),
        ("a: ~\n", "not a section"),
        ("a: {b: 1\n", "not valid YAML"),
        ("- 1\n", "not a mapping"),
    ],
)
def test_a_text_that_cannot_be_edited_safely_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(InvalidSetting, match=complaint) as refusal:
        set_value(text, ("a", "b"), [3])
    assert refusal.value.fix


def test_only_a_list_can_be_appended_to() -> None:
    with pytest.raises(InvalidSetting, match=r"a\.b is not a list"):
        append_value("a: {b: 1}\n", ("a", "b"), 2)


_VALUES = st.one_of(st.integers(), st.booleans(), st.text(max_size=20), st.lists(st.text(max_size=5), max_size=3))
_NAMES = st.sampled_from(["a", "b", "c"])
_DOCUMENTS = st.dictionaries(_NAMES, st.dictionaries(_NAMES, _VALUES, min_size=1, max_size=3), max_size=3)


@settings(max_examples=150, deadline=None)
@given(_DOCUMENTS, st.booleans() | st.none(), _NAMES, _NAMES, _VALUES)
def test_any_value_can_be_set_and_removed_in_any_style(
    document: dict[str, dict[str, object]], style: bool | None, section: str, name: str, value: object
) -> None:
    text = yaml.safe_dump(document, default_flow_style=style)  # PyYAML writes some line ends wrong as they are
    changed = set_value(text, (section, name), value)
    wanted = {**document, section: {**document.get(section, {}), name: value}}
    assert yaml.safe_load(changed) == wanted
    del wanted[section][name]
    assert (yaml.safe_load(remove_value(changed, (section, name))) or {}) == {k: v for k, v in wanted.items() if v}
