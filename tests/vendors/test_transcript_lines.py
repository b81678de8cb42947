"""A transcript is read in whatever pieces it comes, and whatever else stands in it."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.vendors.transcript_fixtures import CLAUDE, CODEX, texts

from ramet.model.hooks.transcript import Entry, Reading
from ramet.vendors.claude import transcript as claude
from ramet.vendors.codex import transcript as codex
from ramet.vendors.contract import transcript_lines

Read = Callable[[bytes, int], Reading]

FILES: dict[Read, bytes] = {claude.read: CLAUDE.read_bytes(), codex.read: CODEX.read_bytes()}
VENDORS = pytest.mark.parametrize("read", FILES, ids=["claude", "codex"])


def read_in_pieces(read: Read, data: bytes, ends: Iterable[int]) -> tuple[list[Entry], int, int]:
    """As a file that grows is read: each time from where the last reading ended to the file's end by then."""
    entries: list[Entry] = []
    offset = skipped = 0
    for end in [*sorted(ends), len(data)]:
        piece = read(data[offset:end], offset)
        assert offset <= piece.offset <= end
        entries += piece.entries
        offset, skipped = piece.offset, skipped + piece.skipped
    return entries, offset, skipped


@VENDORS
@given(data=st.data())
def test_a_file_read_in_any_pieces_says_the_same(read: Read, data: st.DataObject) -> None:
    file = FILES[read]
    ends = data.draw(st.lists(st.integers(0, len(file)), max_size=12))
    whole = read(file, 0)
    assert read_in_pieces(read, file, ends) == (whole.entries, len(file), 0)


@VENDORS
@given(data=st.data())
def test_a_line_that_was_damaged_costs_only_itself(read: Read, data: st.DataObject) -> None:
    lines = FILES[read].splitlines(keepends=True)
    number = data.draw(st.integers(0, len(lines) - 1))
    cut = data.draw(st.integers(1, len(lines[number]) - 2))
    damaged = b"".join([*lines[:number], lines[number][:cut], b"\n", *lines[number + 1 :]])
    rest = read(b"".join([*lines[:number], *lines[number + 1 :]]), 0)
    found = read(damaged, 0)
    assert (found.entries, found.skipped, found.offset) == (rest.entries, 1, len(damaged))


@VENDORS
@given(data=st.data())
def test_a_file_read_from_any_line_on_has_the_same_keys(read: Read, data: st.DataObject) -> None:
    file = FILES[read]
    starts = [0, *(at + 1 for at, byte in enumerate(file) if byte == 10)]
    start = data.draw(st.sampled_from(starts))
    keys = [entry.key for entry in read(file, 0).entries]
    later = [entry.key for entry in read(file[start:], start).entries]
    assert later == keys[len(keys) - len(later) :]


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@VENDORS
@given(data=st.data())
def test_fields_of_any_type_break_nothing(read: Read, data: st.DataObject) -> None:
    line = json.loads(data.draw(st.sampled_from(FILES[read].splitlines())))
    holder = line
    while True:
        name = data.draw(st.sampled_from(sorted(holder)))
        if not (isinstance(holder[name], dict) and holder[name] and data.draw(st.booleans())):
            break
        holder = holder[name]
    holder[name] = data.draw(JSON)
    raw = json.dumps(line).encode() + b"\n"
    found = read(raw, 0)
    assert (found.offset, found.skipped) == (len(raw), 0)
    assert all(entry.key for entry in found.entries)


@VENDORS
@given(data=st.binary(max_size=200))
def test_no_bytes_break_it(read: Read, data: bytes) -> None:
    found = read(data, 7)
    assert found.entries == []
    assert found.offset == 7 + data.rfind(b"\n") + 1


@VENDORS
@pytest.mark.parametrize("line", [b"[1]", b"null", b"{", b"[" * 100_000, b'{"a":' * 100_000, b"\xff\xfe", b'"x"'])
def test_what_is_no_object_is_passed_over_and_counted(read: Read, line: bytes) -> None:
    assert read(line + b"\n\n \n", 0) == Reading(entries=[], offset=len(line) + 4, skipped=1)


def test_an_unknown_kind_of_line_is_no_damage() -> None:
    line = b'{"type":"new-in-2030","uuid":"u","message":{"content":"hm"}}\n'
    assert claude.read(line, 0) == codex.read(line, 0) == Reading(entries=[], offset=len(line), skipped=0)


def test_half_of_a_character_costs_only_that() -> None:
    line = b'{"type":"user","uuid":"u","message":{"content":"cut \\ud83d"}}\n'
    assert texts(claude.read(line, 0).entries, "text") == ["cut ?"]


def test_a_line_beyond_all_bounds_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript_lines, "LONGEST_LINE", 1000)
    huge = b'{"type":"user","uuid":"u","message":{"content":"%s"}}\n' % (b"x" * 3000)
    after = b'{"type":"user","uuid":"v","message":{"content":"after"}}\n'
    found = claude.read(huge + after, 0)
    assert (texts(found.entries, "text"), found.skipped) == (["after"], 1)


def test_a_line_is_read_once_it_has_its_end() -> None:
    line = b'{"type":"user","uuid":"u","message":{"content":"hm"}}'
    assert claude.read(line, 5) == Reading(entries=[], offset=5)
    assert texts(claude.read(line + b"\n", 5).entries, "text") == ["hm"]


@VENDORS
def test_keys_tell_everything_apart(read: Read) -> None:
    keys = [entry.key for entry in read(FILES[read], 0).entries if entry.kind != "usage"]
    assert len(set(keys)) == len(keys)
