"""A PostgreSQL server and its clients notice when the other side is gone, in bounded time."""

import time

import pytest

from ramet.errors import DatabaseUnreachable
from ramet.store.database.postgres.connection import connect
from ramet.store.database.queries import Query

ONE = Query("one", "SELECT 1", "SELECT 1")


def setting(url: str, name: str) -> str:
    connection = connect(url)
    row = connection.database.execute(f"SHOW {name}".encode()).fetchone()
    connection.close()
    assert row is not None
    return str(row[0])


@pytest.mark.requirement("R310")
def test_a_transaction_that_its_client_left_open_lets_go_of_its_locks(postgres_url: str) -> None:
    assert setting(postgres_url, "idle_in_transaction_session_timeout") == "10s"
    left, other = connect(postgres_url), connect(postgres_url)
    left.database.execute("SET idle_in_transaction_session_timeout = '200ms'")
    left.begin()
    left.database.execute("SELECT pg_advisory_xact_lock(42)")
    began = time.monotonic()
    other.database.execute("SELECT pg_advisory_xact_lock(42)")
    assert 0.1 < time.monotonic() - began < 10
    with pytest.raises(DatabaseUnreachable):
        left.all(ONE)
    assert left.is_broken
    left.close()
    other.close()


def test_what_the_url_says_of_its_connection_counts(postgres_url: str) -> None:
    connection = connect(postgres_url)
    assert connection.database.info.get_parameters()["tcp_user_timeout"] == "25000"
    connection.close()
    connection = connect(f"{postgres_url}&tcp_user_timeout=1234&application_name=mine")
    known = connection.database.info.get_parameters()
    assert (known["tcp_user_timeout"], known["application_name"]) == ("1234", "mine")
    connection.close()
