"""Goose's sessions: its database with the ledger of usage, and the files before it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.vendors.session_imports import Stored

from ramet.model.hooks.transcript import Entry
from ramet.vendors.contract.stored_files.unreadable import SourceUnreadable

FIRST, BOTH = "20251101_1", "20251101_104000"


@pytest.fixture
def stored(tmp_path: Path) -> Stored:
    return Stored("goose", tmp_path)


@pytest.fixture
def database(stored: Stored) -> Path:
    return stored.home / ".local/share/goose/sessions/sessions.db"


def change(database: Path, statement: str) -> None:
    with closing(sqlite3.connect(database)) as owner:
        owner.executescript(statement)


def add(database: Path, role: str, content: str, created: int) -> None:
    with closing(sqlite3.connect(database)) as owner:
        owner.execute(
            "INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES (?, ?, ?, ?)",
            (FIRST, role, content, created),
        )
        owner.commit()


def entries_of(stored: Stored, key: str, position: str | None = None) -> list[Entry]:
    source = next(each for each in stored.find() if each.key == key)
    return [entry for piece in stored.read(source, position) for entry in piece.entries]


@pytest.mark.requirement("R382")
def test_the_ledger_counts_every_call_also_those_without_a_message(stored: Stored) -> None:
    used = [entry for entry in entries_of(stored, FIRST) if entry.kind == "usage"]
    assert [round((entry.usage or {})["cost_usd"], 3) for entry in used] == [0.01, 0.02, 0.03, 0.004]
    assert (used[0].usage or {})["input_tokens"] == 600
    assert (used[0].usage or {})["cache_read_tokens"] == 400
    assert {entry.model for entry in used} == {"model-g"}


@pytest.mark.requirement("R382")
def test_without_a_ledger_the_session_s_sums_count_under_one_key(stored: Stored, database: Path) -> None:
    sums = "accumulated_input_tokens = 500, accumulated_output_tokens = 40, accumulated_cost = 0.5"
    change(database, f"DROP TABLE usage_ledger; UPDATE sessions SET {sums}")
    (used,) = [entry for entry in entries_of(stored, FIRST) if entry.kind == "usage"]
    assert (used.usage or {})["output_tokens"] == 40
    source = next(each for each in stored.find() if each.key == FIRST)
    position = stored.read(source)[-1].position
    assert entries_of(stored, FIRST, position) == []
    change(database, "UPDATE sessions SET accumulated_output_tokens = 60")
    (again,) = entries_of(stored, FIRST, position)
    assert (again.key, (again.usage or {})["output_tokens"]) == (used.key, 60)


@pytest.mark.requirement("R381")
def test_an_old_file_gives_the_keys_that_the_database_gives(stored: Stored, database: Path) -> None:
    new = entries_of(stored, BOTH)
    database.unlink()
    assert entries_of(stored, BOTH) == new
    assert len({entry.key for entry in new}) == len(new) == 4


@pytest.mark.requirement("R381")
def test_a_compaction_that_writes_all_messages_again_gives_them_the_keys_that_they_had(
    stored: Stored, database: Path
) -> None:
    source = next(each for each in stored.find() if each.key == FIRST)
    before = {entry.key for entry in entries_of(stored, FIRST)}
    position = stored.read(source)[-1].position
    change(
        database,
        f"""
        CREATE TEMP TABLE copy AS SELECT * FROM messages WHERE session_id = '{FIRST}' ORDER BY id;
        DELETE FROM messages WHERE session_id = '{FIRST}';
        INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp, metadata_json)
            SELECT 'new' || id, session_id, role, content_json, created_timestamp, metadata_json FROM copy;
        INSERT INTO messages (session_id, role, content_json, created_timestamp)
            VALUES ('{FIRST}', 'user', '[{{"type":"text","text":"Go on."}}]', 1761999999);
        """,
    )
    after = [entry for entry in entries_of(stored, FIRST, position) if entry.kind != "usage"]
    assert [entry.text for entry in after if entry.key not in before] == ["Go on."]
    assert len(after) > 1


def test_what_only_the_agent_sees_is_a_compaction(stored: Stored) -> None:
    found = [entry.text for entry in entries_of(stored, FIRST) if entry.kind == "compaction"]
    assert found == ["The user asked about the total."]


@pytest.mark.requirement("R382")
def test_a_result_is_an_error_in_the_form_of_either_version(stored: Stored, database: Path) -> None:
    content = '[{"type":"toolResponse","id":"x","toolResult":{"status":"error","error":"no such tool"}}]'
    add(database, "user", content, 1761999999)
    results = [(entry.text, entry.is_error) for entry in entries_of(stored, FIRST) if entry.kind == "tool_result"]
    assert results == [("1 failed", True), ("no such tool", True)]


def test_an_old_file_that_grew_gives_only_what_is_new(stored: Stored) -> None:
    source = next(each for each in stored.find() if each.key == "20251101_105000")
    position = stored.read(source)[-1].position
    with Path(source.path).open("a") as file:
        file.write(
            '{"role":"user","created":1761994201,"content":[{"type":"text","text":"Where are the invoices?"}]}\n'
        )
    grown = entries_of(stored, source.key, position)
    assert [entry.key for entry in grown] == ["1761994201/user/3"]


def test_parents_in_a_circle_end(stored: Stored, database: Path) -> None:
    change(database, f"UPDATE sessions SET parent_session_id = '20251101_2' WHERE id = '{FIRST}'")
    assert {source.key for source in stored.find()} >= {FIRST, "20251101_2"}


def test_rows_of_any_kind_break_nothing_and_are_counted(stored: Stored, database: Path) -> None:
    whole = len(entries_of(stored, FIRST))
    for content in ("{", "7", '{"type":"text"}', "[" * 500):
        add(database, "user", content, 1)
    add(database, "robot", "[]", 1)
    source = next(each for each in stored.find() if each.key == FIRST)
    pieces = stored.read(source)
    assert sum(len(piece.entries) for piece in pieces) == whole
    assert sum(piece.skipped for piece in pieces) == 5


def test_a_future_schema_says_what_is_missing(stored: Stored, database: Path) -> None:
    change(database, "ALTER TABLE messages RENAME COLUMN content_json TO body")
    source = next(each for each in stored.find() if each.path == str(database))
    with pytest.raises(SourceUnreadable, match="table 'messages' has no content_json"):
        stored.read(source)
