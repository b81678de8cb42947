"""The state of an effort in a world, and whether one state may follow another."""

from tests.world import World

from ramet.model.instant import to_datetime
from ramet.model.work.effort_state import FIRST, FOLLOWS, State, derive_state
from ramet.protocol.record.efforts import nest
from ramet.protocol.work.queue import WorkReply


def see(world: World, effort_id: int) -> State:
    return state_of(world, world.call("work.get", effort_id=effort_id))


def state_of(world: World, row: WorkReply) -> State:
    return derive_state(nest(row), to_datetime(world.clock.now_ms()), blocked_by=row.blocked_by)


def may_follow(before: State | None, state: State) -> bool:
    """Whether an effort may be in a state at one look, after the state that it had at the look before; None is none."""
    return state in FIRST if before is None else state == before or state in FOLLOWS[before]
