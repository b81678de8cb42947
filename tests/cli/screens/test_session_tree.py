"""The names of agents in a tree of sessions."""

from datetime import UTC, datetime
from typing import Any

import pytest

from ramet.cli.screens.agent_names import agent_name
from ramet.cli.screens.session_tree import draw
from ramet.model.spawn.child import TreeRow

NOW = datetime.now(UTC)


def row(session_id: int, effort_id: int, **facts: Any) -> TreeRow:
    usual = {
        **dict.fromkeys(("parent_session_id", "prev_session_id", "agent_id", "native_id", "goal", "notes")),
        **dict.fromkeys(("cost_usd", "total_cost_usd", "outcome", "ended_at")),
        **dict.fromkeys(("spawn_depth", "tokens", "total_tokens"), 0),
        "root_session_id": 1,
        "task_id": "/shop",
        "skill": "do",
        "branch": "session/1",
        "status": "running",
        "driver": "claude",
        "driver_name": "claude",
        "is_queued": True,
        "created_at": NOW,
    }
    return TreeRow(**{**usual, "id": session_id, "effort_id": effort_id, **facts})


def names(*rows: TreeRow) -> list[str]:
    return ["".join(text for text, _ in line[:2]) for line in draw(rows)[1:]]


@pytest.mark.requirement("R453")
def test_an_efforts_name_belongs_to_its_newest_session_and_every_name_is_one_agents() -> None:
    failed = row(1, 4, outcome="error", ended_at=NOW, status="ended")
    again = row(2, 4, prev_session_id=1)
    within = row(3, 4, parent_session_id=2)
    child = row(4, 5, parent_session_id=2)
    by_hand = row(5, 6, is_queued=False)
    assert names(failed, again, within, child, by_hand) == [
        "claude s1",
        "claude e4",
        "├─ claude s3",
        "└─ claude e5",
        "claude s5",
    ]


def test_the_slot_of_a_worker_is_no_name() -> None:
    assert agent_name(None, "e104", agent="vm.3e2f/1") == "e104"
    assert agent_name(None, "e1", agent="blue") == "blue e1"
    assert agent_name(None, "s1", agent="claude:2f1c0c4e-0000-4000-8000-000000000001") == "claude s1"
    assert agent_name("codex", "s55", agent="vm.3e2f/1") == "codex s55"
