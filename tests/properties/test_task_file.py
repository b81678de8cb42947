"""What must hold of any task file: it is read or refused with its place, and what is rendered reads the same."""

from contextlib import suppress

import msgspec
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tests.properties.hypothesis_settings import bounded

from ramet.errors import TaskFileInvalid
from ramet.model.runs.line_order import needs, order, waves
from ramet.model.runs.task_file import (
    Line,
    TaskFile,
    fingerprint,
    parse,
    render,
)

margins = st.sampled_from(["", "", "", "  ", "    ", " ", "\t", "      "])
BOXES = """
- [ ] {n}. Build it|- [x] {n}. Done|* [X] {n}) Star|-[ ]{n}.Tight|{n}. [ ] Ordered|- [ ] no number|- [ ] 5 apples
- [ ] 1.{n} Below|- [ ] {n}.0 whole|+ [ ] 2.{n}: colon|- [ ] {n}. <!-- skill: review --> x|- [ ] `<!-- x -->`
- [ ] ``<!-- x -->`b <!-- y -->`|- [ ] {n}. 1.2 is a version|- [ ] {n}. [x] odd|- [ ] a <!-- note --> b
"""
OTHERS = """
- Agent: @claude|- **Depends:** 1|- Timeout: 10m|- Model: opus|- Skill: `review`|- depends on: none|- Agent: self
- detail|plain words|# heading|## Section C#|## a # #|> quote|--|=|<!-- agent: @codex -->|<!-- depends: 1 -->|[x] foo
<!-- note -->|1. [link](x)|- [x](y)|\u3000wide|\x1cctl|| a ||agent: claude
"""
BROKEN = ["```", "~~~", "````", "<!--", "- [ ]", "- [~] odd", "- Depends: 900", "- Timeout: soon", "\0"]
boxes = st.sampled_from(BOXES.strip().replace("\n", "|").split("|"))
others = st.sampled_from(OTHERS.strip().replace("\n", "|").split("|"))
whole = st.sampled_from(
    [
        *(
            "```\n- [ ] 1. code\n\n\tmake\n```",
            "~~~ <!-- x\n# no\n~~~",
            "<!--\n- [ ] 1. hidden\n--> rest",
            "``` x\n  a\n b\n```",
        ),
        *(
            "- [ ] ```\n  - Agent: @no\n  ```",
            "- [ ]\n  later\n      deeper",
            "- [ ] {n}.\n\n  ```py <!-- x -->\n    x\n  ```",
        ),
    ]
)


def _assemble(rows: list[tuple[str, str]]) -> str:
    return "\n".join(f"{margin}{body.replace('{n}', str(place))}" for place, (margin, body) in enumerate(rows, 1))


tidy = st.lists(st.tuples(margins, boxes | others | whole | st.just("")), min_size=1, max_size=12).map(_assemble)
wild = st.lists(
    st.tuples(margins, boxes | others | whole | st.sampled_from([*BROKEN, "-->", "---"]) | st.text(max_size=12)),
    max_size=25,
).map(_assemble)
front = st.sampled_from(["", "", "---\nagent: claude\ntimeout: 20m\n---\n", "---\ntitle: x\n"])


def _is_valid(body: str) -> bool:
    try:
        return bool(parse(body))
    except TaskFileInvalid:
        return False


def plain(file: TaskFile) -> list[Line]:
    return [msgspec.structs.replace(line, line_number=0) for line in file.lines]


@bounded(400)
@given(front, tidy)
@example("", "- [ ] 1.\n  ```html <!-- x -->\n    <b>\n  ```")
@example("", "- [ ] 1.\n  Build\n      more")
def test_what_is_rendered_reads_the_same(head: str, body: str) -> None:
    with suppress(TaskFileInvalid):
        file = parse(head + body)
        again = parse(render(file))
        assert plain(again) == plain(file)
        assert fingerprint(again) == fingerprint(file)


@pytest.mark.requirement("R317")
@bounded(400)
@given(st.binary(max_size=200) | st.text(max_size=200) | wild)
@example("\ud800")
@example("- [ ] 1. a\n" + " " * 5000 + "- [ ] b")
def test_anything_is_read_or_refused_with_a_typed_error(content: bytes | str) -> None:
    with suppress(TaskFileInvalid):
        file = parse(content)
        assert file.lines
        assert all(line.text and line.text == line.text.strip() for line in file.lines)
        assert len({line.key for line in file.lines}) == len(file.lines)


@bounded(200)
@given(tidy, st.sampled_from(BROKEN))
def test_what_breaks_a_file_is_named_with_its_place(body: str, broken: str) -> None:
    assume(_is_valid(body))
    rows = f"{body}\n\n- [ ] 99. last\n  - detail\n{broken}".split("\n")
    with pytest.raises(TaskFileInvalid) as refused:
        parse("\n".join(rows))
    assert refused.value.line == len(rows)
    assert 1 <= (refused.value.column or 0) <= len(rows[-1]) + 1


@bounded(200)
@given(tidy, st.sets(st.integers(0, 30)))
def test_every_line_comes_after_all_that_it_waits_for(body: str, left_out: set[int]) -> None:
    with suppress(TaskFileInvalid):
        lines = [line for place, line in enumerate(parse(body).lines) if place not in left_out]
        waits = needs(lines)
        place = {line.key: turn for turn, line in enumerate(order(lines))}
        wave = {line.key: turn for turn, wave in enumerate(waves(lines)) for line in wave}
        assert place.keys() == wave.keys() == {line.key for line in lines}
        for key, wanted in waits.items():
            assert all(place[other] < place[key] and wave[other] < wave[key] for other in wanted)
            assert not wanted or wave[key] == 1 + max(wave[other] for other in wanted)


@bounded(100)
@given(tidy)
def test_boxes_and_white_space_are_no_change(body: str) -> None:
    with suppress(TaskFileInvalid):
        file = parse(body)
        ticked = render(TaskFile(lines=tuple(msgspec.structs.replace(line, done=not line.done) for line in file.lines)))
        assert fingerprint(parse(ticked.replace("\n- [", "\n\n\n- ["))) == fingerprint(file)
