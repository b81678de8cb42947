"""A table of a PostgreSQL server whose file was overwritten while the server was stopped."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from tests.postgres_server import PostgresServer
from tests.world import open_world

from ramet.config.settings import DatabaseSettings
from ramet.errors import DatabaseDamaged
from ramet.store.database.blobs import Codec
from ramet.store.database.check import check_database
from ramet.store.database.postgres.store import PostgresReadableStore
from ramet.store.database.queries import Query

PAGE = 8192
_READ = Query("read", "", "SELECT id, data FROM blobs")


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    folder = Path(tempfile.mkdtemp(prefix="ramet-pg-"))
    try:
        server = PostgresServer(folder)
    except ImportError as error:
        shutil.rmtree(folder, ignore_errors=True)
        if os.environ.get("CI") == "true":
            pytest.fail(str(error))
        pytest.skip(f"{error}: pip install -e '.[dev]'")
    yield server
    server.close()
    shutil.rmtree(folder, ignore_errors=True)


def overwrite_blobs(server: PostgresServer) -> None:
    with closing(psycopg.connect(server.url, autocommit=True)) as database:
        ((data, file),) = database.execute(
            "SELECT current_setting('data_directory'), pg_relation_filepath('blobs')"
        ).fetchall()
    server.stop()
    with Path(data, file).open("r+b") as relation:
        relation.write(b"\xff" * PAGE)
    server.start()


@pytest.mark.slow
@pytest.mark.requirement("R464")
def test_a_damaged_table_is_a_finding_and_a_sign(server: PostgresServer, tmp_path: Path) -> None:
    with open_world(tmp_path, server.url) as world:
        session = world.session(agent_id="ada")
        for number in range(20):
            world.call("db.messages.append", session_id=session.id, role="user", content=f"turn {number} " * 40)
    overwrite_blobs(server)
    store = PostgresReadableStore(DatabaseSettings(type="postgres", url=server.url))
    with closing(store.connect_reader()) as reader, pytest.raises(DatabaseDamaged, match="invalid page"):
        reader.all(_READ)
    assert store.signs.first is not None
    report = check_database(store, Codec())
    assert {finding.check for finding in report.findings} >= {"blobs", "commits"}
