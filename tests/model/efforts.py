"""Efforts as plain values, without a database."""

from datetime import UTC, datetime
from typing import Any

from ramet.model.record.effort import Effort
from ramet.protocol.record.efforts import EffortRow, nest


def effort(number: int, skill: str, **facts: Any) -> Effort:
    """A finished effort; the facts are named as its columns are."""
    known: dict[str, Any] = dict.fromkeys(EffortRow.__struct_fields__)
    known |= {"priority": 0, "attempts": 0, "lease_generation": 0, "agent_failures": 0, "host_failures": 0}
    known |= {"accepts_no_change": False}
    known |= {"task_id": "/shop/tasks/cart", "ordinal": number, "lifecycle": "finished", "outcome": "success"}
    known |= {"created_at": datetime(2026, 1, 5, tzinfo=UTC), "prompt": f"prompt of e{number}"}
    return nest(EffortRow(**(known | {"id": number, "skill": skill} | facts)))
