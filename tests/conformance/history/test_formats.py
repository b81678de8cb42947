"""Compiled messages keep to what the providers accept: every call answered once, right behind the calls."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.history.story import (
    answer_tool,
    call_tool,
    compiled,
    put,
    say,
)
from tests.world import World

from ramet.model.history.compilation import Piece
from ramet.model.history.provider_messages import RENDERERS, Anthropic, OpenAI

NO_RESULT = "(no result was recorded)"


def test_the_three_formats_of_one_conversation(world: World) -> None:
    put(world, "instruction", text="be brief")
    say(world, "list it")
    say(world, "looking", role="assistant")
    call_tool(world, "c1", '{"cmd": "ls"}')
    answer_tool(world, "c1", "a b", status="error")
    function = {"name": "Bash", "arguments": '{"cmd": "ls"}'}
    assert compiled(world).messages == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "list it"},
        {
            "role": "assistant",
            "content": "looking",
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "a b"},
    ]
    anthropic = compiled(world, format="anthropic")
    use = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"cmd": "ls"}}
    assert anthropic.system == "be brief"
    assert anthropic.messages == [
        {"role": "user", "content": [{"type": "text", "text": "list it"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "looking"}, use]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "a b", "is_error": True}],
        },
    ]
    assert [message["content"] for message in compiled(world, format="text").messages] == [
        "[System]\nbe brief",
        "[User]\nlist it",
        "[Assistant]\nlooking",
        '[Tool call: Bash]\n{"cmd": "ls"}',
        "[Tool error]\na b",
    ]


def test_a_result_without_its_call_is_told_by_the_user(world: World) -> None:
    answer_tool(world, "lost", "orphan")
    answer_tool(world, None, "nameless")
    assert compiled(world).messages == [
        {"role": "user", "content": "[Bash]\norphan"},
        {"role": "user", "content": "[Bash]\nnameless"},
    ]


def test_a_call_that_was_never_answered_says_so(world: World) -> None:
    call_tool(world, "c1")
    call_tool(world, "c2")
    answer_tool(world, "c2", "two")
    say(world, "go on")
    answer_tool(world, "c1", "late")
    messages = compiled(world).messages
    assert [(message["role"], message.get("tool_call_id"), message["content"]) for message in messages] == [
        ("assistant", None, None),
        ("tool", "c2", "two"),
        ("tool", "c1", NO_RESULT),
        ("user", None, "go on"),
        ("user", None, "[Bash]\nlate"),
    ]


def test_calls_that_overlap_are_each_paired_with_their_own_result(world: World) -> None:
    call_tool(world, "c1")
    call_tool(world, "c2")
    answer_tool(world, "c1", "one")
    call_tool(world, "c3")
    answer_tool(world, "c3", "three")
    answer_tool(world, "c2", "two")
    messages = compiled(world).messages
    assert [
        [call["id"] for call in message.get("tool_calls", ())] for message in messages if not message["content"]
    ] == [
        ["c1", "c2"],
        ["c3"],
    ]
    assert [message["content"] for message in messages if message["role"] == "tool"] == ["one", "two", "three"]
    check_openai(messages)
    check_anthropic(compiled(world, format="anthropic").messages)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [('{"a": 1}', {"a": 1}), ("[1]", {"arguments": [1]}), ("ls -l", {"text": "ls -l"}), ("", {"text": ""})],
)
def test_arguments_are_an_object_for_anthropic_whatever_was_recorded(
    world: World, arguments: str, expected: dict[str, Any]
) -> None:
    call_tool(world, "c1", arguments)
    (use,) = compiled(world, format="anthropic").messages[0]["content"]
    assert use["input"] == expected


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["call", "result", "user", "assistant", "system"]), st.sampled_from(["a", "b", "c", "d"])
    ),
    max_size=14,
)


def pieces_of(steps: list[tuple[str, str]]) -> list[Piece]:
    pieces = []
    for number, (kind, name) in enumerate(steps):
        is_tool = kind in ("call", "result")
        payload = {"direction": kind, "call_id": name, "tool_name": "t"} if is_tool else None
        role = {"call": "assistant", "result": "tool"}.get(kind, kind)
        content_type = "tool_io" if is_tool else "dialogue"
        text = f"{kind} {number}"
        pieces.append(Piece(text, number, b"", number, content_type, role, 1, "normal", payload))
    return pieces


def check_openai(messages: list[dict[str, Any]]) -> None:
    """Behind an assistant's calls come their results, all of them and nothing else, before any other message."""
    awaited: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            awaited.remove(message["tool_call_id"])
            continue
        assert awaited == []
        awaited = [call["id"] for call in message.get("tool_calls", ())]
        assert len(set(awaited)) == len(awaited)
    assert awaited == []


def check_anthropic(messages: list[dict[str, Any]]) -> None:
    """Turns alternate, and the results of a turn's calls are the first blocks of the next one."""
    roles = [message["role"] for message in messages]
    assert all(first != second for first, second in pairwise(roles))
    for message, following in zip(messages, [*messages, {"content": []}][1:], strict=True):
        asked = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
        answers = [block["type"] for block in following["content"]]
        answered = [block["tool_use_id"] for block in following["content"] if block["type"] == "tool_result"]
        assert sorted(asked) == sorted(answered)
        assert answers[: len(asked)] == ["tool_result"] * len(asked)


@given(STEPS)
def test_any_mixture_of_calls_results_and_words_is_accepted(steps: list[tuple[str, str]]) -> None:
    openai, anthropic = OpenAI(), Anthropic()
    openai.feed(pieces_of(steps))
    anthropic.feed(pieces_of(steps))
    check_openai(openai.finish()[0])
    check_anthropic(anthropic.finish()[0])
    for _, text in ((kind, f"{kind} {number}") for number, (kind, _) in enumerate(steps)):
        assert text in str(openai.finish()[0])


@given(STEPS, st.integers(0, 14))
def test_a_rendering_that_was_continued_is_the_rendering_of_the_whole(steps: list[tuple[str, str]], cut: int) -> None:
    for kind in RENDERERS.values():
        whole, first = kind(), kind()
        whole.feed(pieces_of(steps))
        first.feed(pieces_of(steps)[:cut])
        before = first.finish()
        continued = first.copy()
        continued.feed(pieces_of(steps)[cut:])
        assert continued.finish() == whole.finish()
        assert continued.system() == whole.system()
        assert first.finish() == before
