"""Every vendor's transcripts: a recorded file says the same in whatever pieces it comes, and whatever else is in it."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.vendors.fixtures import files_of

from ramet.model.hooks.transcript import Entry, Reading
from ramet.vendors import registry

Read = Callable[[bytes, int], Reading]

FILES: dict[Read, bytes] = {
    each.read: max((path.read_bytes() for path in files_of(vendor, "transcript")), key=len)
    for vendor, each in registry.transcripts().items()
}
"""The longest recorded file of each vendor, by the function that reads it."""
VENDORS = pytest.mark.parametrize("read", FILES, ids=registry.names("transcript"))


@VENDORS
def test_a_recorded_file_has_all_that_a_conversation_is_made_of(read: Read) -> None:
    entries = read(FILES[read], 0).entries
    assert {entry.kind for entry in entries} >= {"text", "reasoning", "tool_call", "tool_result", "usage", "compaction"}
    assert {entry.role for entry in entries if entry.kind == "text"} >= {"user", "assistant"}


@pytest.mark.parametrize("vendor", registry.names("transcript"))
def test_a_sub_agent_s_file_is_found_beside_its_session_s(vendor: str) -> None:
    files = [path for path in files_of(vendor, "transcript") if path.suffix == ".jsonl"]
    found = registry.transcripts()[vendor].find_subagents(files)
    assert found
    assert all(each.path in files and each.above in files and each.path != each.above for each in found)


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


@VENDORS
def test_keys_tell_everything_apart(read: Read) -> None:
    keys = [entry.key for entry in read(FILES[read], 0).entries if entry.kind != "usage"]
    assert len(set(keys)) == len(keys)
