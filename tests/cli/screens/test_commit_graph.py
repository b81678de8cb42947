"""The picture of a history, whatever its shape."""

from hypothesis import given
from hypothesis import strategies as st

from ramet.cli.screens.commit_graph import Node, draw
from ramet.cli.screens.lineage import by_line


def _picture(parents: dict[str, list[str]]) -> list[str]:
    order = list(by_line(list(parents), parents))
    drawings = draw([Node(name, parents[name], "●", goes_on=False) for name in order], unicode=True)
    lines = [
        line
        for name, drawing in zip(order, drawings, strict=True)
        for line in (*drawing.before, [*drawing.line, (name, "")], *drawing.after)
    ]
    return ["".join(text for text, _ in line).rstrip() for line in lines]


def test_lines_that_part_join_at_their_parent() -> None:
    parents = {"d": ["b"], "c": ["a"], "b": ["a"], "a": []}
    assert _picture(parents) == ["● d", "● b", "│ ● c", "├─╯", "● a"]


def test_a_merge_opens_a_lane_and_three_close_at_once() -> None:
    parents = {"m": ["a", "b", "c"], "c": ["r"], "b": ["r"], "a": ["r"], "r": []}
    assert _picture(parents) == ["● m", "├─┬─╮", "│ │ ● c", "│ ● │ b", "● │ │ a", "├─┴─╯", "● r"]


def test_a_lane_on_the_way_is_crossed() -> None:
    parents = {"m": ["a", "z"], "x": ["y"], "z": ["r"], "y": ["r"], "a": ["r"], "r": []}
    picture = _picture(parents)
    assert picture[0] == "● m"
    assert sum("●" in line for line in picture) == len(parents)


@st.composite
def _histories(draw_value: st.DrawFn) -> dict[str, list[str]]:
    """Commits, each with up to three parents among those below it."""
    count = draw_value(st.integers(1, 12))
    parents: dict[str, list[str]] = {}
    for number in range(count):
        below = [str(other) for other in range(number + 1, count)]
        chosen = draw_value(st.lists(st.sampled_from(below), max_size=3, unique=True)) if below else []
        parents[str(number)] = chosen
    return parents


@given(_histories())
def test_every_commit_is_drawn_once_behind_all_that_came_out_of_it(parents: dict[str, list[str]]) -> None:
    order = list(by_line(list(parents), parents))
    assert sorted(order) == sorted(parents)
    assert all(order.index(name) < order.index(parent) for name in parents for parent in parents[name])
    assert sum("●" in line for line in _picture(parents)) == len(parents)


@given(_histories())
def test_a_lane_never_ends_in_the_air(parents: dict[str, list[str]]) -> None:
    """Whatever leads down from a line is met by something on the next one."""
    picture = _picture(parents)
    for upper, lower in zip(picture, [*picture[1:], ""], strict=True):
        graph = lower.ljust(len(upper))
        for column, symbol in enumerate(upper[: 2 * len(parents)]):
            if symbol in "│├┤┼╮╭┬" and column % 2 == 0:
                assert graph[column] != " ", "\n".join(picture)


def test_a_gap_separates_histories_that_have_nothing_in_common() -> None:
    assert _picture({"b": ["a"], "a": [], "z": [], "y": []}) == ["● b", "● a", "", "● z", "", "● y"]
    assert _picture({"m": ["a", "b"], "b": [], "a": [], "z": []})[-2:] == ["", "● z"]
