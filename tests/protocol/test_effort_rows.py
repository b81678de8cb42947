"""The flat row of an effort on the wire, and the nested effort of the model: the same columns."""

from datetime import UTC, datetime
from typing import Any, get_type_hints

import pytest
from tests.model.efforts import effort

from ramet.engine.record import efforts
from ramet.model.record.effort import Changes, Effort, Lease, RunLine, StopRequest
from ramet.model.row_parts import Part, flatten
from ramet.protocol.record.efforts import EffortReply, EffortRow, nest

FACTS: dict[str, Any] = {
    "lifecycle": "active",
    "outcome": None,
    "lease_owner": "host/1",
    "lease_generation": 3,
    "lease_expires_at": datetime(2026, 1, 5, 9, tzinfo=UTC),
    "run_id": 4,
    "run_line": "1.2",
    "run_order": 2,
    "run_agent": "codex",
    "retry_of": 5,
    "spawned_by": 6,
    "usage": {"input_tokens": 12},
    "changes": Changes(files=["a.py"], insertions=1, deletions=0),
    "stop_request": StopRequest(reason="enough"),
}


def columns(kind: type[Any]) -> dict[str, Any]:
    """Every column of a row with its type, those of its parts among them."""
    found: dict[str, Any] = {}
    for (name, hint), column in zip(get_type_hints(kind).items(), kind.__struct_encode_fields__, strict=True):
        found |= columns(hint) if isinstance(hint, type) and issubclass(hint, Part) else {column: hint}
        assert name in kind.__struct_fields__
    return found


def test_the_row_has_the_columns_of_the_effort_and_of_its_parts() -> None:
    assert columns(EffortRow) == columns(Effort)
    assert len(columns(Effort)) == 53


def test_a_part_has_its_columns_under_its_own_names() -> None:
    found = effort(7, "do", **FACTS)
    assert found.lease == Lease(owner="host/1", generation=3, expires_at=FACTS["lease_expires_at"])
    assert found.line == RunLine(run_id=4, key="1.2", order=2, agent="codex")
    assert (found.retry.of, found.spawn.by, found.spent.changes) == (5, 6, FACTS["changes"])


def test_a_row_that_was_nested_is_the_same_row_again() -> None:
    row = EffortRow(**flatten(effort(7, "do", **FACTS)))
    assert {name: getattr(row, name) for name in FACTS} == FACTS
    assert EffortRow(**flatten(nest(row))) == row


def test_a_reply_is_the_row_and_more() -> None:
    found = effort(7, "do", **FACTS)
    reply = efforts.reply(found)
    assert EffortReply.__struct_fields__[: len(EffortRow.__struct_fields__)] == EffortRow.__struct_fields__
    assert (nest(reply), reply.artifact_prefix) == (found, "7_DO")


@pytest.mark.parametrize(
    ("generation", "owner", "is_its"), [(3, "host/1", True), (2, "host/1", False), (3, None, False)]
)
def test_a_lease_is_of_the_generation_under_which_somebody_has_it(
    generation: int, owner: str | None, is_its: bool
) -> None:
    assert effort(7, "do", lease_owner=owner, lease_generation=3).lease.is_of(generation) is is_its
