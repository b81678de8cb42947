"""Ingests: a transcript becomes a session's history, each entry once, whatever the hooks said or did not say."""

import random
from typing import Any

import pytest
from tests.conformance import queue_worker
from tests.conformance.hook_calls import (
    OTHER_WINDOW,
    TRANSCRIPT,
    WINDOW,
    entry,
    history,
    hook,
    ingest,
    messages,
    session,
    start,
    use,
)
from tests.world import World

from ramet.errors import SessionNotFound

SAID = [
    entry("u1", "mend the cart", role="user", prompt_id="p1"),
    entry("u2", "I shall look first", kind="reasoning"),
    entry("u3", '{"command":"ls"}', kind="tool_call", tool="Bash", call_id="t1"),
    entry("u4", "cart.py", kind="tool_result", role="tool", tool="Bash", call_id="t1"),
    entry("u5", "It is mended.", usage={"input_tokens": 10, "output_tokens": 5}),
]


@pytest.mark.requirement("R274")
def test_a_transcript_becomes_the_sessions_history_in_its_order(world: World) -> None:
    above = start(world)
    done = ingest(world, above, *SAID)
    assert (done.session_id, done.offset, done.added, done.replaced) == (above, 100, 5, 1)
    assert history(world, above) == [
        ("dialogue", "mend the cart"),
        ("reasoning", "I shall look first"),
        ("tool_io", '{"command":"ls"}'),
        ("tool_io", "cart.py"),
        ("dialogue", "It is mended."),
    ]
    assert [role for role, _ in messages(world, above)] == ["user", "assistant", "tool", "assistant"]
    assert world.call("budget.get", session_id=above).tokens == 15


@pytest.mark.requirement("R274")
def test_a_text_of_a_tool_keeps_the_tools_name(world: World) -> None:
    above = start(world)
    ingest(world, above, entry("u1", "3 files", role="tool", tool="Grep"), entry("u2", "a text", role="tool"))
    spoken = world.call("db.messages.list", session_id=above).items[-2:]
    assert [(each.role, each.tool_name, each.content) for each in spoken] == [
        ("tool", "Grep", "3 files"),
        ("tool", "tool", "a text"),
    ]


@pytest.mark.requirement("R274")
def test_the_same_again_changes_nothing_in_what_was_said(world: World) -> None:
    above = start(world)
    ingest(world, above, *SAID)
    before = world.dump()
    assert ingest(world, above, *SAID).added == 0
    after = world.dump()
    for table in ("messages", "commits", "branches", "usage", "ingests", "events"):
        assert after[table] == before[table]


def test_a_file_that_is_read_from_its_beginning_again_gives_only_what_is_new(world: World) -> None:
    above = start(world)
    ingest(world, above, *SAID[:4], inode=1)
    done = ingest(world, above, *SAID, offset=200, inode=2)
    assert done.added == 1
    assert [kind for kind, _ in history(world, above)].count("reasoning") == 1


@pytest.mark.requirement("R274")
def test_each_thought_is_there_once_in_whichever_pieces_a_file_is_read(world: World) -> None:
    """A thought has no message; the piece may end with it, and the next reading begin with it."""
    above = start(world)
    for entries in ([*SAID[:2], *SAID[:2]], SAID[:2], SAID[1:2], SAID[1:], [*SAID, *SAID]):
        ingest(world, above, *entries, inode=1)
    kinds = [kind for kind, _ in history(world, above)]
    assert kinds == ["dialogue", "reasoning", "tool_io", "tool_io", "dialogue"]


@pytest.mark.requirement("R274")
@pytest.mark.parametrize("pieces", [[3], [1, 2], [1, 1, 1]])
def test_a_result_has_the_name_of_the_tool_that_was_called(world: World, pieces: list[int]) -> None:
    above = start(world)
    lines = [
        entry("u1", "{}", kind="tool_call", tool="Bash", call_id='t_1"%'),
        entry("u2", "{}", kind="tool_call", tool="Read", call_id="tx1"),
        entry("u3", "cart.py", kind="tool_result", role="tool", call_id='t_1"%'),
    ]
    for size in pieces:
        ingest(world, above, *lines[:size])
        lines = lines[size:]
    found = world.call("db.messages.list", session_id=above).items
    assert [each.tool_name for each in found if each.tool_name] == ["Bash", "Read", "Bash"]
    shown = world.call("history.show", hash=found[-1].commit).content
    assert (shown["tool_name"], shown["call_id"]) == ("Bash", 't_1"%')


