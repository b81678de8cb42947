"""What `ramet doctor` says about connections to a PostgreSQL server: how many there may be, and what a daemon needs."""

from ramet.cli.commands.system.health.database_findings import Found
from ramet.config.settings import OTHER_CONNECTIONS, DatabaseSettings
from ramet.protocol.system.database import QueryResult

SQL = """
SELECT
  (SELECT count(*) FROM pg_stat_activity WHERE application_name = 'ramet' AND usename = current_user),
  least(
    CAST(current_setting('max_connections') AS integer)
      - CAST(current_setting('superuser_reserved_connections') AS integer),
    (SELECT CASE WHEN rolconnlimit < 0 THEN 1000000 ELSE rolconnlimit END
     FROM pg_roles WHERE rolname = current_user),
    (SELECT CASE WHEN datconnlimit < 0 THEN 1000000 ELSE datconnlimit END
     FROM pg_database WHERE datname = current_database())
  )
"""
_FIX = "raise max_connections of the server or CONNECTION LIMIT of the role, or lower database.pool_size"


def find(settings: DatabaseSettings, answer: QueryResult) -> Found:
    """Whether the server lets this daemon have the connections that it may need."""
    used, most = (int(number) for number in answer.rows[0])
    needed = settings.pool_size + OTHER_CONNECTIONS
    detail = f"Ramet has {used} of the {most} connections that the server gives it; each daemon uses up to {needed}"
    if most < needed:
        return Found("warn", f"{detail}. With fewer, requests wait for each other", _FIX)
    return Found("ok", detail)
