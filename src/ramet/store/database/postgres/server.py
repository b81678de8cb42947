"""One PostgreSQL server, as one process uses it: how to connect, how long to wait, and what to do if it is silent."""

import random
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import ConnectionTimeout

from ramet.errors import ConnectionsExhausted, DatabaseUnreachable, InvalidSetting
from ramet.store.database.postgres.connection import Patience, PostgresConnection, connect
from ramet.store.database.postgres.contact import Contact
from ramet.store.database.postgres.server_clock import ServerClock
from ramet.store.database.postgres.statement_watch import StatementWatch

_CONNECT_SECONDS = 10
_PROBE_SECONDS = 5
_LONG_SECONDS = 900
_REST_SECONDS = 1.0
"""How long a server that was silent is not asked for another connection: all that waits would wait for it in turn."""
_WAIT_SECONDS = 5.0
"""How long to wait for a connection if the server has none left."""
_LEAST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.02, 0.2
_SCARCE_SECONDS = 60.0
_GONE_AFTER_MS = 500
"""How often the server looks whether a reader is still there."""


class Server:
    """Opens connections. Used by all threads."""

    def __init__(self, url: str, timeout_seconds: int, *, synchronous: bool = True) -> None:
        self.line = _line(url, min(timeout_seconds, _CONNECT_SECONDS))
        self._synchronous = synchronous
        self.clock = ServerClock()
        self.contact = Contact(self.clock)
        self.watch = StatementWatch(self._answers)
        self._silent_until = 0.0
        self._scarce_until = 0.0
        self._is_narrow = False
        self._short = Patience(timeout_seconds, max(timeout_seconds // 2, 1), timeout_seconds + 2)
        self._long = Patience(_LONG_SECONDS, timeout_seconds, timeout_seconds, is_long=True)
        self._migrating = Patience(0, timeout_seconds, timeout_seconds, is_long=True)

    def connect(self, *, is_long: bool = False) -> PostgresConnection:
        """A connection that may write. `is_long`: for statements that may take long."""
        return self._open(self._long if is_long else self._short)

    def connect_to_listen(self) -> PostgresConnection:
        """One that the daemon can do without: whoever has it says when the server was away."""
        if self.is_scarce:
            self.contact.forget()  # nobody asks, so no answer is owed
            raise ConnectionsExhausted
        self.contact.expect()
        return self._open(self._short, is_optional=True)

    def connect_to_migrate(self) -> PostgresConnection:
        """One whose statements take as long as they need."""
        return self._open(self._migrating)

    def connect_reader(self, *, is_long: bool) -> PostgresConnection:
        """One that cannot write."""
        connection = self._open(self._long if is_long else self._short)
        connection.database.read_only = True
        connection.database.execute("SET default_transaction_read_only = on")
        # A reader may be killed at any moment. Without this the server would go on with its query to the end.
        with suppress(psycopg.Error):  # of an older server, or on a system that cannot tell
            connection.database.execute(f"SET client_connection_check_interval = {_GONE_AFTER_MS}")
        return connection

    def close(self) -> None:
        """Watch no connection any more."""
        self.watch.close()

    def _open(self, patience: Patience, *, is_optional: bool = False) -> PostgresConnection:
        """Wait a moment for a connection that is in use elsewhere, unless this one is only good to have."""
        deadline = time.monotonic() + (0 if is_optional else min(_WAIT_SECONDS, self._short.statement))
        while True:
            try:
                return self._connect(patience)
            except ConnectionsExhausted:
                self.note_scarcity()
                if time.monotonic() > deadline:
                    raise
            time.sleep(random.uniform(_LEAST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS))  # noqa: S311

    @property
    def is_scarce(self) -> bool:
        """Whether the server had no connection left a while ago: then nobody keeps one that is not in use."""
        return self._is_narrow or time.monotonic() < self._scarce_until

    def learn_limit(self, connections: int, needed: int) -> None:
        """How many connections the server gives us at most."""
        self._is_narrow = connections < needed

    def note_scarcity(self) -> None:
        """There is no connection left, here or in another process of ours."""
        self._scarce_until = time.monotonic() + _SCARCE_SECONDS
        self.watch.release_idle()

    def _connect(self, patience: Patience) -> PostgresConnection:
        if self.watch.is_given_up or time.monotonic() < self._silent_until:
            raise DatabaseUnreachable("the PostgreSQL server does not answer")
        try:
            connection = connect(
                self.line, patience=patience, synchronous=self._synchronous, clock=self.clock, watch=self.watch
            )
        except DatabaseUnreachable as error:
            if isinstance(error.__cause__, ConnectionTimeout):
                self._silent_until = time.monotonic() + _REST_SECONDS
            raise
        connection.contact = self.contact
        return connection

    def _answers(self) -> bool:
        """Whether the server says anything to a new connection, be it that there are too many."""
        try:
            psycopg.connect(**{**self.line, "connect_timeout": _PROBE_SECONDS}).close()
        except ConnectionTimeout:
            return False
        except psycopg.Error:
            return True
        return True


def _line(url: str, connect_seconds: int) -> Mapping[str, Any]:
    """What a connection is made with. Of several servers the one is meant that can be written to."""
    try:
        given = conninfo_to_dict(url)
    except psycopg.Error as error:
        raise InvalidSetting(
            "database.url is not the URL of a PostgreSQL server",
            field="database.url",
            fix="set it to a URL such as postgres://user@host/name",
        ) from error
    has_several = "," in f"{given.get('host', '')}{given.get('hostaddr', '')}"
    attributes = {"target_session_attrs": "read-write"} if has_several else {}
    return {"connect_timeout": connect_seconds, **attributes, **given}
