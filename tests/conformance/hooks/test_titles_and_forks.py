"""What a transcript says of its session as a whole: what it is called, and of which session it is a copy."""

from typing import Any

import pytest
from tests.conformance.hook_calls import OTHER_WINDOW, WINDOW, entry, ingest, session, start
from tests.world import World

OTHER_TRANSCRIPT = f"/home/dev/{OTHER_WINDOW}.jsonl"
ANSWER = [entry("u1", "It is blue."), entry("usage/m1", kind="usage", usage={"input_tokens": 10})]


def titled(title: Any, *, is_given: bool = False) -> dict[str, Any]:
    return entry(f"t{title}", kind="meta", meta={"title": title, "is_given": is_given})


def fork(world: World, *entries: dict[str, Any]) -> int:
    """Another session whose transcript is read."""
    other = start(world, native_id=OTHER_WINDOW, transcript_path=OTHER_TRANSCRIPT)
    ingest(world, other, *entries, path=OTHER_TRANSCRIPT)
    return other


def test_a_name_that_a_person_gave_a_session_is_its_title_wherever_it_is_shown(world: World) -> None:
    above = start(world)
    ingest(world, above, titled("Blue things"), offset=1)
    assert session(world, above).title == "Blue things"
    ingest(world, above, titled("cart\nrework", is_given=True), titled("Made up later"), offset=2)
    tree, member = world.call("spawn.tree", session_id=above).items[0], world.call("fleet.status").items[0]
    (name,) = world.call("names.list", kinds=["session"], prefix="s").items
    assert {session(world, above).title, tree.title, member.title, name.title} == {"cart rework"}
    told = [each.data for each in world.call("events.list", kind="session.titled").items]
    assert told == [{"title": "Blue things"}, {"title": "cart rework"}]


@pytest.mark.parametrize("title", ["", " ", None, 7, {"a": 1}, "x" * 10_000, "\x1b[31m\0"])
def test_a_hostile_title_breaks_nothing(world: World, title: Any) -> None:
    above = start(world)
    ingest(world, above, titled(title, is_given=True))
    found = session(world, above).title
    assert found is None or (0 < len(found) <= 500 and "\x1b" not in found)


def test_a_copy_that_repeats_the_messages_of_a_session_is_its_fork(world: World) -> None:
    above = start(world)
    ingest(world, above, *ANSWER)
    other = fork(world, *ANSWER)
    assert session(world, other).forked_from_session_id == above
    assert session(world, above).forked_from_session_id is None
    rows = world.call("spawn.tree", session_id=other).items
    assert [(row.id, row.forked_from_session_id, row.tokens) for row in rows] == [(other, above, 0)]
    ingest(world, above, entry("usage/m1", kind="usage", usage={"input_tokens": 20}), offset=900)
    assert session(world, above).forked_from_session_id is None


@pytest.mark.parametrize(
    ("origin", "is_known"), [(WINDOW, True), ("unknown", False), (OTHER_WINDOW, False), ("\0", False)]
)
def test_a_copy_that_names_its_origin_is_its_fork(world: World, origin: str, is_known: bool) -> None:
    above = start(world)
    other = fork(world, entry("m1", kind="meta", meta={"origin": origin}))
    assert session(world, other).forked_from_session_id == (above if is_known else None)
