"""Every schema that ever landed opens: it is migrated, keeps its rows, is what a new one is, and can be worked with."""

from pathlib import Path
from typing import Any

import pytest
from tests.store.landed_schemas import SCHEMAS, count_rows, exercise, find, load, name
from tests.world import World, open_in, open_world

from ramet.store.database.schema.migrations import load_migrations

REPAIRED = {
    "b5be0a13": ["0001_history", "0002_work"],
    "83891017": ["0004_annotations", "0004_spawn_pointers"],
    "42209b82": ["0006_notices", "0006_run_agent"],
    "efcd64b6": ["0008_indexes"],
}
"""What has to be repaired in the databases that superseded texts made, by their commit."""
FEW = ("b5be0a13", "83891017", "42209b82", "efcd64b6", SCHEMAS[-1]["commit"])
"""Those of PostgreSQL that every run of the tests opens: the superseded texts, and the newest."""


def _open_and_use(schema: dict[str, Any], folder: Path, url: str | None) -> None:
    load(schema, folder, url)
    with open_world(folder, url) as world:
        done = world.store.migrated
        assert (done.before, done.repaired) == (schema["version"], REPAIRED.get(schema["commit"], []))
        assert done.differences == []
        assert world.store.schema_differences() == []
        assert count_rows(world, list(schema["rows"])) == schema["rows"]
        assert world.call("db.check").findings == []
        assert _hashes(world) == [step.hash for step in load_migrations("sqlite" if url is None else "postgres")]
        exercise(world, folder)
        assert world.call("db.check").findings == []
    again = open_in(folder, url)
    again.close()
    assert (again.migrated.applied, again.migrated.repaired, again.migrated.backup) == ([], [], None)


def _hashes(world: World) -> list[str]:
    return [digest for (digest,) in world.sql("SELECT hash FROM schema_migrations ORDER BY number")]


@pytest.mark.requirement("R463", "R315")
@pytest.mark.parametrize("schema", SCHEMAS, ids=name)
def test_a_file_of_every_schema_that_landed_opens_and_can_be_worked_with(
    schema: dict[str, Any], tmp_path: Path
) -> None:
    _open_and_use(schema, tmp_path, None)


@pytest.mark.requirement("R463", "R315")
@pytest.mark.parametrize("commit", FEW)
def test_a_server_of_a_superseded_or_the_newest_schema_opens(commit: str, tmp_path: Path, postgres_url: str) -> None:
    _open_and_use(find(commit), tmp_path, postgres_url)


@pytest.mark.slow
@pytest.mark.requirement("R463", "R315")
@pytest.mark.parametrize("schema", [each for each in SCHEMAS if each["commit"] not in FEW], ids=name)
def test_a_server_of_every_other_schema_that_landed_opens(
    schema: dict[str, Any], tmp_path: Path, postgres_url: str
) -> None:
    _open_and_use(schema, tmp_path, postgres_url)
