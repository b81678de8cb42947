"""Lines come out of a stream whole, however it was cut, and none is held beyond its limit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramet.daemon.wire.byte_lines import Lines

STREAMS = st.lists(st.binary(max_size=30)).map(b"\n".join)


def _drain(lines: Lines) -> list[bytes | None]:
    return [lines.take() for _ in range(len(lines))]


def _feed(data: bytes, max_bytes: int, cuts: list[int]) -> list[bytes | None]:
    lines = Lines(max_bytes)
    found: list[bytes | None] = []
    start = 0
    for cut in [*sorted(cut for cut in cuts if cut < len(data)), len(data)]:
        lines.feed(data[start:cut])
        found += _drain(lines)
        start = cut
    return found


@pytest.mark.requirement("R256")
@given(STREAMS, st.lists(st.integers(0, 200)))
def test_lines_are_the_same_however_the_stream_is_cut(stream: bytes, cuts: list[int]) -> None:
    data = stream + b"\n"
    expected = [piece for piece in stream.split(b"\n") if piece.strip(b" \t\r\x0b\x0c")]
    assert _feed(data, 1000, cuts) == expected


@pytest.mark.requirement("R257")
@given(STREAMS, st.lists(st.integers(0, 200)))
def test_a_line_beyond_the_limit_is_reported_in_its_place(stream: bytes, cuts: list[int]) -> None:
    data = stream + b"\n"
    pieces = [piece for piece in stream.split(b"\n") if len(piece) > 10 or piece.strip(b" \t\r\x0b\x0c")]
    assert _feed(data, 10, cuts) == [None if len(piece) > 10 else piece for piece in pieces]


def test_a_line_that_never_ends_is_reported_once_and_not_kept() -> None:
    lines = Lines(100)
    for _ in range(1000):
        lines.feed(b"x" * 90)
    assert _drain(lines) == [None]
    lines.feed(b"the end\nnext\n")
    assert _drain(lines) == [b"next"]
