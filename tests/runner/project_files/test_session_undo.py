"""Going on from before a compaction: by hand, and in the queue."""

import base64
import stat
from pathlib import Path
from typing import Any

import pytest
from tests.conformance import hook_calls, queue_worker
from tests.conformance.hook_calls import entry
from tests.runner.desk import Desk

from ramet.errors import NothingRuns, NothingToUndo
from ramet.model.history.image import Image


@pytest.fixture
def compacted(desk: Desk) -> Desk:
    """Session 1, started by hand, whose context was compacted twice."""
    hook_calls.hook(desk.world, "session_start", source="startup", cwd=str(desk.project))
    hook_calls.ingest(
        desk.world,
        1,
        entry("1", "mend the cart", role="user"),
        entry("2", '{"command":"make"}', kind="tool_call", tool="Bash", call_id="c1"),
        entry("3", "no rule to make it", kind="tool_result", role="tool", call_id="c1"),
        entry("4", "the cart was summed up", kind="compaction", role="system"),
        entry("5", "now the taxes", role="user"),
        entry("6", "the taxes were summed up", kind="compaction", role="system"),
        entry("7", "and on", role="user"),
    )
    return desk


def undo(desk: Desk, **params: Any) -> Any:
    return desk.call("commands.session.undo", session_id=1, **params)


def test_what_the_last_compaction_dropped_is_the_prompt_word_for_word(compacted: Desk) -> None:
    undone = undo(compacted, only_show=True)
    assert undone.compaction.number == 2
    assert "the cart was summed up" in undone.prompt, "what the compaction before it had left"
    assert "now the taxes" in undone.prompt
    assert not any(text in undone.prompt for text in ("mend the cart", "the taxes were summed up", "and on"))


def test_an_earlier_compaction_can_be_named(compacted: Desk) -> None:
    prompt = undo(compacted, number=1, only_show=True).prompt
    said = ("[User]\nmend the cart", '[Tool call: Bash]\n{"command":"make"}', "[Tool result]\nno rule to make it")
    assert [text in prompt for text in said] == [True, True, True]
    assert "the cart was summed up" not in prompt


def test_showing_it_changes_nothing(compacted: Desk) -> None:
    before = compacted.world.dump()
    undo(compacted, only_show=True)
    assert compacted.world.dump() == before


def test_the_agent_that_is_started_for_the_session_is_known(compacted: Desk) -> None:
    undone = undo(compacted)
    assert (undone.session.prev_session_id, undone.driver) == (1, "claude")
    assert undone.directory == str(compacted.project)
    started = {"native_id": hook_calls.OTHER_WINDOW, "session": undone.session.id, "cwd": str(compacted.project)}
    reply = hook_calls.hook(compacted.world, "session_start", source="startup", **started)
    assert reply.session_id == undone.session.id
    assert hook_calls.session(compacted.world, undone.session.id).native_id == hook_calls.OTHER_WINDOW


def test_an_agent_that_is_still_at_work_stays_in_the_fleet_beside_the_session_that_waits(compacted: Desk) -> None:
    world, waiting = compacted.world, undo(compacted).session
    assert [member.session_id for member in world.call("fleet.status").items] == [1]
    assert hook_calls.session(world, 1).ended_at is None
    states = {row.id: row.status for row in world.call("spawn.tree", session_id=1).items}
    assert states == {1: "running", waiting.id: "waiting_person"}
    started = {"native_id": hook_calls.OTHER_WINDOW, "session": waiting.id, "cwd": str(compacted.project)}
    hook_calls.hook(world, "session_start", source="startup", **started)
    assert {member.session_id for member in world.call("fleet.status").items} == {1, waiting.id}


def test_a_session_whose_agent_nobody_has_started_can_be_killed(compacted: Desk) -> None:
    world, waiting = compacted.world, undo(compacted).session
    killed = world.call("fleet.kill", session_id=waiting.id)
    assert (killed.outcome, killed.is_running) == ("cancelled", False)
    assert hook_calls.session(world, waiting.id).outcome == "cancelled"
    with pytest.raises(NothingRuns):
        world.call("fleet.kill", session_id=1)


