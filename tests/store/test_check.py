"""`db.check` finds what is damaged, and nothing where nothing is."""

from pathlib import Path

import pytest
from tests.world import World, open_world


@pytest.fixture
def furnished(world: World) -> World:
    session = world.session(agent_id="ada")
    for number in range(3):
        world.call("db.messages.append", session_id=session.id, role="user", content=f"turn {number} " * 40)
    return world


def test_a_whole_database_passes_and_is_counted(furnished: World) -> None:
    report = furnished.call("db.check")
    assert (report.passed, report.findings) == (True, [])
    assert (report.counts["messages"], report.counts["sessions"], report.counts["blobs"]) == (3, 1, 3)


@pytest.mark.parametrize(
    ("damage", "check"),
    [
        ("UPDATE blobs SET data = hash WHERE id = 1", "blobs"),
        ("UPDATE blobs SET size = size + 1 WHERE id = 1", "blobs"),
        ("UPDATE blobs SET codec = 9 WHERE id = 1", "blobs"),
        ("UPDATE blobs SET codec = 0 WHERE id = 1", "blobs"),
        ("UPDATE commits SET author = 'eve' WHERE id = 2", "commits"),
        ("UPDATE commits SET role = 'system' WHERE id = 2", "commits"),
        ("UPDATE commits SET parent_id = NULL WHERE id = 3", "commits"),
        ("UPDATE commits SET token_sum = token_sum + 1 WHERE id = 2", "commits"),
        ("UPDATE commits SET metadata = '{}' WHERE id = 2", None),
        ("UPDATE messages SET role = 'system' WHERE id = 2", "messages"),
        ("UPDATE efforts SET ordinal = 5", "efforts"),
        ("INSERT INTO budgets VALUES (1, 1, NULL, NULL, 5, 0.0, NULL)", "budgets"),
        ("UPDATE efforts SET lifecycle = 'finished', finished_at = 'x', outcome = 'error'", "agents"),
    ],
)
def test_damage_is_found_and_named(furnished: World, damage: str, check: str | None) -> None:
    furnished.sql(damage)
    report = furnished.call("db.check")
    assert report.passed is (check is None)
    assert {finding.check for finding in report.findings} >= ({check} if check else set())


def test_a_session_that_serves_an_effort_of_another_task_is_found(furnished: World) -> None:
    other = furnished.effort("do", "/shop/tasks/till")
    furnished.sql("UPDATE sessions SET effort_id = :id", id=other.id)
    assert [finding.check for finding in furnished.call("db.check").findings] == ["sessions"]


def test_a_row_that_points_nowhere_is_found_in_a_sqlite_file(tmp_path: Path) -> None:
    """A server lets no row point nowhere; a file can be written to past its checks."""
    with open_world(tmp_path, None) as world:
        session = world.session()
        world.call("db.messages.append", session_id=session.id, role="user", content="hi")
        world.sql("PRAGMA foreign_keys = OFF")
        world.sql("DELETE FROM efforts")
        world.sql("PRAGMA foreign_keys = ON")
        assert "missing row of efforts" in world.call("db.check").findings[0].detail
