"""Commits: what goes in comes out, under a hash that says all of it."""

from typing import Any

import pytest
from tests.conformance.history.story import (
    head,
    logged,
    put,
    say,
)
from tests.world import World

from ramet.errors import InvalidParams
from ramet.model.history.commit import CommitFacts, hash_commit, hash_content
from ramet.model.history.content import BUILTIN_CONTENT_TYPES

CONTENTS: list[dict[str, Any]] = [
    {"content_type": "instruction", "text": "be brief", "name": "style"},
    {"content_type": "dialogue", "text": "hello", "role": "assistant", "name": "ada"},
    {
        "content_type": "tool_io",
        "text": '{"cmd": "ls"}',
        "tool_name": "Bash",
        "direction": "call",
        "call_id": "c1",
        "status": None,
    },
    {"content_type": "reasoning", "text": "perhaps"},
    {"content_type": "artifact", "text": "x = 1", "artifact_type": "code", "language": "python"},
    {"content_type": "output", "text": "# Done", "format": "markdown"},
    {"content_type": "freeform", "payload": {"b": [1, None], "a": {"ü": 2.5}}},
    {
        "content_type": "session",
        "session_type": "handoff",
        "summary": "half done",
        "decisions": ["use x"],
        "failed_approaches": ["y"],
        "next_steps": ["finish"],
    },
    {"content_type": "config", "settings": {"model": "small", "depth": 3}},
    {"content_type": "metadata", "kind": "note", "data": {"n": 1}},
]


def test_there_is_an_example_of_every_content_type() -> None:
    assert {content["content_type"] for content in CONTENTS} == BUILTIN_CONTENT_TYPES
    assert len(BUILTIN_CONTENT_TYPES) == 10


@pytest.mark.parametrize("content", CONTENTS, ids=lambda content: content["content_type"])
def test_a_content_comes_back_as_it_was_given(world: World, content: dict[str, Any]) -> None:
    committed = world.call("history.commit", branch="main", content=content)
    shown = world.call("history.show", hash=committed.hash)
    assert shown.content == content
    assert (shown.content_type, shown.depth, shown.operation) == (content["content_type"], 1, "append")
    assert shown.branches == ["main"]
    again = world.call("history.commit", branch="other", content=shown.content)
    assert again.hash == committed.hash


@pytest.mark.parametrize(
    ("content_type", "role", "priority"),
    [
        ("instruction", "system", "pinned"),
        ("dialogue", "user", "normal"),
        ("tool_io", "tool", "normal"),
        ("reasoning", "assistant", "normal"),
        ("artifact", "assistant", "important"),
        ("output", "assistant", "important"),
        ("freeform", "user", "normal"),
        ("session", "system", "pinned"),
        ("config", "system", "normal"),
        ("metadata", "system", "normal"),
    ],
)
def test_a_text_gets_the_role_and_priority_of_its_type(
    world: World, content_type: str, role: str, priority: str
) -> None:
    (plain,) = say(world, "text", content_type=content_type)
    (told,) = say(world, "text", content_type=content_type, role="user", priority="important")
    shown, other = world.call("history.show", hash=plain), world.call("history.show", hash=told)
    assert (shown.role, shown.priority) == (role, priority)
    assert (other.role, other.priority) == ("user", "important")


def test_a_type_of_ones_own_is_registered_and_then_used(world: World) -> None:
    hints: dict[str, Any] = {"default_role": "assistant", "default_priority": "important", "compression_priority": 10}
    world.call("history.register", name="ticket", **hints)
    (ticket,) = say(world, "fix the cart", content_type="ticket")
    shown = world.call("history.show", hash=ticket)
    assert (shown.content_type, shown.role, shown.priority) == ("ticket", "assistant", "important")
    world.call("history.register", name="ticket", compiles=False)
    assert world.call("history.compile", branch="main").messages == []
    with pytest.raises(InvalidParams, match="built in"):
        world.call("history.register", name="dialogue", compiles=False)


def test_tags_annotations_and_metadata_belong_to_a_commit(world: World) -> None:
    (commit,) = say(world, "x", tags=["b", "a", "b"], priority="pinned", metadata={"k": {"n": 1}}, author="ada")
    shown = world.call("history.show", hash=commit)
    assert (shown.tags, shown.priority, shown.metadata, shown.author) == (["a", "b"], "pinned", {"k": {"n": 1}}, "ada")
    assert world.call("history.tag", hash=commit, tags=["c"]).tags == ["c"]
    assert world.call("history.tag", hash=commit, tags=[]).tags == []
    assert world.call("history.annotate", hash=commit[:8], priority="skip").priority == "skip"
    (row,) = world.call("history.log", branch="main").items
    assert (row.hash, row.tags, row.priority, row.preview) == (commit, [], "skip", "x")


