"""How much there is of everything, and how much of it is going on."""

from typing import Any

COUNTS = """
SELECT (SELECT count(*) FROM projects) AS projects,
       (SELECT count(*) FROM tasks) AS tasks,
       (SELECT count(*) FROM efforts) AS efforts,
       (SELECT count(*) FROM efforts WHERE lifecycle = 'active') AS active_efforts,
       (SELECT count(*) FROM sessions) AS sessions,
       (SELECT count(*) FROM sessions WHERE ended_at IS NULL) AS open_sessions,
       (SELECT count(*) FROM messages) AS messages,
       (SELECT count(*) FROM agents) AS agents
"""
"""For `db.query`; both databases run it."""


def read_counts(reply: dict[str, Any]) -> dict[str, int]:
    """The counts by their names."""
    return dict(zip(reply["columns"], reply["rows"][0], strict=True))
