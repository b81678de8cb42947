"""A machine on each database."""

from pathlib import Path

import pytest
from tests.runner.desk import Desk
from tests.workspace.repositories import Shop
from tests.world import World


@pytest.fixture
def desk(world: World, tmp_path: Path) -> Desk:
    """A project in a repository, and an empty queue."""
    folder = tmp_path / "disk"
    folder.mkdir()
    return Desk(world, Shop(folder))
