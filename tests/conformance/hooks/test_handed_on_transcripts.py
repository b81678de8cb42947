"""Transcripts that were handed on: whose they are is not for a late reader to change."""

from tests.conformance import queue_worker
from tests.conformance.hook_calls import (
    OTHER_WINDOW,
    TRANSCRIPT,
    entry,
    hook,
    ingest,
    messages,
    start,
)
from tests.world import World


def test_a_late_reader_does_not_take_back_what_a_person_goes_on_with(world: World) -> None:
    attempt = queue_worker.start(world, driver="claude")
    above = attempt.session.id
    hook(world, "session_start", session=above)
    ingest(world, above, entry("u1", "It is mended."), offset=500)
    queue_worker.report(world, attempt, queue_worker.end())
    found = start(world)
    kept = messages(world, above)

    late = ingest(world, above, entry("u2", "mend the cart", role="user", prompt_id="p1"), offset=700)
    assert (late.session_id, late.added, late.replaced) == (found, 1, 1)
    ingest(world, found, entry("u2", "mend the cart", role="user", prompt_id="p1"), entry("u3", "Again?"), offset=900)
    assert messages(world, found) == [("user", "mend the cart"), ("assistant", "Again?")]
    assert messages(world, above) == kept
    (read,) = world.call("ingest.list", path=TRANSCRIPT).items
    assert (read.session_id, read.offset) == (found, 900)


def test_a_file_stays_with_the_session_that_it_is_known_for(world: World) -> None:
    first, second = start(world), start(world, native_id=OTHER_WINDOW)
    ingest(world, first, entry("u1", "It is mended."))
    assert ingest(world, second, entry("u2", "And painted."), offset=200).session_id == first
    assert ("assistant", "And painted.") in messages(world, first)
    assert ("assistant", "And painted.") not in messages(world, second)
    (read,) = world.call("ingest.list", path=TRANSCRIPT).items
    assert (read.session_id, read.offset) == (first, 200)
