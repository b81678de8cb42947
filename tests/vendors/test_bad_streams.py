"""Whatever a program prints, its reader goes on and comes to a conclusion."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.vendors import recorded

from ramet.config.settings import ProfileSettings
from ramet.keeper.event_json import encode_event
from ramet.model.work.stream import Remark, StreamEvent, Text
from ramet.vendors import registry
from ramet.vendors.contract.driver_protocol import ProcessExit, Reader

READERS = [(name, output) for name in registry.names("driver") for output in ("text", "jsonl")]
LINES = {
    name: [line for case in recorded.cases(name) for line in recorded.lines(name, case)]
    for name in registry.names("driver")
}

anything: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
exits = st.builds(
    ProcessExit, status=st.none() | st.integers(0, 255), signal=st.none() | st.integers(1, 70), errors=st.text()
)

thoroughly = settings(max_examples=100, derandomize=True, database=None)
each_reader = pytest.mark.parametrize(("name", "output"), READERS)


def _reader(name: str, output: str) -> Reader:
    return registry.find_driver(name).reader(msgspec.convert({"output": output}, ProfileSettings))


def _hear(name: str, output: str, lines: list[str], process: ProcessExit) -> list[StreamEvent]:
    """Read them all, conclude, and see that each of it can be written down and read back."""
    reader = _reader(name, output)
    events: list[StreamEvent] = [event for line in lines for event in reader.read(line)]
    for event in [*events, reader.conclude(process)]:
        msgspec.json.decode(encode_event(event), type=StreamEvent)
    return events


def _damage(value: Any, path: list[int], other: Any) -> Any:
    """The same document with something else somewhere in it."""
    if not path or not isinstance(value, dict | list) or not value:
        return other
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = keys[path[0] % len(keys)]
    copy = value.copy()
    copy[key] = _damage(value[key], path[1:], other)
    return copy


@each_reader
@thoroughly
@given(lines=st.lists(st.text(st.characters()) | anything.map(json.dumps), max_size=5), process=exits)
def test_noise_is_survived(name: str, output: str, lines: list[str], process: ProcessExit) -> None:
    _hear(name, output, lines, process)


@each_reader
@thoroughly
@given(data=st.data(), process=exits)
def test_real_lines_with_a_wrong_value_somewhere_are_survived(
    name: str, output: str, data: st.DataObject, process: ProcessExit
) -> None:
    lines = data.draw(st.lists(st.sampled_from(LINES[name]), min_size=1, max_size=4))
    path = data.draw(st.lists(st.integers(0, 40), max_size=5))
    other = data.draw(anything)
    damaged = [json.dumps(_damage(json.loads(line), path, other)) if line[:1] == "{" else line for line in lines]
    _hear(name, output, damaged, process)


@each_reader
@thoroughly
@given(data=st.data(), process=exits)
def test_real_lines_that_are_cut_are_survived(
    name: str, output: str, data: st.DataObject, process: ProcessExit
) -> None:
    lines = data.draw(st.lists(st.sampled_from(LINES[name]), min_size=1, max_size=4))
    cut = data.draw(st.integers(0, 400))
    _hear(name, output, [line[:cut] for line in lines], process)


@each_reader
def test_lines_without_end_or_bottom_are_survived(name: str, output: str) -> None:
    deep = '{"type":' + '{"a":[' * 50_000
    nested = json.dumps({"type": "assistant", "message": {"content": [_nest(200)]}})
    huge = json.dumps({"type": "assistant", "kind": "text", "text": "x" * 5_000_000})
    number = '{"type":"result","api_error_status":' + "9" * 5000 + "}"
    half = '{"type":"assistant","message":{"content":[{"type":"text","text":"\\ud83d"}]}}'
    events = _hear(
        name, output, [deep, nested, huge, number, half, "\0"], ProcessExit(status=0, signal=None, errors="")
    )
    assert all(isinstance(event, Remark | Text) for event in events)


def _nest(depth: int) -> Any:
    value: Any = "bottom"
    for _ in range(depth):
        value = {"type": "tool_use", "id": "1", "name": "x", "input": value}
    return value


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_line_that_is_not_understood_is_a_remark(name: str) -> None:
    for line in ("Killed by the weather.", '["a", "list"]', '{"type":"novelty","value":1}', '{"no":"type"}'):
        assert _reader(name, "text").read(line) == [Remark(text=line)]
