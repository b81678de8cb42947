"""compile: a function of the branch, within a budget and a window, and the same however it was come by."""

import msgspec
import pytest
from tests.conformance.history.story import (
    answer_tool,
    call_tool,
    collect,
    compiled,
    compress,
    forget,
    fork,
    head,
    put,
    say,
    texts,
)
from tests.world import Counting, World

from ramet.protocol.history.contexts import Compress
from ramet.protocol.wire.frames import find_operation
from ramet.store.history import commits

WORD = "four "
"""Five characters; twenty of them are 25 tokens."""


def test_skips_and_what_does_not_compile_are_left_out(world: World) -> None:
    _, second, _ = say(world, *"abc")
    put(world, "config", settings={"x": 1})
    put(world, "metadata", kind="note")
    world.call("history.annotate", hash=second, priority="skip")
    assert texts(world) == ["a", "c"]
    world.call("history.annotate", hash=second, priority="normal")
    assert texts(world) == ["a", "b", "c"]


def test_an_empty_branch_compiles_to_nothing(world: World) -> None:
    world.call("history.branch", name="main")
    found = compiled(world)
    assert (found.messages, found.tokens, found.head, found.omitted) == ([], 0, None, 0)


def test_pinned_content_survives_any_budget(world: World) -> None:
    put(world, "instruction", text="i " * 200)
    said = say(world, "a " * 20, "b " * 20, "c " * 20)
    world.call("history.annotate", hash=said[0], priority="pinned")
    found = compiled(world, max_tokens=1)
    assert [message["content"][0] for message in found.messages] == ["i", "a"]
    assert found.omitted == 2
    assert found.tokens > 1


def test_a_budget_keeps_what_is_important_and_then_the_newest(world: World) -> None:
    said = say(world, *(letter + WORD * 20 for letter in "abcde"))
    world.call("history.annotate", hash=said[1], priority="important")
    found = compiled(world, max_tokens=80)
    assert [message["content"][0] for message in found.messages] == ["b", "d", "e"]
    assert (found.omitted, found.tokens) == (2, 75)
    assert compiled(world, max_tokens=1000).omitted == 0
    assert [text[0] for text in texts(world)] == list("abcde")


def test_a_budget_keeps_a_call_and_its_result_together_or_neither(world: World) -> None:
    say(world, "begin")
    call_tool(world, "c1", '{"q": "' + WORD * 20 + '"}')
    call_tool(world, "c2", "{}")
    answer_tool(world, "c2", "two")
    answer_tool(world, "c1", "one " * 20)
    say(world, "end")
    for budget in range(1, 80, 3):
        messages = compiled(world, max_tokens=budget).messages
        asked = [call["id"] for message in messages for call in message.get("tool_calls", ())]
        answered = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
        assert sorted(asked) == sorted(answered)
        assert "no result" not in str(messages)


def test_a_window_shows_the_beginning_the_end_and_what_is_pinned_between(world: World) -> None:
    said = say(world, *"abcdefgh")
    world.call("history.annotate", hash=said[4], priority="pinned")
    found = compiled(world, window={"first": 2, "last": 2})
    assert [message["content"] for message in found.messages] == ["a", "b", "e", "g", "h"]
    assert found.omitted == 3
    assert texts(world, window={"last": 1}) == ["e", "h"]
    assert texts(world, window={"first": 5, "last": 3}) == list("abcdefgh")


def test_compiling_a_commit_is_compiling_the_branch_that_ended_there(world: World) -> None:
    said = say(world, *"abc")
    by_hash = world.call("history.compile", hash=said[1])
    fork(world, "old", said[1])
    assert by_hash == compiled(world, "old")
    assert by_hash.head == said[1]


def test_appending_keeps_every_message_that_was_there_and_its_hash(world: World) -> None:
    seen = []
    for number, letter in enumerate("abcdef"):
        say(world, letter, role=("user", "assistant")[number % 2])
        seen.append((head(world), compiled(world)))
    for commit, before in seen:
        after = world.call("history.compile", hash=commit)
        assert after == before
        assert compiled(world).messages[: len(before.messages)] == before.messages
    assert len({found.prefix_hash for _, found in seen}) == 6


def test_the_prefix_hash_tells_any_change_of_what_a_provider_reads(world: World) -> None:
    said = say(world, "a", "b")
    fork(world, "side")
    assert compiled(world).prefix_hash == compiled(world, "side").prefix_hash
    world.call("history.edit", branch="side", target=said[0], text="A")
    put(world, "instruction", branch="told", text="be brief")
    put(world, "instruction", branch="told otherwise".replace(" ", "-"), text="be long")
    hashes = {
        compiled(world, name, format="anthropic").prefix_hash for name in ("main", "side", "told", "told-otherwise")
    }
    assert len(hashes) == 4