def test_a_commits_hash_is_that_of_what_it_says(world: World) -> None:
    at, at_ms = "2026-01-02T03:04:05.678+01:00", 1_767_319_445_678
    (first,) = say(world, "one")
    (second,) = say(world, "two", author="ada", role="assistant", metadata={"b": 1, "a": 2}, at=at)
    facts = CommitFacts(
        content_hash=hash_content(b"two"),
        content_type="dialogue",
        role="assistant",
        author="ada",
        parent=bytes.fromhex(first),
        metadata={"a": 2, "b": 1},
        at_ms=at_ms,
    )
    assert second == hash_commit(facts).hex()
    assert world.call("history.show", hash=second).at.isoformat() == "2026-01-02T02:04:05.678000+00:00"


def test_the_time_of_a_source_needs_its_zone(world: World) -> None:
    before = world.dump()
    with pytest.raises(InvalidParams) as refusal:
        world.call("history.commit", branch="main", text="x", at="2026-01-02T03:04:05")
    assert (refusal.value.field, refusal.value.value) == ("at", "2026-01-02 03:04:05")
    assert "zone" in (refusal.value.fix or "")
    assert world.dump() == before


def test_the_same_source_committed_again_adds_no_row(world: World) -> None:
    source = [("one", "2026-01-01T00:00:00Z"), ("two", "2026-01-01T00:00:01Z"), ("one", "2026-01-01T00:00:02Z")]
    for text, at in source:
        world.call("history.commit", branch="main", text=text, at=at, author="importer")
    tables = {name: rows for name, rows in world.dump().items() if name in ("commits", "blobs", "segments")}
    for text, at in source:
        world.call("history.commit", branch="again", text=text, at=at, author="importer")
    after = world.dump()
    assert {name: after[name] for name in tables} == tables
    assert head(world, "again") == head(world)
    assert logged(world, "again") == ["one", "two", "one"]


def test_the_same_text_elsewhere_is_another_commit_and_the_same_content(world: World) -> None:
    first, second = say(world, "hello", "hello")
    (other,) = say(world, "hello", branch="other", author="ada")
    assert len({first, second, other}) == 3
    assert world.sql("SELECT count(*) FROM blobs") == [(1,)]
    assert world.sql("SELECT count(*) FROM commits") == [(3,)]


def test_reported_tokens_stand_beside_the_estimate_and_win(world: World) -> None:
    text = "twenty characters ok"
    (commit,) = say(world, text, tokens=9)
    shown = world.call("history.show", hash=commit)
    assert (shown.tokens, shown.reported_tokens) == (5, 9)
    assert world.call("history.compile", branch="main").tokens == 9


def test_a_log_is_read_in_pages_from_the_newest_on(world: World) -> None:
    hashes = say(world, *"abcde")
    first = world.call("history.log", branch="main", limit=2)
    assert ([row.hash for row in first.items], first.next) == ([hashes[4], hashes[3]], 4)
    second = world.call("history.log", branch="main", limit=2, cursor=first.next)
    third = world.call("history.log", branch="main", limit=2, cursor=second.next)
    assert [row.preview for row in (*second.items, *third.items)] == ["c", "b", "a"]
    assert third.next is None
    assert [row.preview for row in world.call("history.log", hash=hashes[1]).items] == ["b", "a"]


def test_a_commit_is_found_by_a_unique_beginning_of_its_hash(world: World) -> None:
    (commit,) = say(world, "x")
    assert world.call("history.show", hash=commit[:4]).hash == commit
    assert world.call("history.show", hash="main").hash == commit
    put(world, "reasoning", text="more")
    assert world.call("history.show", hash="main").text == "more"


@pytest.mark.parametrize("key", ["payload", "compresses", "origin", "collapse"])
def test_metadata_that_means_something_to_the_history_is_refused(world: World, key: str) -> None:
    before = world.dump()
    with pytest.raises(InvalidParams) as refusal:
        world.call("history.commit", branch="main", text="x", metadata={key: [1, 2]})
    assert refusal.value.field == f"metadata.{key}"
    assert world.dump() == before
