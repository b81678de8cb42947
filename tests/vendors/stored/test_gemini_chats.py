"""Gemini CLI's chats: both forms, and lines that change what is before them."""

import json
from pathlib import Path
from typing import Any

import pytest

from ramet.model.hooks.transcript import Entry
from ramet.model.memory.stored_session import Piece, Source
from ramet.vendors.contract.stored_files.document_file import LARGEST_DOCUMENT
from ramet.vendors.contract.stored_files.session_sources import Surroundings
from ramet.vendors.gemini.sessions import SESSIONS

META = {"sessionId": "s1", "projectHash": "x", "startTime": "2025-11-01T10:00:00.000Z", "kind": "main"}


def user(name: str, text: str) -> dict[str, Any]:
    return {"id": name, "timestamp": "2025-11-01T10:00:01.000Z", "type": "user", "content": [{"text": text}]}


def answer(name: str, text: str, **more: Any) -> dict[str, Any]:
    tokens = {"input": 100, "output": 10, "cached": 40, "thoughts": 5, "tool": 0, "total": 115}
    return {
        "id": name,
        "timestamp": "2025-11-01T10:00:02.000Z",
        "type": "gemini",
        "content": text,
        "tokens": tokens,
    } | more


class Chats:
    """A home with chats of one project."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.folder = home / ".gemini/tmp/shop/chats"
        self.folder.mkdir(parents=True)
        (self.folder.parent / ".project_root").write_text("/home/dev/shop")

    def write(self, *records: Any, name: str = "session-1.jsonl") -> None:
        self.add(*records, name=name)

    def add(self, *records: Any, name: str = "session-1.jsonl", end: str = "\n") -> None:
        with (self.folder / name).open("a") as file:
            file.write("".join(json.dumps(each) + "\n" for each in records)[:-1] + end)

    def find(self) -> list[Source]:
        return list(SESSIONS.find(Surroundings(self.home, {})))

    def read(self, position: str | None = None) -> list[Piece]:
        (source,) = self.find()
        return list(SESSIONS.read(source, position))

    def entries(self, position: str | None = None) -> list[Entry]:
        return [entry for piece in self.read(position) for entry in piece.entries]

    def texts(self) -> list[str]:
        return [each.text for each in self.entries() if each.kind == "text"]


@pytest.fixture
def chats(tmp_path: Path) -> Chats:
    return Chats(tmp_path)


@pytest.mark.requirement("R381")
def test_what_was_rewound_is_gone_and_what_follows_is_there(chats: Chats) -> None:
    chats.write(META, user("u1", "one"), answer("a1", "first"), user("u2", "wrong"), answer("a2", "no"))
    chats.add({"$rewindTo": "u2"}, user("u3", "two"), answer("a3", "second"))
    assert chats.texts() == ["one", "first", "two", "second"]


def test_a_rewind_to_a_message_that_is_not_there_takes_back_all_as_the_program_does(chats: Chats) -> None:
    chats.write(META, user("u1", "one"), {"$rewindTo": "unknown"}, user("u2", "two"))
    assert chats.texts() == ["two"]


@pytest.mark.requirement("R381")
def test_a_rewind_behind_a_position_takes_back_only_what_is_behind_it(chats: Chats) -> None:
    chats.write(META, user("u1", "one"), answer("a1", "first"))
    position = chats.read()[-1].position
    chats.add(user("u2", "wrong"), {"$rewindTo": "u1"}, user("u3", "two"))
    assert [entry.text for entry in chats.entries(position)] == ["two"]


@pytest.mark.requirement("R381")
def test_a_list_that_a_resumed_session_repeats_loses_no_calls_and_counts_no_tokens_twice(chats: Chats) -> None:
    call = {"id": "c1", "name": "list_directory", "args": {}, "status": "success", "result": []}
    chats.write(META, user("u1", "one"), answer("a1", "first", toolCalls=[call]))
    chats.add(
        {"$set": {"messages": []}},
        {"$set": {"messages": [user("u1", "one"), answer("a1", "first") | {"tokens": None}]}},
    )
    entries = chats.entries()
    assert [entry.kind for entry in entries] == ["text", "text", "tool_call", "tool_result", "usage"]
    assert entries[-1].usage == {
        "input_tokens": 60,
        "output_tokens": 15,
        "cache_read_tokens": 40,
        "cache_write_tokens": 0,
        "context_tokens": 100,
    }


@pytest.mark.requirement("R382")
def test_a_compaction_keeps_what_was_before_it(chats: Chats) -> None:
    chats.write(META, user("u1", "one"), answer("a1", "first"))
    chats.add(
        {"$set": {"messages": [user("z1", "<state_snapshot>all of it</state_snapshot>"), answer("z2", "Got it.")]}}
    )
    assert [(entry.kind, entry.key) for entry in chats.entries() if entry.kind != "usage"] == [
        ("text", "u1"),
        ("text", "a1"),
        ("compaction", "z1"),
        ("text", "z2"),
    ]


@pytest.mark.requirement("R381")
def test_an_old_document_and_the_lines_that_continue_it_are_one_session_with_the_same_keys(chats: Chats) -> None:
    messages = [user("u1", "one"), answer("a1", "first")]
    (chats.folder / "session-1.json").write_text(json.dumps({**META, "messages": messages}))
    (old,) = chats.find()
    before = chats.entries()
    position = chats.read()[-1].position
    assert chats.entries(position) == []
    chats.write(META, *messages, user("u2", "two"))
    (new,) = chats.find()
    assert (new.key, new.path) == (old.key, old.path + "l")
    after = chats.entries(position)
    assert [entry.key for entry in after] == [*(entry.key for entry in before), "u2"]


def test_an_answer_that_is_still_written_is_told_once_and_its_call_when_it_is_there(chats: Chats) -> None:
    chats.write(META, user("u1", "one"), answer("a1", "first"))
    chats.add(user("u2", "torn"), end="")
    first = chats.read()[-1]
    assert [entry.key for entry in first.entries] == ["u1", "a1", "usage/a1"]
    chats.add({}, end="\n")  # which ends the line
    call = {"id": "c1", "name": "ls", "args": {"path": "."}, "status": "executing"}
    chats.add(answer("a1", "first", toolCalls=[call]))
    assert "c1/result" not in {entry.key for entry in chats.entries(first.position)}
    chats.add(answer("a1", "first", toolCalls=[{**call, "status": "cancelled"}]))
    results = [entry for entry in chats.entries(first.position) if entry.kind == "tool_result"]
    assert [(entry.key, entry.is_error) for entry in results] == [("c1/result", True)]


@pytest.mark.requirement("R383")
def test_a_long_chat_is_read_in_pieces_that_continue_anywhere_even_if_it_grew(chats: Chats) -> None:
    chats.write(META, *(user(f"u{number}", f"{number} " + "x" * 5000) for number in range(100)))
    pieces = chats.read()
    assert len(pieces) > 3
    chats.add(user("last", "the last"))
    middle = pieces[1].position
    assert [entry.key for entry in chats.entries(middle)] == [
        f"u{number}" for number in range(len(pieces[0].entries) + len(pieces[1].entries), 100)
    ]
    end = chats.read(middle)[-1].position
    assert [entry.key for entry in chats.entries(end)] == ["last"]


@pytest.mark.requirement("R380")
def test_the_directory_of_an_old_project_is_found_by_its_hash(tmp_path: Path) -> None:
    import hashlib

    name = hashlib.sha256(b"/home/dev/old shop").hexdigest()
    folder = tmp_path / f".gemini/tmp/{name}/chats"
    folder.mkdir(parents=True)
    (tmp_path / ".gemini/trustedFolders.json").write_text(json.dumps({"/home/dev/old shop": "TRUST_FOLDER"}))
    (folder / "session-1.json").write_text(json.dumps({**META, "projectHash": name, "messages": [user("u1", "one")]}))
    (source,) = SESSIONS.find(Surroundings(tmp_path, {}))
    (piece,) = SESSIONS.read(source, None)
    assert piece.head is not None
    assert piece.head.cwd == "/home/dev/old shop"


@pytest.mark.parametrize(
    "bad", ["{", "[1]", "null", '{"id": 7}', '{"$set": 7}', '{"$rewindTo": 7}', '{"a":' * 5000, "\0\1\2"]
)
def test_a_line_that_says_nothing_costs_only_itself(bad: str, chats: Chats) -> None:
    chats.write(META, user("u1", "one"))
    with (chats.folder / "session-1.jsonl").open("a") as file:
        file.write(bad + "\n")
    chats.add(user("u2", "two"))
    assert chats.texts() == ["one", "two"]
    is_object = bad.startswith('{"') and len(bad) < 100
    assert sum(piece.skipped for piece in chats.read()) == (0 if is_object else 1)


@pytest.mark.parametrize("bad", ['{"sessionId": "s1", "messages": [', "[]", "7", "", "\0" * 100])
def test_a_document_that_is_damaged_says_why(bad: str, chats: Chats) -> None:
    (chats.folder / "session-1.json").write_text(bad)
    with pytest.raises(OSError, match=r"session-1\.json: it is no JSON"):
        chats.read()


def test_a_document_beyond_all_bounds_is_refused_by_its_size(chats: Chats) -> None:
    with (chats.folder / "session-1.json").open("wb") as file:
        file.truncate(LARGEST_DOCUMENT + 1)
    with pytest.raises(OSError, match="larger than 64 MiB"):
        chats.read()
