"""Every vendor's stored sessions: found without being read, read in pieces from anywhere, never written, imported once.

A fixture is a home as the program leaves it (`tests/vendors/sessions/VENDOR/home`) with what is in it
(`expected.json`).
"""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.vendors.session_imports import Stored, import_into
from tests.world import World

from ramet.model.hooks.transcript import Entry
from ramet.model.memory.stored_session import Piece, Source
from ramet.vendors import registry

VENDORS = registry.names("sessions")
Look = Callable[[Entry], bool]


@pytest.fixture(params=VENDORS)
def stored(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stored]:
    """Some programs write local times, so there is one zone for all machines."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield Stored(request.param, tmp_path)
    monkeypatch.undo()
    time.tzset()


def entries_of(pieces: list[Piece]) -> list[Entry]:
    return [entry for piece in pieces for entry in piece.entries]


def said(entries: list[Entry], kind: str, role: str | None = None) -> list[str]:
    return [each.text for each in entries if each.kind == kind and role in (None, each.role)]


def used(entries: list[Entry]) -> float:
    last = {each.key: each.usage or {} for each in entries if each.usage}
    return sum(usage.get("output_tokens", 0) for usage in last.values())


def describe(pieces: list[Piece]) -> dict[str, Any]:
    """A session in the words of `expected.json`."""
    entries, head = entries_of(pieces), [piece.head for piece in pieces if piece.head is not None][-1]
    titles = [each.meta["title"] for each in entries if each.meta and each.meta.get("title")]
    return {
        "native_id": head.native_id,
        "parent_id": head.parent_id,
        "origin_id": head.origin_id,
        "cwd": head.cwd,
        "version": head.version,
        "started_at": head.started_at and head.started_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "prompts": said(entries, "text", "user"),
        "answers": said(entries, "text", "assistant"),
        "tools": [each.tool for each in entries if each.kind == "tool_call"],
        "results": len(said(entries, "tool_result")),
        "thoughts": len(said(entries, "reasoning")),
        "titles": [*([head.title] if head.title else []), *titles],
        "output_tokens": used(entries),
        "skipped": sum(piece.skipped for piece in pieces),
    }


def by_id(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda each: str(each["native_id"]))


@pytest.mark.requirement("R380")
def test_every_session_is_found_and_says_what_it_said(stored: Stored) -> None:
    sources = stored.find()
    read = [pieces for source in sources if (pieces := stored.read(source))]
    described = by_id([describe(pieces) for pieces in read])
    expected = by_id(stored.expected["sessions"])
    assert described == [{name: each.get(name) for name in described[0]} for each in expected]
    assert len(sources) - len(read) == stored.expected.get("empty", 0)
    assert all(source.vendor == stored.vendor and source.size_bytes > 0 for source in sources)
    assert len({source.key for source in sources}) == len(sources)


def test_the_variables_of_the_program_say_where_its_sessions_are(stored: Stored, tmp_path: Path) -> None:
    found = stored.find()
    for name, path in stored.environ.items():
        moved = tmp_path / "elsewhere"
        Path(path).rename(moved)
        assert stored.find({}) == []
        assert len(stored.find({name: str(moved)})) == len(found)
        moved.rename(path)


def test_a_folder_that_a_person_names_gives_the_same_sessions(stored: Stored) -> None:
    named = {each.key for each in stored.sessions.recognise(stored.home)}
    conversations = {each.key for each in stored.find() if stored.read(each)}
    assert conversations <= named <= {each.key for each in stored.find()}
    (first, *_) = sorted(conversations)
    path = Path(next(each.path for each in stored.find() if each.key == first))
    assert first in {each.key for each in stored.sessions.recognise(path)}


def test_other_files_are_recognised_by_no_vendor(stored: Stored, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes.jsonl").write_text('{"a": 1}\n[]\n7\n', encoding="utf-8")
    (other / "notes.json").write_text('{"messages": 7}', encoding="utf-8")
    (other / "notes.md").write_text("# Notes\n", encoding="utf-8")
    (other / "bytes.db").write_bytes(bytes(range(256)) * 64)
    (other / "empty.jsonl").touch()
    (other / "loop").symlink_to(other)
    assert list(stored.sessions.recognise(other)) == []
    assert [each for path in other.iterdir() if path.is_file() for each in stored.sessions.recognise(path)] == []


@pytest.mark.requirement("R381")
def test_each_position_continues_with_what_is_behind_it_and_the_last_with_nothing(stored: Stored) -> None:
    for source in stored.find():
        pieces = stored.read(source)
        for number, piece in enumerate(pieces):
            rest = entries_of(stored.read(source, piece.position))
            assert [each.key for each in rest] == [each.key for each in entries_of(pieces[number + 1 :])]


def test_a_position_that_no_longer_fits_reads_from_the_beginning(stored: Stored) -> None:
    for source in stored.find():
        whole = [each.key for each in entries_of(stored.read(source))]
        assert [each.key for each in entries_of(stored.read(source, "nonsense"))] == whole


def stored_of(world: World) -> list[dict[str, Any]]:
    """What the record says, in the words of `expected.json`."""
    found = []
    for session in reversed(world.call("db.session.find").items):
        messages = world.call("db.messages.list", session_id=session.id, limit=100).items
        origin, parent = session.forked_from_session_id, session.parent_session_id
        (tokens,) = world.sql("SELECT coalesce(sum(output_tokens), 0) FROM usage WHERE session_id = :id", id=session.id)
        found.append(
            {
                "native_id": session.native_id.rpartition("/")[2],
                "imported_origin": origin and world.call("db.session.get", session_id=origin).native_id,
                "parent_id": parent and world.call("db.session.get", session_id=parent).native_id,
                "prompts": [each.content for each in messages if each.role == "user"],
                "tokens": int(tokens[0]),
                "is_open": session.ended_at is None,
                "started_at": session.created_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            }
        )
    return by_id(found)


@pytest.mark.requirement("R381", "R382", "R295")
def test_an_import_gives_each_session_once_closed_and_below_its_parent(stored: Stored, world: World) -> None:
    before = stored.files()
    results = import_into(world, stored.find())
    expected = by_id(stored.expected["sessions"])
    found = stored_of(world)
    assert [(each["native_id"], each["parent_id"], each["prompts"]) for each in found] == [
        (each["native_id"], each["parent_id"], each["prompts"]) for each in expected
    ]
    assert not any(each["is_open"] for each in found)
    assert [each["imported_origin"] for each in found] == [each.get("imported_origin") for each in expected]
    counted = [each.get("counted_output_tokens", each["output_tokens"]) for each in expected]
    assert [each["tokens"] for each in found] == counted
    assert all(a["started_at"] == b["started_at"] for a, b in zip(found, expected, strict=True) if b["started_at"])
    assert (len(results.new), results.empty, results.failed) == (len(expected), stored.expected.get("empty", 0), [])
    whole = world.dump()
    again = import_into(world, stored.find())
    assert world.dump() == whole
    assert (again.new, again.continued, again.unchanged) == ([], [], len(expected))
    assert stored.files() == before


@pytest.mark.requirement("R380")
def test_files_that_cannot_be_written_are_imported_and_none_is_changed(stored: Stored) -> None:
    for path in [*stored.home.rglob("*"), stored.home]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = stored.files()
    try:
        read = [stored.read(source) for source in stored.find()]
        assert sum(map(bool, read)) == len(stored.expected["sessions"])
        assert stored.files() == before
    finally:
        for path in [stored.home, *stored.home.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)


def damage(source: Source, cut: Callable[[bytes], bytes]) -> None:
    path = Path(source.path)
    path.write_bytes(cut(path.read_bytes()))


@pytest.mark.parametrize("at", [0.0, 0.1, 0.37, 0.5, 0.83, 0.99])
def test_a_session_that_was_cut_off_anywhere_gives_what_is_whole(stored: Stored, at: float) -> None:
    for source in stored.find():
        whole = {each.key for each in entries_of(stored.read(source))}
        original = Path(source.path).read_bytes()
        damage(source, lambda data: data[: int(len(data) * at)])
        try:
            rest = entries_of(stored.read(source))
        except (OSError, ValueError):
            continue  # which is counted as failed, with its reason
        finally:
            Path(source.path).write_bytes(original)  # other sessions may be in the same file
        if source.path.endswith(".jsonl"):
            assert {each.key for each in rest} <= whole


def test_random_bytes_and_a_vanished_file_are_told_as_such(stored: Stored) -> None:
    first, *_ = stored.find()
    damage(first, lambda data: bytes((each * 31 + 7) % 256 for each in range(len(data))))
    with suppress(OSError, ValueError):
        assert entries_of(stored.read(first)) == []
    Path(first.path).unlink()
    with pytest.raises((OSError, ValueError)):
        stored.read(first)
