"""Cursor's conversations in the editor's database, and its command line's transcripts."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.vendors.session_imports import Stored

from ramet.model.hooks.transcript import Entry
from ramet.vendors.contract.stored_files.session_sources import Surroundings
from ramet.vendors.contract.stored_files.unreadable import SourceUnreadable

STATE = ".config/Cursor/User/globalStorage/state.vscdb"


@pytest.fixture
def stored(tmp_path: Path) -> Stored:
    return Stored("cursor", tmp_path)


def put(stored: Stored, key: str, value: Any) -> None:
    with closing(sqlite3.connect(stored.home / STATE, isolation_level=None)) as owner:
        text = value if isinstance(value, str | bytes) else json.dumps(value)
        owner.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (key, text))


def entries_of(stored: Stored, key: str, position: str | None = None) -> list[Entry]:
    source = next(each for each in stored.find() if each.key == key)
    return [entry for piece in stored.read(source, position) for entry in piece.entries]


@pytest.mark.requirement("R381")
def test_a_conversation_that_has_a_transcript_too_is_read_from_the_database(stored: Stored) -> None:
    found = [source for source in stored.find() if source.key == "composer-1"]
    assert [Path(source.path).name for source in found] == ["state.vscdb"]
    (stored.home / STATE).unlink()
    found = [source for source in stored.find() if source.key == "composer-1"]
    assert [Path(source.path).name for source in found] == ["composer-1.jsonl"]


@pytest.mark.requirement("R382")
def test_a_failed_tool_tokens_without_cost_and_the_workspace_are_told(stored: Stored) -> None:
    entries = entries_of(stored, "composer-1")
    (result,) = [entry for entry in entries if entry.kind == "tool_result"]
    assert (result.tool, result.is_error) == ("run_terminal_cmd", True)
    (used,) = [entry.usage for entry in entries if entry.usage]
    assert used == {"input_tokens": 1000, "output_tokens": 30, "context_tokens": 1000}
    heads = stored.heads()
    assert {heads[name].cwd for name in ("composer-1", "composer-2", "composer-3")} == {"/home/dev/shop"}


@pytest.mark.requirement("R381")
def test_a_bubble_that_was_not_finished_is_read_again_and_a_new_one_follows(stored: Stored) -> None:
    source = next(each for each in stored.find() if each.key == "composer-1")
    position = stored.read(source)[-1].position
    headers = [{"bubbleId": name, "type": 2} for name in ("b1", "b2", "b3", "b4", "b9")]
    put(stored, "composerData:composer-1", {"composerId": "composer-1", "fullConversationHeadersOnly": headers})
    put(stored, "bubbleId:composer-1:b9", {"type": 2, "text": "More."})
    assert [entry.key for entry in entries_of(stored, "composer-1", position)] == ["b9"]
    tool = {"name": "grep", "toolCallId": "c9", "status": "completed", "result": "found"}
    put(stored, "bubbleId:composer-1:b4", {"type": 2, "text": "It rounds before the tax.", "toolFormerData": tool})
    assert "b4/result" in {entry.key for entry in entries_of(stored, "composer-1", position)}


def test_transcripts_have_the_file_s_time_and_equal_prompts_have_keys_of_their_own(stored: Stored) -> None:
    entries = entries_of(stored, "chat-1")
    prompts = [entry for entry in entries if entry.role == "user"]
    assert [entry.text for entry in prompts] == ["Where are the invoices?"] * 2
    assert len({entry.key for entry in entries}) == len(entries)
    changed = Path(next(each.path for each in stored.find() if each.key == "chat-1")).stat().st_mtime
    assert {entry.at.timestamp() for entry in entries if entry.at} == {changed}


def test_a_transcript_that_grew_gives_only_what_is_new(stored: Stored) -> None:
    source = next(each for each in stored.find() if each.key == "chat-1")
    position = stored.read(source)[-1].position
    with Path(source.path).open("a") as file:
        file.write(json.dumps({"role": "user", "message": {"content": "Thanks."}}) + "\n")
    assert [(entry.key, entry.text) for entry in entries_of(stored, "chat-1", position)] == [("chat-1/5", "Thanks.")]


def test_the_directory_that_a_folder_s_name_may_stand_for_is_found_on_the_disk(tmp_path: Path) -> None:
    project = tmp_path / "my-shop" / "web.site"
    project.mkdir(parents=True)
    name = str(project)[1:].replace("/", "-").replace(".", "-")
    folder = tmp_path / "home/.cursor/projects" / name / "agent-transcripts"
    folder.mkdir(parents=True)
    (folder / "chat-9.jsonl").write_text(json.dumps({"role": "user", "message": {"content": "Hello."}}) + "\n")
    stored = Stored("cursor", tmp_path / "other")
    (source,) = stored.sessions.find(Surroundings(tmp_path / "home", {}))
    (piece,) = stored.read(source)
    assert piece.head is not None
    assert piece.head.cwd == str(project)


def test_the_program_s_own_variable_says_where_transcripts_are(stored: Stored, tmp_path: Path) -> None:
    (stored.home / ".cursor").rename(tmp_path / "elsewhere")
    assert "chat-1" not in {source.key for source in stored.find()}
    assert "chat-1" in {source.key for source in stored.find({"CURSOR_CONFIG_DIR": str(tmp_path / "elsewhere")})}


@pytest.mark.parametrize("value", ["", "{", "[]", "7", "null", b"\xff\xfe\x00", '{"type": []}', '{"a":' * 500])
def test_a_bubble_of_any_kind_is_passed_over(value: str | bytes, stored: Stored) -> None:
    whole = [entry.key for entry in entries_of(stored, "composer-1")]
    put(stored, "bubbleId:composer-1:b2", value)
    assert {entry.key for entry in entries_of(stored, "composer-1")} == set(whole) - {"b2/thought"}


def test_a_conversation_that_is_damaged_or_gone_says_so(stored: Stored) -> None:
    source = next(each for each in stored.find() if each.key == "composer-1")
    put(stored, "composerData:composer-1", "{" * 100)
    with pytest.raises(SourceUnreadable, match="composer-1 is no JSON object"):
        stored.read(source)
    with closing(sqlite3.connect(stored.home / STATE, isolation_level=None)) as owner:
        owner.execute("DELETE FROM cursorDiskKV WHERE key = 'composerData:composer-1'")
    with pytest.raises(SourceUnreadable, match="composer-1 is not in it any more"):
        stored.read(source)
