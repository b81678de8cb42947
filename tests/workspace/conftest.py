"""A repository of a user who has configured nothing."""

from pathlib import Path

import pytest
from tests.workspace.repositories import Shop


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """A project with one commit, and room for its worktrees."""
    return Shop(tmp_path)
