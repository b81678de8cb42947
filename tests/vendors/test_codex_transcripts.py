"""Transcripts of the real Codex, recorded against the scripted model."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.agents.scripted_model import CACHED_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS
from tests.vendors.transcript_fixtures import (
    CODEX,
    CODEX_SUBAGENT,
    FIXTURES,
    texts,
    used,
)

from ramet.model.hooks.transcript import Entry
from ramet.vendors.codex import transcript


def read(path: Path = CODEX) -> list[Entry]:
    return transcript.read(path.read_bytes(), 0).entries


def read_item(**payload: Any) -> list[Entry]:
    line = {"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": payload}
    return transcript.read(json.dumps(line).encode() + b"\n", 0).entries


@pytest.mark.requirement("R274")
def test_everything_that_was_said_is_read_in_its_order() -> None:
    entries = read()
    assert texts(entries, "text", "user") == [
        "Look first. [[command]]",
        "[[patch]]",
        "[[spawn]]",
        "Which colour? [[answer]]",
    ]
    assert texts(entries, "text", "assistant") == [
        "I look first.",
        "The second one failed.",
        "The file is there.",
        "The other one has looked.",
        "It is blue.",
    ]
    assert texts(entries, "reasoning") == ["They want a colour."]
    assert [text.split(">")[0] for text in texts(entries, "text", "system")] == ["<subagent_notification"]


def test_a_tool_s_result_belongs_to_its_call_and_says_whether_it_failed() -> None:
    entries = read()
    calls = {entry.call_id: entry for entry in entries if entry.kind == "tool_call"}
    results = {entry.call_id: entry for entry in entries if entry.kind == "tool_result"}
    names = ["exec_command", "exec_command", "apply_patch", "spawn_agent", "exec_command"]
    assert [call.tool for call in calls.values()] == names
    assert calls.keys() == results.keys()
    assert [result.is_error for result in results.values()] == [False, True, False, False, False]
    assert "*** Add File: note.txt" in next(call.text for call in calls.values() if call.tool == "apply_patch")


def test_a_thread_s_usage_is_its_last_word() -> None:
    entries = read()
    assert used(entries, "input_tokens") == 10 * (INPUT_TOKENS - CACHED_TOKENS)
    assert used(entries, "cache_read_tokens") == 10 * CACHED_TOKENS
    assert used(entries, "output_tokens") == 10 * OUTPUT_TOKENS


def test_a_compaction_stands_where_it_happened_with_what_it_left() -> None:
    entries = read()
    (place,) = [number for number, entry in enumerate(entries) if entry.kind == "compaction"]
    assert "summary" in entries[place].text
    assert texts(entries[:place], "text", "assistant")[-1] == "The other one has looked."
    assert texts(entries[place:], "text") == ["Which colour? [[answer]]", "It is blue."]


def test_a_prompt_carries_the_id_of_its_turn() -> None:
    entries = read()
    with_id = [entry for entry in entries if entry.prompt_id]
    assert with_id == [entry for entry in entries if entry.role == "user"]
    assert len({entry.prompt_id for entry in with_id}) == 4


def test_the_threads_that_a_thread_started_are_found_with_their_files() -> None:
    (subagent,) = transcript.find_subagents([CODEX_SUBAGENT, CODEX])
    assert (subagent.path, subagent.above) == (CODEX_SUBAGENT, CODEX)
    assert subagent.agent_id == CODEX_SUBAGENT.stem[-36:]
    assert texts(read(subagent.path), "text", "user") == ["Look. [[sub]]"]
    assert transcript.find_subagents([CODEX_SUBAGENT]) == []


def test_a_thread_whose_first_line_is_not_whole_yet_is_found_later(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "codex", tmp_path, dirs_exist_ok=True)
    parent, child = (tmp_path / path.relative_to(FIXTURES / "codex") for path in (CODEX, CODEX_SUBAGENT))
    child.write_bytes(CODEX_SUBAGENT.read_bytes()[:50])
    assert transcript.find_subagents([parent]) == []
    child.write_bytes(CODEX_SUBAGENT.read_bytes())
    assert [subagent.path for subagent in transcript.find_subagents([parent])] == [child]


@pytest.mark.parametrize(
    "path", ["/", ".", "/a/b/c/d/" + "x" * 300 + ".jsonl", "/a/b/c/d\0/e.jsonl", "/dev/null/a/b/c/d"]
)
def test_a_path_that_can_be_none_keeps_no_other_from_being_read(path: str) -> None:
    assert len(transcript.find_subagents([Path(path), CODEX])) == 1


def test_a_thread_is_the_session_s_whichever_of_its_threads_has_started_it(tmp_path: Path) -> None:
    """Hooks name the session and the thread, and nobody between."""
    shutil.copytree(FIXTURES / "codex", tmp_path, dirs_exist_ok=True)
    first, child = (tmp_path / path.relative_to(FIXTURES / "codex") for path in (CODEX, CODEX_SUBAGENT))
    deep = child.with_name(child.name.replace("023.jsonl", "099.jsonl"))
    meta = {"session_id": first.stem[-36:], "id": deep.stem[-36:], "parent_thread_id": child.stem[-36:]}
    deep.write_text(json.dumps({"type": "session_meta", "payload": meta}) + "\n")
    found = transcript.find_subagents([first, child])
    assert [(subagent.path, subagent.above) for subagent in found] == [(child, first), (deep, first)]


def test_what_has_no_id_is_known_by_its_line() -> None:
    payload = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Blue."}]}
    (once,), (twice,) = read_item(**payload), read_item(**payload)
    assert once.key == twice.key != read_item(**payload, status="completed")[0].key


def test_what_the_program_says_of_itself_is_left_out() -> None:
    content = [{"type": "input_text", "text": "<environment_context>\n</environment_context>"}]
    assert read_item(type="message", role="user", content=content) == []
    assert read_item(type="message", role="developer", content=[{"type": "input_text", "text": "Be brief."}]) == []
    content = [{"type": "input_text", "text": "Which colour?"}]
    assert read_item(type="message", role="user", content=content)[0].role == "user"


def test_a_tool_of_an_mcp_server_is_named_as_its_hook_names_it() -> None:
    (entry,) = read_item(type="function_call", name="add", namespace="mcp__tiny", arguments="{}", call_id="c")
    assert entry.tool == "mcp__tiny__add"


@pytest.mark.parametrize(
    ("output", "text", "is_error"),
    [
        ("Exit code: 1\nOutput:\nno", "Exit code: 1\nOutput:\nno", True),
        ("Exit code: 0\nOutput:\n" + "." * 300 + "\nExit code: 1", None, False),
        ({"content": "no", "success": False}, "no", True),
        ([{"type": "input_text", "text": "a"}, {"type": "input_image"}], "a\n[input_image]", False),
    ],
)
def test_a_result_is_read_in_each_of_its_forms(output: Any, text: str | None, is_error: bool) -> None:
    (entry,) = read_item(type="function_call_output", call_id="c", output=output)
    assert entry.text == (output if text is None else text)
    assert entry.is_error is is_error


def test_a_name_an_origin_and_a_model_are_read_from_the_lines_that_have_them() -> None:
    lines = [
        {"type": "session_meta", "payload": {"id": "s", "forked_from_id": "origin"}},
        {"type": "event_msg", "payload": {"type": "thread_name_updated", "thread_name": "cart"}},
        {"type": "turn_context", "payload": {"model": "gpt-5.5"}},
    ]
    entries = transcript.read(b"".join(json.dumps(line).encode() + b"\n" for line in lines), 0).entries
    assert [entry.meta for entry in entries] == [{"origin": "origin"}, {"title": "cart", "is_given": True}, None]
    assert [entry.model for entry in entries] == [None, None, "gpt-5.5"]


@pytest.mark.requirement("R373")
def test_images_of_prompts_and_results_are_read_and_named() -> None:
    image = {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="}
    other = {"type": "input_image", "image_url": "https://example.org/a.png"}
    content = [{"type": "input_text", "text": "What is it?"}, image, other]
    (prompt,) = read_item(type="message", role="user", id="m1", content=content)
    (result,) = read_item(type="function_call_output", id="m2", call_id="c1", output=[image])
    (kept,) = prompt.images
    assert prompt.text == f"What is it?\n{kept.reference}\n[input_image]"
    assert (result.text, result.images) == (kept.reference, [kept])
