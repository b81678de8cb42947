"""Prompts of which a hook tells: there at once, once, and gone when the transcript has them."""

from typing import Any

import msgspec
import pytest
from tests.conformance.hook_calls import (
    directive,
    entry,
    event,
    hook,
    ingest,
    messages,
    session,
    start,
)
from tests.conformance.query_plans import plan
from tests.world import Counting, World

from ramet.engine import Call
from ramet.engine.contents import Contents
from ramet.protocol.wire.frames import decode_params, find_operation
from ramet.store.database.connection import Connection


def count(world: World, table: str) -> int:
    return int(world.sql(f"SELECT count(*) FROM {table}")[0][0])


def prompt(world: World, text: str, prompt_id: str | None) -> None:
    hook(world, "user_prompt", prompt=text, prompt_id=prompt_id)


def prepare(world: World, name: str, **params: Any) -> Call:
    operation = find_operation(name)
    return world.engine.prepare(operation, decode_params(operation, msgspec.json.encode(params)), "user")


def perform(world: World, call: Call, db: Connection) -> Any:
    world.db.begin()
    reply = world.engine.perform(db, call, world.clock.now_ms())
    world.db.commit()
    return reply


def test_a_prompt_whose_hook_comes_behind_the_next_one_is_not_said_twice(world: World) -> None:
    above = hook(world, "session_start").session_id
    ingest(
        world,
        above,
        entry("u1", "first", role="user", prompt_id="p1", at="2026-01-05T08:00:00Z"),
        entry("u2", "ok", at="2026-01-05T08:00:05Z"),
        entry("u3", "second", role="user", prompt_id="p2", at="2026-01-05T08:00:10Z"),
    )
    world.clock.advance(12)
    prompt(world, "first", "p1")
    assert messages(world, above) == [("user", "first"), ("assistant", "ok"), ("user", "second")]


def test_who_says_the_same_again_after_a_while_has_said_it_twice(world: World) -> None:
    above = start(world)
    world.clock.advance(61)
    prompt(world, "mend the cart", "p2")
    assert messages(world, above) == [("user", "mend the cart")] * 2


@pytest.mark.parametrize("text", ["mend the cart", "mend the till"])
def test_a_prompt_that_is_told_of_again_leaves_nothing_behind(world: World, text: str) -> None:
    above = start(world)
    before = count(world, "commits"), count(world, "segments"), count(world, "blobs")
    prompt(world, text, "p1")
    assert (count(world, "commits"), count(world, "segments"), count(world, "blobs")) == before
    assert messages(world, above) == [("user", "mend the cart")]


def test_what_gave_way_to_the_transcript_is_collected(world: World) -> None:
    above = start(world)
    for number in range(10):
        prompt(world, f"step {number}", f"s{number}")
    lines = [entry(f"u{number}", f"step {number}", role="user", prompt_id=f"s{number}") for number in range(10)]
    assert ingest(world, above, *lines).replaced == 10
    done = world.call("history.gc", retention_days=0)
    assert (done.commits, done.segments) == (10, 10)
    assert (count(world, "commits"), len(messages(world, above)), world.call("db.check").passed) == (11, 11, True)


def test_whether_a_prompt_was_said_is_found_by_an_index(world: World) -> None:
    said = plan(world, "hooks/hooks", "is_said", session_id=1, hash=b"0" * 32, since_ms=0)
    assert not world.is_sqlite or "idx_messages_prompts" in said


def test_what_a_person_says_is_prepared_before_the_transaction(world: World, monkeypatch: Any) -> None:
    """Redacting and compressing a long prompt would hold up everybody who waits to write."""
    above = start(world)
    operations: dict[str, dict[str, Any]] = {
        "hooks.record": {"event": event("user_prompt", prompt="and the till", prompt_id="p2")},
        "hooks.userPrompt": {"session_id": above, "prompt": "and the door", "prompt_id": "p3"},
    }
    calls = [prepare(world, name, **params) for name, params in operations.items()]
    monkeypatch.setattr(Contents, "prepare", refuse)
    for call in calls:
        perform(world, call, world.db)
    assert [text for _, text in messages(world, above)] == ["mend the cart", "and the till", "and the door"]


def refuse(*_: Any) -> None:
    raise AssertionError("prepared inside the transaction")


def test_only_the_beginning_of_a_long_text_is_looked_through_for_secrets(world: World, monkeypatch: Any) -> None:
    lengths: list[int] = []
    redact = Contents.redact

    def measure(contents: Contents, text: str) -> str:
        lengths.append(len(text))
        return redact(contents, text)

    monkeypatch.setattr(Contents, "redact", measure)
    secret = "ghp_" + "a1B2" * 9
    start(world)
    hook(world, "notification", text=f"{secret} is gone {'x' * 1_000_000}")
    assert 500 <= max(lengths) <= 64_000
    assert secret not in repr(world.dump())


def test_a_tool_that_comes_to_a_directory_with_rules_looks_once_at_what_is_known(world: World) -> None:
    above = start(world)
    used = event("post_tool_use", tool="Read", tool_input={"file_path": "/shop/src/cart.py"})
    facts = {"project": "/shop", "directives": [directive()]}
    counting = Counting(world.db)
    told = perform(world, prepare(world, "hooks.record", event=used, facts=facts), counting).answer
    assert (counting.names.count("told"), counting.names.count("discover")) == (1, 1)
    assert "Two spaces." in (told.context or "")
    effort = world.call("db.effort.get", effort_id=session(world, above).effort_id)
    assert effort.discovered_directories == ["/shop/src"]
    assert effort.discovered_directives == ["/shop/src/AGENTS.md"]
