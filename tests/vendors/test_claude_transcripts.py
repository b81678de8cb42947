"""Transcripts of the real Claude Code, recorded against the scripted model."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.agents.scripted_model import CACHED_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS
from tests.vendors.transcript_fixtures import CLAUDE, texts, used

from ramet.model.hooks.transcript import Entry
from ramet.vendors.claude import transcript


def read(path: Path = CLAUDE) -> list[Entry]:
    return transcript.read(path.read_bytes(), 0).entries


def read_line(**line: Any) -> list[Entry]:
    return transcript.read(
        json.dumps({"uuid": "u", "timestamp": "2026-01-01T00:00:00Z", **line}).encode() + b"\n", 0
    ).entries


@pytest.mark.requirement("R274")
def test_everything_that_was_said_is_read_in_its_order() -> None:
    entries = read()
    assert [text.split("\n")[0] for text in texts(entries, "text", "user")] == [
        "Look first. [[tools]]",
        "Which colour? [[answer]]",
        "[[refused]]",
        "[[agents]]",
        "And now? [[again]]",
    ]
    assert texts(entries, "text", "assistant") == [
        "I look first.",
        "It is written.",
        "It is blue.",
        "There is no such file.",
        "I ask another.",
        "The other one is at work.",
        "The other one found two files.",
        "As I said, blue.",
    ]
    assert texts(entries, "reasoning") == ["They want a colour."]
    assert [entry.at for entry in entries if entry.at] == sorted(entry.at for entry in entries if entry.at)


def test_a_tool_s_result_belongs_to_its_call_and_says_whether_it_failed() -> None:
    entries = read()
    calls = {entry.call_id: entry for entry in entries if entry.kind == "tool_call"}
    results = {entry.call_id: entry for entry in entries if entry.kind == "tool_result"}
    assert [call.tool for call in calls.values()] == ["Bash", "Write", "Read", "Agent"]
    assert json.loads(next(iter(calls.values())).text) == {"command": "echo hi", "description": "Say hi"}
    assert calls.keys() == results.keys()
    assert [result.is_error for result in results.values()] == [False, False, True, False]
    assert next(iter(results.values())).text == "hi"


def test_a_message_of_several_lines_is_counted_once() -> None:
    entries = read()
    messages = {entry.key for entry in entries if entry.key.startswith("usage/")}
    assert len(messages) == 10
    assert used(entries, "input_tokens") == 10 * INPUT_TOKENS
    assert used(entries, "output_tokens") == 10 * OUTPUT_TOKENS
    assert used(entries, "cache_read_tokens") == 10 * CACHED_TOKENS


def test_what_a_session_cost_is_its_last_word() -> None:
    assert used(read(), "cost_usd") == pytest.approx(0.07056)


def test_a_compaction_stands_where_it_happened_with_what_it_left() -> None:
    entries = read()
    (place,) = [number for number, entry in enumerate(entries) if entry.kind == "compaction"]
    assert entries[place].text.startswith("This session is being continued from a previous conversation")
    assert "The other one found two files." in texts(entries[:place], "text")
    assert "As I said, blue." in texts(entries[place:], "text")


def test_what_the_program_says_in_the_user_s_name_is_not_the_user_s() -> None:
    said = texts(read(), "text", "system")
    assert [text.split(">")[0] for text in said] == [
        "<task-notification",
        "<local-command-caveat",
        "<command-name",
        "<local-command-stdout",
    ]


def test_a_prompt_carries_the_id_that_its_hook_had_and_nothing_else_does() -> None:
    entries = read()
    with_id = [entry for entry in entries if entry.prompt_id]
    told = [entry for entry in with_id if entry.text.startswith("<task-notification>")]
    assert [entry for entry in with_id if entry not in told] == [entry for entry in entries if entry.role == "user"]
    assert ([entry.role for entry in told], len({entry.prompt_id for entry in with_id})) == (["system"], 6)


def test_a_session_s_sub_agents_are_found_with_their_files() -> None:
    (subagent,) = transcript.find_subagents([CLAUDE.with_name("other.jsonl"), CLAUDE])
    assert subagent.above == CLAUDE
    assert subagent.agent_id == "a0000000000000001"
    entries = read(subagent.path)
    assert texts(entries, "text") == ["Look. [[sub]]", "There are two files."]
    assert [entry.tool for entry in entries if entry.kind == "tool_call"] == ["Bash"]


@pytest.mark.parametrize("path", ["/", ".", "/home/" + "x" * 300 + ".jsonl", "/home/a\0b.jsonl", "/dev/null/a.jsonl"])
def test_a_path_that_can_be_none_keeps_no_other_from_being_read(path: str) -> None:
    assert len(transcript.find_subagents([Path(path), CLAUDE])) == 1


def test_a_session_without_sub_agents_has_none(tmp_path: Path) -> None:
    assert transcript.find_subagents([tmp_path / "nowhere.jsonl"]) == []


def test_each_block_of_a_line_has_a_key_of_its_own() -> None:
    content = [
        {"type": "text", "text": "a"},
        {"type": "text", "text": ""},
        {"type": "image"},
        {"type": "text", "text": "b"},
    ]
    entries = read_line(type="user", message={"content": content})
    assert [(entry.key, entry.text) for entry in entries] == [("u", "a"), ("u/1", "[image]"), ("u/2", "b")]


def test_what_is_said_while_the_agent_works_is_the_user_s() -> None:
    (entry,) = read_line(
        type="attachment", attachment={"type": "queued_command", "prompt": "Stop!", "commandMode": "prompt"}
    )
    assert (entry.role, entry.text) == ("user", "Stop!")
    assert read_line(type="attachment", attachment={"type": "skill_listing", "content": "many"}) == []


def test_what_the_program_says_in_the_agent_s_name_is_not_the_agent_s_and_costs_nothing() -> None:
    message = {"id": "m", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error"}]}
    entries = read_line(type="assistant", message={**message, "usage": {"input_tokens": 1}})
    assert [(entry.kind, entry.role, entry.text) for entry in entries] == [("text", "system", "API Error")]


def test_the_words_of_sub_agents_that_old_versions_mixed_in_are_left_out() -> None:
    message = {"content": "Look."}
    assert read_line(type="user", isSidechain=True, message=message) == []
    assert len(read_line(type="user", isSidechain=True, agentId="a1", message=message)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "<command-name>/compact</command-name>\n<command-message>compact</command-message>",
        "<local-command-caveat>Caveat: the command below was run by the user.</local-command-caveat>",
        "<local-command-stdout>Compacted </local-command-stdout>",
        "<bash-input>ls</bash-input>",
        "<bash-stdout>cart.py</bash-stdout>",
    ],
)
def test_what_a_person_tells_the_program_is_no_prompt(text: str) -> None:
    (entry,) = read_line(type="user", promptId="p1", message={"role": "user", "content": text})
    assert (entry.role, entry.prompt_id) == ("system", None)


def test_a_command_that_is_a_prompt_is_the_person_s() -> None:
    text = "<command-message>review</command-message>\n<command-name>/review</command-name>"
    (entry,) = read_line(type="user", promptId="p1", message={"role": "user", "content": text})
    assert (entry.role, entry.prompt_id) == ("user", "p1")


def test_a_name_and_an_origin_are_read_from_the_lines_that_have_them() -> None:
    lines = [
        {"type": "ai-title", "aiTitle": "Blue things", "sessionId": "s"},
        {"type": "custom-title", "customTitle": "cart", "sessionId": "s"},
        {"type": "user", "uuid": "u1", "forkedFrom": {"sessionId": "origin"}, "message": {"content": "Hello"}},
    ]
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    entries = transcript.read(data, 0).entries
    meta = [entry.meta for entry in entries if entry.kind == "meta"]
    assert meta == [{"title": "Blue things"}, {"title": "cart", "is_given": True}, {"origin": "origin"}]
    assert texts(entries, "text", "user") == ["Hello"]


@pytest.mark.requirement("R373")
def test_images_of_prompts_and_results_are_read_and_named() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    image = {"type": "image", "source": source}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "Here:"}, image]}
    lines = [
        {"type": "user", "uuid": "u1", "message": {"content": [image, {"type": "text", "text": "What is it?"}]}},
        {"type": "user", "uuid": "u2", "message": {"content": [result]}},
        {"type": "user", "uuid": "u3", "message": {"content": [{"type": "image", "source": {"type": "url"}}]}},
    ]
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    entries = transcript.read(data, 0).entries
    assert [len(entry.images) for entry in entries] == [1, 0, 1, 0]
    reference = entries[0].images[0].reference
    assert [entry.text for entry in entries] == [reference, "What is it?", f"Here:\n{reference}", "[image]"]
