"""What an operation costs a database: the number of its statements, and the plans of its queries."""

import json
from typing import Any

from tests.world import Counting, World

from ramet.protocol.wire.frames import decode_params, find_operation
from ramet.store.database.queries import QueryFile


def statements(world: World, name: str, **params: Any) -> tuple[int, Any]:
    """How many statements an operation takes, and its reply."""
    operation = find_operation(name)
    request = decode_params(operation, json.dumps(params).encode())
    counting = Counting(world.db)
    world.db.begin()
    try:
        call = world.engine.prepare(operation, request, "user")
        reply = world.engine.perform(counting, call, world.clock.now_ms())
    finally:
        world.db.rollback()
    return len(counting.names), reply


def plan(world: World, noun: str, query: str, /, **params: Any) -> str:
    return world.explain(QueryFile(noun).all[query], **params)
