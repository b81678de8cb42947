"""An archive imports again to the same histories, once, into any database; and a bad one leaves nothing behind."""

from pathlib import Path

import pytest
from tests.conformance.memory import archive_steps as steps
from tests.world import World


@pytest.mark.requirement("R398")
def test_an_archive_imports_to_identical_hashes_and_a_second_import_writes_no_row(
    world: World, tmp_path: Path, migrated_file: Path
) -> None:
    steps.fill(world)
    path = steps.export(world, tmp_path)
    with steps.another(tmp_path, migrated_file) as other:
        report = steps.import_into(other, path)
        assert steps.hashes(other) == steps.hashes(world)
        assert steps.counts(other) == steps.counts(world)
        assert steps.findings(other) == []
        assert report.renamed == {}
        before = other.dump()
        again = steps.import_into(other, path)
        assert again.added == {}
        assert other.dump() == before