@pytest.mark.parametrize("form", ["openai", "anthropic", "text"])
def test_since_gives_only_what_came_behind_a_commit(world: World, form: str) -> None:
    say(world, "a", "b")
    put(world, "instruction", text="be brief")
    since = head(world)
    known = compiled(world, format=form).messages
    say(world, "c", role="assistant")
    rest = compiled(world, format=form, since=since)
    whole = compiled(world, format=form)
    assert rest.is_continuation
    assert known + rest.messages == whole.messages
    assert (rest.prefix_hash, rest.tokens, rest.system) == (whole.prefix_hash, whole.tokens, whole.system)
    assert compiled(world, format=form, since=head(world)).messages == []


def test_since_gives_everything_where_what_was_known_has_changed(world: World) -> None:
    said = say(world, "a", "b")
    since = head(world)
    world.call("history.edit", branch="main", target=said[0], text="A")
    found = compiled(world, since=since)
    assert not found.is_continuation
    assert [message["content"] for message in found.messages] == ["A", "b"]
    call_tool(world, "c1")
    waiting = head(world)
    answer_tool(world, "c1", "ok")
    assert compiled(world, since=waiting) == compiled(world)


def test_what_was_kept_is_what_a_fresh_engine_compiles(world: World) -> None:
    said = say(world, *"abcdef")
    put(world, "instruction", text="be brief")
    for step in (
        lambda: say(world, "g"),
        lambda: world.call("history.edit", branch="main", target=said[0], text="A"),
        lambda: compress(world, said[1], said[2]),
        lambda: world.call("history.annotate", hash=said[3], priority="skip"),
        lambda: world.call("history.undo", branch="main"),
        lambda: call_tool(world, "c1"),
        lambda: answer_tool(world, "c1", "ok"),
        lambda: world.call("history.register", name="output2"),
    ):
        step()
        kept = [compiled(world, format=form) for form in ("openai", "anthropic", "text")]
        forget(world)
        assert [compiled(world, format=form) for form in ("openai", "anthropic", "text")] == kept


def test_an_append_is_compiled_by_reading_the_append(world: World) -> None:
    say(world, *(str(number) for number in range(50)))
    compiled(world)
    say(world, "more")
    read: list[int] = []

    class Watching(Counting):
        def all(self, query, **params):  # type: ignore[no-untyped-def]
            rows = super().all(query, **params)
            if query.name.endswith("range"):
                read.append(len(rows))
            return rows

    world.db = Watching(world.db)
    assert len(compiled(world).messages) == 51
    assert read == [1]


def test_what_was_kept_is_not_taken_for_what_came_after_a_collection(world: World) -> None:
    say(world, "base")
    fork(world, "gone")
    say(world, "old", branch="gone")
    assert texts(world, "gone") == ["base", "old"]
    world.call("history.delete", branch="gone")
    collect(world)
    say(world, "new", "newer")
    assert texts(world) == ["base", "new", "newer"]
    world.call("history.reset", branch="main", to=world.call("history.log", branch="main").items[1].hash)
    assert texts(world) == ["base", "new"]


def test_an_annotation_is_seen_although_another_went_with_its_commit(world: World) -> None:
    (said,) = say(world, "a")
    (gone,) = say(world, "x", branch="gone")
    world.call("history.annotate", hash=gone, priority="pinned")
    assert texts(world) == ["a"]
    world.call("history.delete", branch="gone")
    collect(world)
    world.call("history.annotate", hash=said, priority="skip")
    assert texts(world) == []


def test_what_a_change_compiled_is_not_kept_where_the_change_fails(world: World) -> None:
    said = say(world, "a", "b")
    call = world.engine.prepare(
        find_operation("history.compress"),
        msgspec.convert({"branch": "main", "from": said[0], "to": said[1], "text": "x"}, Compress),
        "user",
    )
    world.db.begin()
    commits.annotate(world.db, world.sql("SELECT min(id) FROM commits")[0][0], "skip")
    world.engine.perform(world.db, call, world.clock.now_ms())
    world.db.rollback()
    world.call("history.annotate", hash=said[1], priority="skip")
    assert texts(world) == ["a"]


def test_a_skipped_summary_is_left_out_with_its_range(world: World) -> None:
    said = say(world, *"abcd")
    summary = compress(world, said[1], said[2], text="b and c")
    world.call("history.annotate", hash=summary.hash, priority="skip")
    assert texts(world) == ["a", "d"]
    assert texts(world, max_tokens=100) == ["a", "d"]
    world.call("history.annotate", hash=summary.hash, priority="normal")
    assert texts(world) == ["a", "b and c", "d"]
