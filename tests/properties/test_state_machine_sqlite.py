"""Random lives of a SQLite database, each step compared with the plain model."""

import shutil
import tempfile
from pathlib import Path

import pytest
from tests.properties.machine import Life, bounded
from tests.world import FakeClock, World, open_in


class SqliteLife(Life):
    def open(self) -> World:
        self.folder = Path(tempfile.mkdtemp(prefix="ramet-"))
        clock = FakeClock()
        return World(open_in(self.folder, None, clock=clock), clock)

    def reopen(self, world: World) -> World:
        world.store.close()
        return World(open_in(self.folder, None, clock=world.clock), world.clock)

    def close(self, world: World) -> None:
        world.store.close()
        shutil.rmtree(self.folder, ignore_errors=True)


TestSqliteLife = pytest.mark.timeout(1800)(SqliteLife.TestCase)
TestSqliteLife.settings = bounded(60)
