"""The daemon dies while an effort begins by its skill file: all of it is there, or nothing."""

from pathlib import Path
from typing import Any

import pytest
from tests.crash.daemons import Home

from ramet.client.connection import Connection
from ramet.errors import DaemonUnreachable

SKILL = "---\nname: brainstorm\ndescription: Think.\nphases: ['1: Look']\n---\n"
TABLES = ("tasks", "efforts", "sessions", "skills", "agents")


def count(connection: Connection) -> dict[str, int]:
    rows = {table: connection.call("db.query", {"sql": f"SELECT count(*) FROM {table}"})["rows"] for table in TABLES}
    return {table: found[0][0] for table, found in rows.items()}


@pytest.mark.requirement("R247")
@pytest.mark.parametrize(("point", "kept"), [("before_commit", 0), ("after_commit_before_reply", 1)])
def test_an_effort_that_begins_is_there_whole_or_not_at_all(
    sqlite_home: Home, tmp_path: Path, point: str, kept: int
) -> None:
    file = tmp_path / "shop/.agents/skills/brainstorm/SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(SKILL)
    asked: dict[str, Any] = {
        "task_id": str(tmp_path / "shop/tasks/cart"),
        "skill": "brainstorm",
        "agent_id": "blue",
        "idempotency_key": "once",
    }
    first = sqlite_home.start()
    with first.connect() as connection:
        connection.call("db.project.upsert", {"path": str(tmp_path / "shop")})
    first.kill()
    daemon = sqlite_home.start(f"{point}:1")
    with daemon.connect() as connection, pytest.raises(DaemonUnreachable):
        connection.call("commands.effort.start", asked)
    assert daemon.died_by_its_fault()
    with sqlite_home.start().connect() as connection:
        assert count(connection) == dict.fromkeys(TABLES, kept)
        opened = connection.call("commands.effort.start", asked)
        assert opened["session"]["effort_id"] == opened["effort"]["id"]
        assert count(connection) == dict.fromkeys(TABLES, 1)
