"""The hooks of an agent that Ramet started itself: its keeper knows more than they do."""

from tests.conformance import queue_worker
from tests.conformance.hook_calls import (
    OTHER_WINDOW,
    WINDOW,
    entry,
    hook,
    ingest,
    messages,
    session,
    start,
)
from tests.world import World


def test_an_agent_that_ramet_started_is_bound_by_its_session(world: World) -> None:
    attempt = queue_worker.start(world, driver="claude")
    reply = hook(world, "pre_tool_use", tool="Bash", session=attempt.session.id)
    assert (reply.session_id, reply.wants_ingest) == (attempt.session.id, False)
    assert session(world, attempt.session.id).native_id == WINDOW
    assert hook(world, "post_tool_use", tool="Bash", session=str(attempt.session.id)).session_id == attempt.session.id
    assert world.call("db.counts").sessions == 1


def test_a_program_that_an_agent_starts_by_itself_is_its_child(world: World) -> None:
    attempt = queue_worker.start(world, driver="claude")
    hook(world, "session_start", session=attempt.session.id)
    child = session(world, hook(world, "session_start", session=attempt.session.id, native_id=OTHER_WINDOW).session_id)
    assert (child.parent_session_id, child.spawn_depth) == (attempt.session.id, 1)
    assert child.effort_id == attempt.effort.id
    assert session(world, attempt.session.id).ended_at is None


def test_a_keeper_and_not_a_hook_says_when_its_agent_has_ended(world: World) -> None:
    attempt = queue_worker.start(world, driver="claude")
    hook(world, "session_start", session=attempt.session.id)
    hook(world, "session_end")
    assert session(world, attempt.session.id).ended_at is None


def test_a_person_may_go_on_with_what_an_agent_of_ours_began(world: World) -> None:
    attempt = queue_worker.start(world, driver="claude")
    above = attempt.session.id
    hook(world, "session_start", session=above)
    queue_worker.report(world, attempt, queue_worker.text("It is mended."), queue_worker.end())
    queue_worker.complete(world, attempt.effort)
    ingest(world, above, entry("u1", "It is mended."), offset=500)
    assert hook(world, "user_prompt", prompt="late", session=above).session_id == above
    assert hook(world, "stop").session_id == above

    found = session(world, start(world, pid=7))
    assert (found.native_id, found.prev_session_id, found.ended_at, found.pid) == (WINDOW, above, None, 7)
    ingest(
        world, found.id, entry("u2", "mend the cart", role="user", prompt_id="p1"), entry("u3", "Again?"), offset=900
    )
    assert messages(world, found.id) == [("user", "mend the cart"), ("assistant", "Again?")]
    (read,) = world.call("ingest.list").items
    assert (read.session_id, read.offset) == (found.id, 900)
    hook(world, "session_end")
    assert (session(world, found.id).outcome, world.call("db.counts").active_efforts) == ("success", 0)
    kept = session(world, above)
    assert (kept.effort_id, kept.native_id, len(messages(world, above))) == (attempt.effort.id, None, 2)


def test_a_person_goes_on_where_the_transcript_was_read_to(world: World) -> None:
    attempt = queue_worker.start(world, driver="claude")
    hook(world, "session_start", session=attempt.session.id)
    ingest(world, attempt.session.id, offset=500, inode=3)
    queue_worker.report(world, attempt, queue_worker.end())
    found = start(world)
    (read,) = world.call("ingest.list").items
    assert (read.session_id, read.offset, read.inode) == (found, 500, 3)


def test_a_hook_that_a_sub_agent_calls_when_its_keeper_has_ended_it_all_opens_nothing(world: World) -> None:
    attempt = queue_worker.start(world, driver="claude")
    hook(world, "subagent_start", session=attempt.session.id, agent_id="a1")
    queue_worker.report(world, attempt, queue_worker.end())
    queue_worker.complete(world, attempt.effort)
    hook(world, "pre_tool_use", tool="Bash", session=attempt.session.id, agent_id="a1")
    assert session(world, f"claude:{WINDOW}/a1").ended_at is not None
    assert world.call("db.counts").active_efforts == 0