def test_a_result_of_which_nobody_saw_the_call_is_some_tool_s(world: World) -> None:
    above = start(world)
    ingest(world, above, entry("u1", "cart.py", kind="tool_result", role="tool", call_id="t9"))
    assert world.call("db.messages.list", session_id=above).items[-1].tool_name == "tool"


def test_the_prompt_of_a_hook_gives_way_to_the_transcripts(world: World) -> None:
    above = start(world)
    (told,) = world.call("db.messages.list", session_id=above).items
    assert (told.content, history(world, above)) == ("mend the cart", [])
    ingest(world, above, *SAID)
    found = world.call("db.messages.list", session_id=above).items
    assert (found[0].content, found[0].source_key) == ("mend the cart", f"{above}:u1")
    assert found[0].timestamp.isoformat() == "2026-01-05T08:00:01+00:00"
    assert len(found) == 4


def test_a_prompt_without_an_id_is_known_by_what_it_says(world: World) -> None:
    above = start(world)
    hook(world, "user_prompt", prompt="and the till", prompt_id=None)
    entries = [entry("u1", "mend the cart", role="user"), entry("u2", "and the till", role="user")]
    assert ingest(world, above, *entries).replaced == 2
    assert messages(world, above) == [("user", "mend the cart"), ("user", "and the till")]


def test_a_prompt_that_the_transcript_had_first_is_not_said_twice(world: World) -> None:
    above = hook(world, "session_start").session_id
    ingest(world, above, SAID[0])
    hook(world, "user_prompt", prompt="mend the cart", prompt_id="p1")
    assert messages(world, above) == [("user", "mend the cart")]


def test_what_a_hook_told_and_no_transcript_confirms_stays(world: World) -> None:
    above = start(world)
    ingest(world, above, entry("u9", "something else", role="user"))
    assert sorted(messages(world, above)) == [("user", "mend the cart"), ("user", "something else")]


def test_a_sub_agents_transcript_is_its_own_sessions(world: World) -> None:
    above = start(world)
    done = ingest(world, above, entry("s1", "look", role="user"), path="/t/agent-a1.jsonl", agent_id="a1")
    child = session(world, f"claude:{WINDOW}/a1")
    assert (done.session_id, child.parent_session_id, child.spawn_depth) == (child.id, above, 1)
    assert messages(world, child.id) == [("user", "look")]
    assert hook(world, "subagent_stop", agent_id="a1").session_id == child.id


def test_two_sessions_may_have_lines_of_the_same_name(world: World) -> None:
    """A copy of a session keeps the names of its lines."""
    first = start(world)
    second = start(world, native_id=OTHER_WINDOW)
    ingest(world, first, *SAID)
    assert ingest(world, second, *SAID, path="/t/copy.jsonl").added == 5
    assert len(messages(world, second)) == 4


def test_what_a_kept_agent_says_comes_from_its_keeper_but_not_what_its_sub_agents_say(world: World) -> None:
    attempt = queue_worker.start(world, driver="claude")
    above = attempt.session.id
    assert hook(world, "stop", session=above).wants_ingest is False
    assert hook(world, "subagent_stop", session=above, agent_id="a1").wants_ingest is True
    before = messages(world, above)
    assert ingest(world, above, *SAID).added == 0
    assert messages(world, above) == before
    assert ingest(world, above, *SAID, path="/t/a1.jsonl", agent_id="a1").added == 5


def test_the_transcripts_of_all_that_run_are_known_from_their_first_hook_on(world: World) -> None:
    attempt = queue_worker.start(world, driver="claude")
    hook(world, "pre_tool_use", tool="Bash", session=attempt.session.id)
    other: dict[str, Any] = {"native_id": OTHER_WINDOW, "transcript_path": "/t/nested.jsonl"}
    nested = hook(world, "pre_tool_use", tool="Bash", session=attempt.session.id, **other).session_id
    found = [(each.session_id, each.path) for each in world.call("ingest.list").items]
    assert found == [(attempt.session.id, TRANSCRIPT), (nested, "/t/nested.jsonl")]
    assert session(world, nested).parent_session_id == attempt.session.id


