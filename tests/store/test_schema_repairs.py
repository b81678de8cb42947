"""Databases that superseded texts of migrations made are repaired: whole, with every row, and also after a cut."""

from pathlib import Path
from typing import Any

import pytest
from tests.store.landed_schemas import find, load, read
from tests.world import FakeClock, open_in, open_world

from ramet.errors import MigrationFailed
from ramet.faults import FaultPoint, Faults
from ramet.store.database.schema.repairs import load_repairs

SUPERSEDED = {
    "b5be0a13": ["commits", "branches", "moves", "messages"],
    "83891017": ["annotations", "spawn_pointers", "collapses"],
    "42209b82": ["efforts", "notices"],
    "efcd64b6": ["messages", "commits"],
}
"""The commits whose texts were edited afterwards, and the tables that differ."""


class CutAt(Faults):
    """Fails the n-th time that a migration or a repair says where it is."""

    def __init__(self, number: int) -> None:
        self.left = number

    def reach(self, point: FaultPoint) -> None:
        self.left -= point == "during_migration"
        if self.left == 0:
            raise RuntimeError("the power went")


def is_kept(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> bool:
    """Whether each row is there, with the value of each column that is still there."""
    columns = set(before[0]) & set(after[0]) if before and after else set()
    rows = [[sorted((name, str(row[name])) for name in columns) for row in each] for each in (before, after)]
    return sorted(rows[0]) == sorted(rows[1])


def _cut_and_finish(commit: str, folder: Path, url: str | None) -> None:
    tables = SUPERSEDED[commit]
    load(find(commit), folder, url)
    before = {table: read(folder, url, f"SELECT * FROM {table}") for table in tables}
    seen: list[str] = []
    cut = 1
    while True:
        with pytest.raises(MigrationFailed) as failure:
            open_in(folder, url, faults=CutAt(cut), clock=FakeClock(len(seen)))
        assert "a backup is at" in failure.value.message
        step = failure.value.message.partition(" failed")[0]
        if step.startswith("migration"):
            break
        # What was done before the cut is not done again: the next repair is cut from its second statement on.
        cut = cut + 1 if step in seen or not seen else 2
        seen.append(step)
    with open_world(folder, url) as world:
        assert world.store.schema_differences() == []
    dialect = "sqlite" if url is None else "postgres"
    statements = {f"repair {repair.name}": len(repair.statements) for repair in load_repairs(dialect)}
    assert {step: seen.count(step) for step in seen} == {step: statements[step] + 1 for step in seen}
    assert [table for table in tables if not is_kept(before[table], read(folder, url, f"SELECT * FROM {table}"))] == []
    assert not list((folder / "backups").glob("*.partial*"))


@pytest.mark.requirement("R463")
@pytest.mark.parametrize("commit", SUPERSEDED)
def test_a_repair_that_is_cut_at_each_statement_is_done_the_next_time_and_keeps_every_row(
    commit: str, tmp_path: Path
) -> None:
    _cut_and_finish(commit, tmp_path, None)


@pytest.mark.slow
@pytest.mark.requirement("R463")
@pytest.mark.parametrize("commit", SUPERSEDED)
def test_a_repair_on_a_server_that_is_cut_is_done_the_next_time_and_keeps_every_row(
    commit: str, tmp_path: Path, postgres_url: str
) -> None:
    _cut_and_finish(commit, tmp_path, postgres_url)
