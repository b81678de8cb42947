"""News on PostgreSQL: what other daemons and programs commit, heard on a connection of its own.

It is only ever a reason to look: whoever misses one looks again by itself after a while.
"""

from collections.abc import Callable
from typing import Any

import psycopg

from ramet.store.database.postgres.connection import PostgresConnection
from ramet.store.database.postgres.contact import Contact, Outage
from ramet.store.database.store import Topic

_TOPICS: dict[str, Topic] = {"ramet_work": "work", "ramet_events": "events"}


class News:
    """An ear on the server, which can also speak. Not durable: what it says is of no use later."""

    def __init__(self, connection: PostgresConnection, contact: Contact) -> None:
        self._connection = connection
        self._contact = contact
        self._heard: list[psycopg.Notify] = []
        try:
            self._connection.database.add_notify_handler(self._heard.append)
            self._schema = self._ask("SELECT current_schema()")
            for channel in _TOPICS:
                self._ask(f"LISTEN {channel}")
        except BaseException:
            self.close()
            raise

    def fileno(self) -> int:
        """What becomes readable when there may be something to hear."""
        return self._connection.database.fileno()

    def hear(self) -> set[Topic]:
        """What there is news of; it does not wait."""
        server = self._connection.database.pgconn
        try:
            server.consume_input()
        except psycopg.Error as error:
            raise self._connection.explain(error) from error
        while (notify := server.notifies()) is not None:
            channel, payload = (text.decode(errors="replace") for text in (notify.relname, notify.extra))
            self._heard.append(psycopg.Notify(channel, payload, notify.be_pid))
        topics = {_TOPICS[notify.channel] for notify in self._heard if self._is_ours(notify)}
        self._heard.clear()
        return topics

    def tell(self) -> None:
        """Something was committed that others may want to read."""
        self._ask("SELECT pg_notify('ramet_events', current_schema())")

    def ask(self, tell: Callable[[PostgresConnection, Outage], None]) -> None:
        """See whether the server answers, by its clock. `tell` is called if it did not for a long time."""
        self._contact.expect()
        self._connection.measure_clock(always=True)
        self._contact.answered(lambda outage: tell(self._connection, outage))

    def _ask(self, statement: str) -> Any:
        try:
            with self._connection.waiting():
                cursor = self._connection.database.execute(statement.encode())
            return cursor.fetchone()[0] if cursor.description else None  # type: ignore[index]
        except psycopg.Error as error:
            raise self._connection.explain(error) from error

    def _is_ours(self, notify: psycopg.Notify) -> bool:
        """Whether it is news of this database, and not what we have just said ourselves."""
        return notify.payload == self._schema and notify.pid != self._connection.database.info.backend_pid

    def close(self) -> None:
        """Hear no more."""
        self._connection.close()
