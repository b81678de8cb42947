"""A store: one open database. It hands out connections; who uses them, and when, is for its owner to say.

What only reads needs no lock, no migration and no writer: a process that answers reads opens a `ReadableStore`, while
the daemon holds the `Store`.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from ramet.clock import Clock
from ramet.protocol.system.backups import name_backup
from ramet.protocol.system.daemon import ClockSkew
from ramet.protocol.system.database import BackupReport, LogState, QueryResult
from ramet.store.database.connection import Connection
from ramet.store.database.damage_signs import DamageSigns
from ramet.store.database.schema.migrations import Dialect, Migrated
from ramet.store.database.text_rows import TextRows

Topic = Literal["work", "events"]
"""What a commit may be of interest for: everything has events, and some of it is work for somebody."""


class QueryBounds(NamedTuple):
    """How long a query may take, and which of its rows are wanted."""

    timeout_seconds: int
    max_rows: int
    max_bytes: int = 16 * 1024 * 1024
    skip: int = 0
    """How many rows came in the pages before."""


class ReadableStore(ABC):
    """What can be read of a database, beside whoever writes to it."""

    dialect: Dialect
    timeout_seconds: float = math.inf
    """How long a request waits for its turn; a file always answers."""
    signs: DamageSigns
    """Who is told of damage that any connection finds."""

    has_few_connections: bool = False
    """Whether its connections are counted, so that nobody keeps one for long without using it."""

    @property
    def is_scarce(self) -> bool:
        """Whether there were no connections left a while ago, so that nobody keeps one at all."""
        return False

    @abstractmethod
    def describe(self) -> str:
        """Where the data is, without any password."""

    @abstractmethod
    def connect_reader(self) -> Connection:
        """A connection that cannot write."""

    def clock(self, own: Clock) -> Clock:
        """The clock of everybody who uses this database; a file has that of its machine, which is given."""
        return own

    def clock_skew(self) -> ClockSkew | None:
        """How far this machine's clock is from the database's; None if that is the same clock."""
        return None

    @abstractmethod
    def query(self, sql: str, params: Sequence[object], bounds: QueryBounds) -> QueryResult:
        """Run one statement that reads, for `ramet query`."""

    @abstractmethod
    def back_up(self, target: Path) -> BackupReport:
        """Write a consistent copy to a new SQLite file, while work goes on."""

    @abstractmethod
    def measure(self) -> dict[str, int]:
        """How many bytes each table and index takes, and each further file under the name of its ending."""

    def measure_log(self) -> LogState | None:
        """The write-ahead log beside the database; None if the database keeps its own."""
        return None

    @abstractmethod
    def schema_differences(self) -> list[str]:
        """How its schema differs from the one that the migrations make."""

    @abstractmethod
    def integrity_parts(self) -> list[str]:
        """The parts in which the database can check its own files and references."""

    @abstractmethod
    def integrity(self, part: str | None = None) -> Iterator[str]:
        """What the database itself finds wrong with one of these, or with everything."""


class Store(ReadableStore):
    """What the two databases have in common for whoever holds the lock."""

    migrated: Migrated
    """What opening it did to the schema."""

    @property
    def schema_version(self) -> int:
        """The number of the last migration."""
        return self.migrated.after

    def back_up_into(self, folder: Path, label: str, clock: Clock) -> str:
        """A backup whose name tells when and why it was made."""
        return self.back_up(folder / name_backup("ramet", clock.now_ms(), label)).path

    @abstractmethod
    def connect(self) -> Connection:
        """A connection that may write."""

    @abstractmethod
    def text_rows(self, connection: Connection) -> TextRows:
        """Every text in the database, on one of its connections that may write."""

    def note_scarcity(self) -> None:
        """A process that reads got no connection: keep none that is not in use."""

    def hurry(self) -> None:
        """The daemon stops: wait no longer for a server that says nothing."""

    @abstractmethod
    def forget_deleted(self) -> None:
        """Leave nothing of what was overwritten in the log of the database, if nobody reads it just now."""

    @abstractmethod
    def erase(self) -> None:
        """Remove everything. What is left is only good for closing."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the database and its lock."""
