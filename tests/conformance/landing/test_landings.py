"""The landing queue on every database: order, fencing, and what follows from each outcome."""

from typing import get_args

import pytest
from msgspec.structs import fields
from tests.conformance.landing_queue import SHA, claim, expire, finish, land, queue
from tests.world import World

from ramet.errors import LandingNotFound, LandingRefused, LeaseLost
from ramet.model.landing.landing import MEANINGS, TRANSITIONS, Landing, LandingState
from ramet.model.row_parts import parts_of
from ramet.protocol.landing.landings import LandingRow


def test_a_row_of_the_protocol_has_the_columns_of_the_model() -> None:
    parts = parts_of(Landing)
    flat = [column for field in fields(Landing) for column in parts.get(field.name, [field.encode_name])]
    assert [field.name for field in fields(LandingRow)][: len(flat)] == flat
    assert set(get_args(LandingState)) == set(TRANSITIONS) == set(MEANINGS)


@pytest.mark.requirement("R401")
def test_a_target_has_one_lander_and_its_landings_take_turns(world: World) -> None:
    first, second = queue(world, "a", "b")
    [other] = queue(world, "c", target="next")
    assert claim(world).id == first.id
    assert claim(world).id == other.id
    assert claim(world) is None
    assert claim(world, takes_over=False, host="south") is None
    land(world, world.call("landing.get", landing_id=first.id))
    assert claim(world).id == second.id


@pytest.mark.requirement("R404")
def test_what_needs_a_landing_that_did_not_land_waits_and_others_do_not(world: World) -> None:
    first, second, third = queue(world, "a", "b", "c", needs={"b": [1]})
    finish(world, claim(world), "failed", reason="the check test failed")
    assert claim(world).id == third.id
    assert world.call("landing.get", landing_id=second.id).blocked_by == first.id
    world.call("landing.retry", landing_id=first.id)
    expire(world, third)
    land(world, claim(world))
    land(world, claim(world))
    assert claim(world).id == second.id


@pytest.mark.requirement("R402")
def test_who_takes_over_has_a_new_generation_and_the_former_lander_changes_nothing(world: World) -> None:
    queue(world, "a")
    former = claim(world)
    assert claim(world, "south") is None
    expire(world, former)
    taken = claim(world, "south")
    assert (taken.id, taken.lease_generation) == (former.id, former.lease_generation + 1)
    with pytest.raises(LeaseLost, match="generation 1 of landing"):
        land(world, former)
    with pytest.raises(LeaseLost, match="generation 1 of landing"):
        finish(world, former, "failed")
    with pytest.raises(LeaseLost, match="generation 1 of landing"):
        world.call("landing.renew", landing_id=former.id, generation=former.lease_generation)
    assert land(world, taken).state == "landed"


@pytest.mark.requirement("R402")
def test_a_restarted_lander_takes_its_own_landing_at_once(world: World) -> None:
    queue(world, "a")
    former = claim(world)
    assert claim(world) is None
    assert claim(world, takes_over=True).lease_generation == former.lease_generation + 1


@pytest.mark.requirement("R402")
def test_a_commit_is_queued_once_and_again_only_if_it_did_not_land(world: World) -> None:
    [first] = queue(world, "a")
    assert [row.already for row in queue(world, "a")] == [True]
    finish(world, claim(world), "conflicted", files=["a.txt"], reason="conflicts in a.txt")
    [again] = queue(world, "a")
    assert (again.id, again.state, again.already) == (first.id, "queued", False)
    land(world, claim(world))
    assert [(row.id, row.already) for row in queue(world, "a")] == [(first.id, True)]


@pytest.mark.requirement("R404")
def test_an_outcome_that_a_person_has_to_know_leaves_one_notice(world: World) -> None:
    effort = world.effort()
    [row] = queue(world, "a")
    world.sql("UPDATE landings SET efforts = :efforts WHERE id = :id", efforts=f"[{effort.id}]", id=row.id)
    finish(world, claim(world), "conflicted", files=["a.txt"], reason="conflicts in a.txt")
    [notice] = world.call("fleet.notices").items
    assert (notice.kind, notice.effort_id) == ("landing", effort.id)
    assert "conflicts in a.txt" in notice.text


@pytest.mark.requirement("R406")
def test_only_a_landing_that_landed_can_be_undone_and_only_once(world: World) -> None:
    [row] = queue(world, "a")
    with pytest.raises(LandingRefused, match="landing 1 is queued"):
        world.call("landing.undo", landing_id=row.id)
    land(world, claim(world))
    undo = world.call("landing.undo", landing_id=row.id)
    assert (undo.kind, undo.undoes, undo.head) == ("undo", row.id, SHA["b"])
    assert world.call("landing.undo", landing_id=row.id).id == undo.id
    claimed = world.call("landing.claim", lander="north")
    assert (claimed.landing.id, claimed.undoes.id) == (undo.id, row.id)
    land(world, claimed.landing)
    assert world.call("landing.get", landing_id=row.id).state == "undone"
    assert [each.already for each in queue(world, "a")] == [False]


@pytest.mark.requirement("R401")
@pytest.mark.parametrize("state", get_args(LandingState))
def test_retry_and_drop_follow_the_table_of_transitions(world: World, state: LandingState) -> None:
    [row] = queue(world, "a")
    is_held = state == "landing"
    held = {"owner": "north" if is_held else None, "until": "2999-01-01T00:00:00.000Z" if is_held else None}
    world.sql(
        "UPDATE landings SET state = :state, lease_owner = :owner, lease_expires_at = :until WHERE id = :id",
        state=state,
        id=row.id,
        **held,
    )
    for name, wanted in (("landing.drop", "dropped"), ("landing.retry", "queued")):
        now: LandingState = world.call("landing.get", landing_id=row.id).state
        if (wanted == now or wanted in TRANSITIONS[now]) and now != "landing":
            assert world.call(name, landing_id=row.id).state == wanted
            continue
        with pytest.raises(LandingRefused):
            world.call(name, landing_id=row.id)
    with pytest.raises(LandingNotFound):
        world.call("landing.get", landing_id=99)