def test_how_far_each_transcript_was_read_is_known(world: World) -> None:
    above = start(world)
    (begun,) = world.call("ingest.list").items
    assert (begun.session_id, begun.path, begun.offset, begun.is_open) == (above, TRANSCRIPT, 0, True)
    ingest(world, above, *SAID, offset=512, inode=7)
    (read,) = world.call("ingest.list", session_id=above).items
    assert (read.offset, read.inode, read.driver) == (512, 7, "claude")
    assert world.call("ingest.list", path=TRANSCRIPT).items == [read]
    assert world.call("ingest.list", path="/t/another.jsonl").items == []
    hook(world, "session_end")
    assert not world.call("ingest.list", path=TRANSCRIPT).items[0].is_open


def test_a_transcript_that_grows_is_a_sign_of_life(world: World) -> None:
    above = start(world)
    world.clock.advance(7200)
    ingest(world, above, entry("u1", "still here", at="2026-01-05T09:00:00Z"))
    assert session(world, above).last_heartbeat.isoformat() == "2026-01-05T09:00:00+00:00"
    ingest(world, above, entry("u2", "older", at="2026-01-05T07:00:00Z"))
    assert session(world, above).last_heartbeat.isoformat() == "2026-01-05T09:00:00+00:00"
    ingest(world, above, entry("u3", "from a clock that is wrong", at="9999-01-01T00:00:00Z"))
    assert session(world, above).last_heartbeat.isoformat() == "2026-01-05T10:00:00.123000+00:00"


def test_what_comes_late_is_taken_and_ends_nothing_and_opens_nothing(world: World) -> None:
    above = start(world)
    hook(world, "session_end")
    assert ingest(world, above, *SAID).added == 5
    assert session(world, above).ended_at is not None


def test_a_secret_in_a_transcript_is_not_kept(world: World) -> None:
    secret = "ghp_" + "a1B2" * 9
    above = start(world)
    ingest(
        world, above, entry("u1", f"use {secret}"), entry("u2", f'{{"t":"{secret}"}}', kind="tool_call", tool="Bash")
    )
    assert secret not in "".join(text for _, text in messages(world, above))


def test_the_cost_of_a_session_is_counted_once_whoever_tells_of_it(world: World) -> None:
    above = start(world)
    cost = entry("cost/1", kind="usage", usage={"cost_usd": 0.75})
    hook(world, "status_line", usage={"cost_usd": 0.5})
    ingest(world, above, cost)
    hook(world, "status_line", usage={"cost_usd": 0.75})
    assert world.call("budget.get", session_id=above).cost_usd == 0.75


def test_a_copy_of_a_session_has_used_only_what_came_after(world: World) -> None:
    """Claude Code's copy repeats its original's messages, and goes on with the cost."""

    def used(key: str, **amounts: Any) -> dict[str, Any]:
        return entry(key, kind="usage", usage=amounts)

    first, copy = start(world), start(world, native_id=OTHER_WINDOW)
    ingest(world, first, used("usage/m1", input_tokens=10), used("cost/77", cost_usd=0.5))
    copied = [used("usage/m1", input_tokens=10), used("usage/m2", input_tokens=3), used("cost/77", cost_usd=0.75)]
    for _ in range(2):
        ingest(world, copy, *copied, path="/t/copy.jsonl")
    ingest(world, first, used("cost/77", cost_usd=2.0))
    ingest(world, copy, used("cost/77", cost_usd=1.0), path="/t/copy.jsonl")
    spent = [world.call("budget.get", session_id=each) for each in (first, copy)]
    assert [(each.tokens, each.cost_usd) for each in spent] == [(10, 2.0), (3, 0.5)]


def test_a_copy_never_gives_back_what_its_original_has_used_since(world: World) -> None:
    first, copy = start(world), start(world, native_id=OTHER_WINDOW)
    ingest(world, first, entry("cost/77", kind="usage", usage={"cost_usd": 2.0}))
    ingest(world, copy, entry("cost/77", kind="usage", usage={"cost_usd": 0.75}), path="/t/copy.jsonl")
    assert world.call("budget.get", session_id=copy).cost_usd == 0


