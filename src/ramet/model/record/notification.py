"""A notification: what somebody is told who is not looking, when a session that nobody spawned has ended."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from ramet.model.record.effort import Outcome

GOAL_CHARACTERS = 60
_DETAIL_CHARACTERS = 500
_CUT = "..."


class Notification(Struct, frozen=True, kw_only=True, rename={"workflow_id": "workflowId"}):
    """The notification that a webhook gets and a desktop shows."""

    event: Literal["session_completed"] = "session_completed"
    workflow_id: str
    """The skill."""
    outcome: Outcome
    detail: str
    """The reason of the outcome, or else the start of the output."""
    goal: str
    timestamp: datetime


def compose(*, skill: str, outcome: Outcome, detail: str, goal: str, at: datetime) -> Notification:
    """A notification whose texts are one line each, and short."""
    return Notification(
        workflow_id=skill,
        outcome=outcome,
        detail=_cut(detail, _DETAIL_CHARACTERS),
        goal=_cut(goal, GOAL_CHARACTERS),
        timestamp=at,
    )


def _cut(text: str, characters: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= characters else line[: characters - len(_CUT)] + _CUT
