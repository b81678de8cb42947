"""opencode's sessions: rows of its database, and the tree of files before it."""

import json
import shutil
import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.vendors.session_imports import Stored

from ramet.model.hooks.transcript import Entry
from ramet.model.memory.stored_session import Source
from ramet.vendors.contract.stored_files.unreadable import SourceUnreadable

FIRST = "ses_00000000000000000001"
DATA = ".local/share/opencode"


@pytest.fixture
def stored(tmp_path: Path) -> Stored:
    return Stored("opencode", tmp_path)


@pytest.fixture
def database(stored: Stored) -> Path:
    return stored.home / DATA / "opencode.db"


def change(database: Path, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as owner:
        owner.execute(statement, values)


def source_of(stored: Stored, name: str = FIRST) -> Source:
    return next(source for source in stored.find() if source.key == name)


def entries_of(stored: Stored, source: Source, position: str | None = None) -> list[Entry]:
    return [entry for piece in stored.read(source, position) for entry in piece.entries]


@pytest.mark.requirement("R382")
def test_failures_are_told_by_exit_status_by_the_invalid_tool_and_by_their_state(stored: Stored) -> None:
    entries = entries_of(stored, source_of(stored))
    results = {entry.tool: entry.is_error for entry in entries if entry.kind == "tool_result"}
    assert results == {"bash": True, "invalid": True, "read": True}
    assert [entry.tool for entry in entries if entry.kind == "tool_call"] == ["bash", "invalid", "read", "task"]


@pytest.mark.requirement("R382")
def test_the_directory_is_the_session_s_own_and_not_that_of_the_global_project(stored: Stored) -> None:
    assert stored.heads()[FIRST].cwd == "/home/dev/shop"


@pytest.mark.requirement("R382")
def test_tokens_and_cost_are_those_of_messages_and_steps_do_not_count_again(stored: Stored) -> None:
    used = [entry.usage or {} for entry in entries_of(stored, source_of(stored)) if entry.kind == "usage"]
    assert [usage["cost_usd"] for usage in used] == [0.01] * 4
    assert used[0] == {
        "input_tokens": 100,
        "output_tokens": 25,
        "cache_read_tokens": 50,
        "cache_write_tokens": 0,
        "context_tokens": 150,
        "cost_usd": 0.01,
    }


def test_thoughts_that_are_in_the_output_already_are_not_added_to_it(stored: Stored, database: Path) -> None:
    tokens = {"total": 170, "input": 100, "output": 20, "reasoning": 5, "cache": {"read": 50, "write": 0}}
    change(
        database,
        "UPDATE message SET data = json_set(data, '$.tokens', json(?)) WHERE id = 'msg_02'",
        json.dumps(tokens),
    )
    used = [entry.usage or {} for entry in entries_of(stored, source_of(stored)) if entry.key == "usage/msg_02"]
    assert used[0]["output_tokens"] == 20


def test_a_compaction_is_what_the_message_says_that_sums_up(stored: Stored) -> None:
    found = [entry for entry in entries_of(stored, source_of(stored)) if entry.kind == "compaction"]
    assert [entry.text for entry in found] == ["The user asked about the total."]


@pytest.mark.requirement("R381")
def test_a_call_that_returned_later_and_a_new_message_are_all_that_a_grown_session_gives(
    stored: Stored, database: Path
) -> None:
    source = source_of(stored)
    position = stored.read(source)[-1].position
    state = {"status": "completed", "input": {"description": "look"}, "output": "seen", "time": {"start": 1}}
    later = "time_updated + 999000"
    data = "json_set(data, '$.state', json(?))"
    change(database, f"UPDATE part SET time_updated = {later}, data = {data} WHERE id = 'prt_10'", json.dumps(state))
    row = f"'{FIRST}', time_created, {later}, data"
    change(database, f"INSERT INTO message SELECT 'msg_90', {row} FROM message WHERE id = 'msg_01'")
    change(database, f"INSERT INTO part SELECT 'prt_90', 'msg_90', {row} FROM part WHERE id = 'prt_01'")
    grown = entries_of(stored, source, position)
    assert [entry.key for entry in grown if entry.kind != "usage"] == ["prt_10", "prt_10/result", "prt_90"]
    last = stored.read(source, position)[-1].position
    assert entries_of(stored, source, last) == []


@pytest.mark.requirement("R381")
def test_a_row_of_the_same_millisecond_that_came_later_is_not_missed(stored: Stored, database: Path) -> None:
    source = source_of(stored)
    position = stored.read(source)[-1].position
    newest = "(SELECT max(time_updated) FROM message WHERE session_id = ?1)"
    change(
        database,
        f"INSERT INTO part SELECT 'prt_91', 'msg_07', ?1, 1, {newest}, data FROM part WHERE id = 'prt_14'",
        FIRST,
    )
    assert "prt_91" in {entry.key for entry in entries_of(stored, source, position)}


@pytest.mark.requirement("R381")
def test_the_tree_gives_the_keys_that_the_database_gives(stored: Stored, database: Path) -> None:
    name = "ses_00000000000000000003"
    new = entries_of(stored, source_of(stored, name))
    database.unlink()
    old = source_of(stored, name)
    assert old.path.endswith(".json")
    assert entries_of(stored, old) == new


def test_a_part_that_is_written_later_continues_a_session_of_the_tree(stored: Stored) -> None:
    source = source_of(stored, "ses_00000000000000000005")
    position = stored.read(source)[-1].position
    part = {"id": "prt_59", "messageID": "msg_52", "type": "text", "text": "All of them."}
    (stored.home / DATA / "storage/part/msg_52/prt_59.json").write_text(json.dumps(part))
    assert [entry.key for entry in entries_of(stored, source, position) if entry.kind != "usage"] == ["prt_59"]


def test_parents_in_a_circle_end_and_lose_no_session(stored: Stored, database: Path) -> None:
    names = {source.key for source in stored.find()}
    change(database, "UPDATE session SET parent_id = ?2 WHERE id = ?1", FIRST, "ses_00000000000000000002")
    change(database, "UPDATE session SET parent_id = id WHERE id = ?1", "ses_00000000000000000003")
    found = stored.find()
    assert {source.key for source in found} == names
    assert stored.heads()["ses_00000000000000000003"].parent_id is None


def test_rows_of_any_kind_break_nothing(stored: Stored, database: Path) -> None:
    whole = len(entries_of(stored, source_of(stored)))
    for number, data in enumerate(
        ("[]", "7", "null", '{"type": 7}', '{"type":"tool","state":[]}', '{"a":' * 500, b"\xff\xfe")
    ):
        change(database, "INSERT INTO part VALUES (?, 'msg_07', ?, 1, 1, ?)", f"prt_bad{number}", FIRST, data)
    change(database, "INSERT INTO message VALUES ('msg_bad', ?, 'x', 'y', '[[')", FIRST)
    pieces = stored.read(source_of(stored))
    said = [entry for piece in pieces for entry in piece.entries if not entry.key.startswith("prt_bad")]
    assert len(said) == whole
    assert sum(piece.skipped for piece in pieces) >= 4


def test_a_database_that_cannot_be_read_is_listed_and_says_why_and_the_tree_is_still_read(
    stored: Stored, database: Path
) -> None:
    database.write_bytes(b"SQLite format 3\0" + b"\x11" * 5000)
    found = {source.key: source for source in stored.find()}
    assert str(database) in found
    assert "ses_00000000000000000005" in found
    with pytest.raises(SourceUnreadable, match=r"opencode\.db: it is damaged|no SQLite database"):
        stored.read(found[str(database)])


def test_a_future_schema_says_what_is_missing(stored: Stored, database: Path) -> None:
    change(database, "ALTER TABLE part RENAME TO part_v2")
    source = next(each for each in stored.find() if each.key == str(database))
    with pytest.raises(SourceUnreadable, match=r"table 'part' has no .* an unknown version of the program wrote it"):
        stored.read(source)


def test_a_session_that_was_deleted_meanwhile_says_so(stored: Stored, database: Path) -> None:
    source = source_of(stored)
    change(database, "DELETE FROM session WHERE id = ?", FIRST)
    with pytest.raises(SourceUnreadable, match=f"session {FIRST} is not in it any more"):
        stored.read(source)


def test_a_large_session_is_read_in_pieces_with_little_memory(stored: Stored, database: Path) -> None:
    text = json.dumps({"type": "text", "text": "x" * 100_000})
    with closing(sqlite3.connect(database)) as owner:
        message = owner.execute("SELECT data FROM message WHERE id = 'msg_07'").fetchone()[0]
        for number in range(200):
            owner.execute("INSERT INTO message VALUES (?, ?, 1, 1, ?)", (f"msg_1{number:03}", FIRST, message))
            owner.execute(
                "INSERT INTO part VALUES (?, ?, ?, 1, 1, ?)", (f"prt_1{number:03}", f"msg_1{number:03}", FIRST, text)
            )
        owner.commit()
    source = source_of(stored)
    tracemalloc.start()
    try:
        pieces = sum(1 for _ in stored.sessions.read(source, None))
        assert pieces >= 100
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


def test_a_copy_of_the_database_in_another_folder_has_the_same_sessions(
    stored: Stored, database: Path, tmp_path: Path
) -> None:
    backup = tmp_path / "backup.db"
    shutil.copy(database, backup)
    assert {source.key for source in stored.sessions.recognise(backup)} <= {source.key for source in stored.find()}
