"""What `ramet doctor` says about the connections to a PostgreSQL server."""

import psycopg
import pytest

from ramet.cli.commands.system.health import connection_findings
from ramet.config.settings import DatabaseSettings
from ramet.protocol.system.database import QueryResult

pytestmark = pytest.mark.requirement("R469")


def result(used: int, most: int) -> QueryResult:
    return QueryResult(columns=["used", "most"], rows=[[used, most]], truncated=False)


def test_doctor_warns_of_a_server_that_gives_fewer_connections_than_a_daemon_uses() -> None:
    settings = DatabaseSettings(type="postgres", pool_size=8)
    enough, few = connection_findings.find(settings, result(7, 97)), connection_findings.find(settings, result(2, 2))
    assert (enough.result, few.result) == ("ok", "warn")
    assert "7 of the 97 connections" in enough.text
    assert "up to 21" in few.text
    assert "CONNECTION LIMIT" in str(few.fix)


def test_the_question_can_be_answered_by_a_server(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as server:
        rows = server.execute(connection_findings.SQL.encode()).fetchall()
    assert 0 <= rows[0][0] < rows[0][1] <= 1000
