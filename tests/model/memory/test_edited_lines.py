"""Lines as recorded edits keep them."""

from hypothesis import given
from hypothesis import strategies as st

from ramet.model.memory.edited_lines import Line, compare, hash_line, pack, unpack, weigh

HUNKS = st.lists(
    st.lists(st.builds(Line, st.integers(1, 2**63 - 1).map(lambda n: n * 2), st.booleans()), min_size=1).map(tuple),
    max_size=5,
)


@given(HUNKS)
def test_packed_hunks_come_back(hunks: list[tuple[Line, ...]]) -> None:
    assert unpack(pack(hunks)) == hunks


def test_white_space_changes_no_hash_and_a_blank_line_has_none() -> None:
    assert hash_line("  a = f( x )\r") == hash_line("a=f(x)") != hash_line("a = f(y)")
    assert hash_line(" \t") == 0


def test_only_added_lines_are_marked() -> None:
    (hunk,) = compare("a\nb\nc", "a\n\nx\n  c")
    assert [line.is_added for line in hunk] == [False, True, False]
    assert compare("a\nb", "b") == []


def test_a_bracket_says_nothing() -> None:
    assert (weigh("    }"), weigh("return None")) == (0, 10)
