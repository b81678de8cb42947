"""Random lives of a PostgreSQL database, each step compared with the same model."""

import shutil
import tempfile
from pathlib import Path
from typing import ClassVar

import pytest
from tests.properties.machine import Life, bounded
from tests.world import FakeClock, World, open_in


class PostgresLife(Life):
    url: ClassVar[str]

    def open(self) -> World:
        self.folder = Path(tempfile.mkdtemp(prefix="ramet-"))
        return self._connect(FakeClock())

    def reopen(self, world: World) -> World:
        world.db.close()
        world.store.close()
        return self._connect(world.clock)

    def close(self, world: World) -> None:
        world.empty()
        world.db.close()
        world.store.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _connect(self, clock: FakeClock) -> World:
        return World(open_in(self.folder, self.url, clock=clock), clock)


@pytest.fixture(autouse=True)
def _on_postgres(postgres_url: str) -> None:
    PostgresLife.url = postgres_url


TestPostgresLife = pytest.mark.timeout(1800)(PostgresLife.TestCase)
TestPostgresLife.settings = bounded(10)
