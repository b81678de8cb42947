"""check: finds every hash that is not that of its content, and every pointer that leads to nothing."""

from collections.abc import Callable

import pytest
from tests.conformance.history.story import (
    compress,
    findings,
    fork,
    is_whole,
    merge,
    say,
    spawn,
)
from tests.world import World


def build(world: World) -> list[str]:
    """A history with a bit of everything."""
    said = say(world, "a" * 200, "b", "c", "d")
    fork(world, "side", said[1])
    say(world, "s", branch="side")
    world.call("history.edit", branch="main", target=said[0], text="A")
    compress(world, said[1], said[2], text="b, c")
    world.call("history.undo", branch="main")
    merge(world, "side")
    spawn(world, "kid")
    world.call("history.collapse", child="kid", text="did it")
    return said


def test_a_history_that_was_only_used_is_whole(world: World) -> None:
    build(world)
    report = world.call("history.check")
    assert report.passed
    assert report.findings == []
    assert report.counts["commits"] == world.sql("SELECT count(*) FROM commits")[0][0]
    assert world.call("db.check") == report


DAMAGE: dict[str, tuple[str, Callable[[World], None]]] = {
    "altered bytes": (
        "blob",
        lambda world: damage(world, "UPDATE blobs SET data = :new WHERE size = 1", new=b"!"),
    ),
    "bytes that do not unpack": (
        "blob",
        lambda world: damage(world, "UPDATE blobs SET data = :new WHERE size = 200", new=b"not zstd"),
    ),
    "a wrong size": ("blob", lambda world: damage(world, "UPDATE blobs SET size = 7 WHERE size = 1")),
    "an altered role": (
        "its hash does not match its content",
        lambda world: damage(world, "UPDATE commits SET role = 'system' WHERE seq = 2"),
    ),
    "altered metadata": (
        "its hash does not match its content",
        lambda world: damage(world, """UPDATE commits SET metadata = '{"x":1}' WHERE seq = 1"""),
    ),
    "a changed time": (
        "its hash does not match its content",
        lambda world: damage(world, "UPDATE commits SET at_ms = 5 WHERE seq = 1"),
    ),
    "another content": (
        "its hash does not match its content",
        lambda world: damage(world, "UPDATE commits SET blob_id = (SELECT max(id) FROM blobs) WHERE seq = 1"),
    ),
    "a wrong parent": (
        "its hash does not match its content",
        lambda world: damage(world, "UPDATE commits SET parent_id = (SELECT min(id) FROM commits) WHERE seq = 3"),
    ),
    "a wrong place": (
        "its position is 90",
        lambda world: damage(world, "UPDATE commits SET seq = 90 WHERE seq = (SELECT max(seq) FROM commits)"),
    ),
    "a wrong sum": (
        "running token count",
        lambda world: damage(world, "UPDATE commits SET token_sum = token_sum + 1 WHERE seq = 2"),
    ),
    "a dangling branch": (
        "branch main points at commit 999",
        lambda world: damage(world, "UPDATE branches SET commit_id = 999 WHERE name = 'main'"),
    ),
    "a missing content": (
        "points at blob",
        lambda world: damage(world, "DELETE FROM blobs WHERE id = (SELECT min(blob_id) FROM commits)"),
    ),
    "a missing parent": (
        "points at commit",
        lambda world: damage(world, "UPDATE commits SET parent_id = 999 WHERE seq = 2"),
    ),
    "a missing target": (
        "points at commit 999",
        lambda world: damage(world, "UPDATE commits SET target_id = 999 WHERE target_id IS NOT NULL"),
    ),
    "a missing second parent": (
        "points at commit 999",
        lambda world: damage(world, "UPDATE commits SET second_parent_id = 999 WHERE second_parent_id IS NOT NULL"),
    ),
    "a move to nowhere": (
        "points at commit 999",
        lambda world: damage(world, "UPDATE moves SET old_commit_id = 999 WHERE old_commit_id IS NOT NULL"),
    ),
}


def damage(world: World, statement: str, **params: object) -> None:
    world.sql(statement, **params)


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_found(world: World, kind: str) -> None:
    build(world)
    finding, spoil = DAMAGE[kind]
    assert is_whole(world)
    spoil(world)
    assert any(finding in found for found in findings(world)), findings(world)
    assert not is_whole(world)