def test_what_a_session_has_used_is_known_when_it_is_over(world: World) -> None:
    above = start(world)
    ingest(world, above, *SAID)
    hook(world, "session_end")
    ingest(world, above, entry("usage/m9", kind="usage", usage={"input_tokens": 1}))
    used = world.call("work.get", effort_id=session(world, above).effort_id).usage
    assert (used["input_tokens"], used["output_tokens"]) == (11, 5)


@pytest.mark.parametrize(("counts_subagents", "tokens"), [(True, 0), (False, 15)])
def test_what_a_keeper_has_counted_is_not_counted_again(world: World, counts_subagents: bool, tokens: int) -> None:
    attempt = queue_worker.start(world, driver="claude")
    hook(world, "session_start", session=attempt.session.id)
    of: dict[str, Any] = {"agent_id": "a1", "path": "/t/a1.jsonl"}
    child = ingest(world, attempt.session.id, *SAID, counts_subagents=counts_subagents, **of).session_id
    assert len(messages(world, child)) == 4
    assert world.call("budget.get", session_id=child).tokens == tokens


def test_a_program_that_a_kept_agent_starts_by_itself_counts_for_itself(world: World) -> None:
    attempt = queue_worker.start(world, driver="claude")
    hook(world, "session_start", session=attempt.session.id)
    nested = hook(world, "session_start", session=attempt.session.id, native_id=OTHER_WINDOW).session_id
    ingest(world, nested, *SAID, path="/t/nested.jsonl", counts_subagents=True)
    assert world.call("budget.get", session_id=nested).tokens == 15


def test_a_transcript_of_nobody_is_refused(world: World) -> None:
    with pytest.raises(SessionNotFound):
        ingest(world, 99, *SAID)


def _live(world: World, dropped: random.Random | None) -> dict[str, list[Any]]:
    """A session with a sub-agent, with all its hooks or some; what is known of what was said at its end."""

    def call(moment: str, **said: Any) -> None:
        if dropped is None or dropped.random() > 0.3:
            hook(world, moment, **said)

    call("session_start", source="startup")
    for number in range(12):
        call("user_prompt", prompt=f"step {number}", prompt_id=f"p{number}")
        call("pre_tool_use", tool="Bash", tool_use_id=f"t{number}")
        call("post_tool_use", tool="Bash", tool_use_id=f"t{number}")
        call("subagent_start", agent_id="a1")
        call("stop")
    hook(world, "post_compact")
    lines = [entry(f"u{number}", f"step {number}", role="user", prompt_id=f"p{number}") for number in range(12)]
    lines.insert(6, entry("c1", "so far so good", kind="compaction", role="system"))
    above = f"claude:{WINDOW}"
    ingest(world, above, *lines[:7], offset=50)
    ingest(world, above, *lines[7:])
    ingest(world, above, entry("s1", "look", role="user"), path="/t/agent-a1.jsonl", agent_id="a1")
    hook(world, "session_end")
    return {
        name: [(row.hash, row.content_type, row.preview, row.tags) for row in _log(world, name)]
        for name in (above, f"{above}/a1")
    } | {f"messages of {name}": messages(world, name) for name in (above, f"{above}/a1")}


def _log(world: World, ref: str) -> list[Any]:
    return list(world.call("history.log", branch=session(world, ref).branch, limit=100).items)


@pytest.mark.parametrize("seed", range(5))
def test_whichever_hooks_are_dropped_the_same_was_said_in_the_end(world: World, tmp_path: Any, seed: int) -> None:
    from tests.world import open_world

    undisturbed = _live(world, None)
    with open_world(tmp_path / "other", None) as other:
        assert _live(other, random.Random(seed)) == undisturbed


def test_everything_that_hooks_and_transcripts_leave_is_whole(world: World) -> None:
    above = start(world)
    use(world, times=3)
    ingest(world, above, *SAID)
    hook(world, "session_end")
    assert world.call("db.check").passed
    world.call("history.gc", retention_days=0)
    assert world.call("db.check").passed
    assert len(messages(world, above)) == 4
