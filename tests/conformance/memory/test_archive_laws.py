"""Whatever is done to a history, its archive imports to the same hashes and compiles to the same messages."""

import tempfile
from pathlib import Path

import pytest
from tests.conformance.history import life
from tests.conformance.history.life import Step
from tests.conformance.memory import archive_steps as steps
from tests.world import World, open_world


@pytest.mark.requirement("R398")
def test_random_histories_come_back_with_identical_hashes(database_url: str | None) -> None:
    def law(world: World, taken: list[Step]) -> None:
        life.live(world, taken)
        with tempfile.TemporaryDirectory() as folder, open_world(Path(folder), None) as other:
            steps.import_into(other, steps.export(world, Path(folder)))
            assert steps.hashes(other) == steps.hashes(world)
            assert life.everything(other) == life.everything(world)
            assert steps.findings(other) == []

    verbs = ("say", "say", *life.REWRITES, "annotate", "tag", "branch")
    life.prove(database_url, life.steps(verbs, most=12), law, examples=8)
