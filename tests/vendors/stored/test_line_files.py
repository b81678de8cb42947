"""Files of lines that change while they are read, and lines beyond all bounds."""

import tracemalloc
from pathlib import Path

import pytest

from ramet.vendors.contract.stored_files import line_file
from ramet.vendors.contract.stored_files.family_order import parents_first
from ramet.vendors.contract.stored_files.line_file import Lines, Place
from ramet.vendors.contract.transcript_lines import LONGEST_LINE


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b"".join(b"%05d %s\n" % (number, b"x" * 1000) for number in range(500)))
    return path


def numbers(pieces: list[Lines]) -> list[int]:
    return [int(line.data[:5]) for piece in pieces for line in piece.lines]


def test_a_file_that_grows_while_it_is_read_is_read_to_its_new_end(file: Path) -> None:
    reading = line_file.read(file, None)
    pieces = [next(reading)]
    with file.open("ab") as more:
        more.write(b"00500 late\n00501 half")
    pieces += reading
    assert numbers(pieces) == list(range(501))
    with file.open("ab") as more:
        more.write(b" whole\n")
    assert numbers(list(line_file.read(file, pieces[-1].place))) == [501]


def test_a_file_that_is_cut_while_it_is_read_ends_there_and_is_read_again_from_its_beginning(file: Path) -> None:
    reading = line_file.read(file, None)
    pieces = [next(reading)]
    file.write_bytes(b"00900 new\n")
    pieces += reading
    assert numbers(pieces) == sorted(numbers(pieces))
    assert numbers(list(line_file.read(file, pieces[0].place))) == [900]


def test_a_file_that_was_rewritten_at_the_same_length_is_noticed(file: Path) -> None:
    place = list(line_file.read(file, None))[-1].place
    file.write_bytes(file.read_bytes().replace(b"00000 ", b"00777 ", 1))
    assert numbers(list(line_file.read(file, place)))[0] == 777
    assert next(line_file.read(file, Place(offset=10**12, line=5, mark=place.mark))).lines


def test_a_line_beyond_all_bounds_is_counted_and_passed_over_with_bounded_memory(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    with file.open("wb") as lines:
        lines.write(b"00000 first\n")
        for _ in range(4):
            lines.write(b"x" * LONGEST_LINE)
        lines.write(b"\n00002 last\n")
    tracemalloc.start()
    try:
        pieces = list(line_file.read(file, None))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (numbers(pieces), sum(piece.skipped for piece in pieces)) == ([0, 2], 1)
    assert peak < 3 * LONGEST_LINE


def test_children_come_behind_their_parents_and_a_circle_is_cut() -> None:
    items = {name: name for name in "abcdef"}
    parents = {"a": "b", "b": "c", "c": None, "d": "e", "e": "d", "f": "missing"}
    order = list(parents_first(items, parents))
    assert sorted(order) == list("abcdef")
    assert order.index("c") < order.index("b") < order.index("a")