def test_an_effort_that_was_only_there_for_the_session_goes_on_with_it(compacted: Desk) -> None:
    hook_calls.hook(compacted.world, "session_end", cwd=str(compacted.project))
    undone = undo(compacted, idempotency_key="k")
    assert (undone.session.prev_session_id, undone.session.effort_id) == (1, 1)
    assert compacted.world.call("db.effort.get", effort_id=1).lifecycle == "active"
    assert undo(compacted, idempotency_key="k").session.id == undone.session.id


def test_where_an_effort_that_somebody_gave_it_is_over_a_light_one_begins(desk: Desk) -> None:
    given = desk.call("commands.effort.start", task_id=f"{desk.project}/cart", skill="do", title="Cart", agent_id="ada")
    hook_calls.hook(desk.world, "session_start", cwd=str(desk.project), agent="ada")
    said = (entry("1", "mend the cart", role="user"), entry("2", "it was summed up", kind="compaction"))
    hook_calls.ingest(desk.world, f"claude:{hook_calls.WINDOW}", *said)
    desk.world.call("db.effort.finish", effort_id=given.effort.id)
    session = hook_calls.session(desk.world, f"claude:{hook_calls.WINDOW}")
    undone = desk.call("commands.session.undo", session_id=session.id)
    assert undone.session.effort_id != given.effort.id
    assert (undone.session.task_id, undone.session.prev_session_id) == (session.task_id, session.id)


def test_of_an_agent_that_ramet_runs_an_effort_is_queued_with_it(desk: Desk) -> None:
    claimed = queue_worker.claim(desk.world, effort_id=desk.add("implement").id)
    attempt = queue_worker.begin(desk.world, claimed, native_id=hook_calls.WINDOW, driver="claude")
    hook_calls.hook(desk.world, "pre_compact", session=attempt.session.id)
    hook_calls.hook(desk.world, "post_compact", session=attempt.session.id, summary="it was summed up")
    queue_worker.complete(desk.world, claimed, "success")
    undone = desk.call("commands.session.undo", session_id=attempt.session.id)
    assert undone.session is None
    assert (undone.effort.lifecycle, undone.effort.based_on, undone.effort.skill) == ("queued", claimed.id, "implement")
    assert undone.effort.prompt == undone.prompt
    assert undone.prompt in desk.prompt(undone.effort).prompt


@pytest.mark.parametrize(("number", "text"), [(None, "has not been compacted"), (3, "has no compaction 3")])
def test_a_session_that_was_not_compacted_is_refused(desk: Desk, number: int | None, text: str) -> None:
    hook_calls.hook(desk.world, "session_start", source="startup", cwd=str(desk.project))
    before = desk.world.dump()
    with pytest.raises(NothingToUndo, match=text):
        undo(desk, number=number)
    assert desk.world.dump() == before


@pytest.mark.requirement("R373")
def test_the_images_of_the_context_are_written_into_private_files_that_the_prompt_names(desk: Desk) -> None:
    image = Image(media_type="image/png", data=b"\x89PNG\r\n\x1a\n\0")
    encoded = {"media_type": "image/png", "data": base64.b64encode(image.data).decode()}
    unknown = f"[image/png, 9 bytes, sha256:{'0' * 64}]"
    hook_calls.hook(desk.world, "session_start", source="startup", cwd=str(desk.project))
    hook_calls.ingest(
        desk.world,
        1,
        entry("1", f"what is {image.reference}, and {unknown}?", role="user", images=[encoded]),
        entry("2", "it was summed up", kind="compaction", role="system"),
    )
    undone = undo(desk)
    (file,) = map(Path, undone.images)
    assert (file.read_bytes(), file.suffix, stat.S_IMODE(file.stat().st_mode)) == (image.data, ".png", 0o600)
    assert f"sha256:{image.hash.hex()}: {file}" in undone.prompt
    assert image.reference in undone.prompt
