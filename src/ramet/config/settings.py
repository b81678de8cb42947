"""The settings: what the configuration keys come to. Everything below the entry points is given these values.

Each key's purpose and bounds are said here, in its annotation, and nowhere else: `ramet config`, the reference
and the error messages read them from it.
"""

from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct


class DatabaseSettings(Struct, frozen=True, kw_only=True):
    """Where everything is remembered."""

    type: Annotated[
        Literal["sqlite", "postgres"],
        Meta(description="Which database: one file of your own, or a server that a team shares."),
    ] = "sqlite"
    path: Annotated[str | None, Meta(description="The SQLite file. Default: ramet.db in RAMET_HOME.")] = None
    url: Annotated[str | None, Meta(description="The PostgreSQL server, as postgres://user@host/name.")] = None
    durability: Annotated[
        Literal["full", "process"],
        Meta(description="full: an acknowledged write survives power loss; process: it survives any crash of Ramet."),
    ] = "full"
    pool_size: Annotated[
        int, Meta(ge=1, le=64, description="How many PostgreSQL connections change things at once.")
    ] = 4
    retries: Annotated[
        int,
        Meta(
            ge=1,
            le=1000,
            description="How often a PostgreSQL transaction that lost against another is tried again.",
        ),
    ] = 50


class DaemonSettings(Struct, frozen=True, kw_only=True):
    """The process that stays up."""

    autostart: Annotated[bool, Meta(description="Whether a command starts the daemon where none runs.")] = True
    start_timeout_seconds: Annotated[
        int, Meta(ge=1, le=600, description="How long a command waits for a daemon that it started.")
    ] = 30
    idle_exit_seconds: Annotated[
        int, Meta(ge=0, le=2**31, description="Stop after so long without a connection; 0 means never.")
    ] = 0
    drain_seconds: Annotated[
        int, Meta(ge=0, le=600, description="How long a stopping daemon waits for requests under way.")
    ] = 10
    max_request_bytes: Annotated[int, Meta(ge=1024, le=2**30, description="The largest request line.")] = (
        8 * 1024 * 1024
    )
    log_max_bytes: Annotated[
        int, Meta(ge=10_000, le=2**40, description="The size at which the log file is rotated.")
    ] = 5 * 1024 * 1024
    log_files: Annotated[int, Meta(ge=1, le=100, description="How many rotated log files are kept.")] = 3


class QuerySettings(Struct, frozen=True, kw_only=True):
    """`ramet query`."""

    timeout_seconds: Annotated[int, Meta(ge=1, le=3600, description="How long one query may run.")] = 30
    max_rows: Annotated[int, Meta(ge=1, le=10_000_000, description="How many rows one query may return.")] = 10_000


class LimitSettings(Struct, frozen=True, kw_only=True):
    """How much one request may ask for, and how long things are kept."""

    page_max: Annotated[
        int,
        Meta(ge=1, le=100_000, description="The longest page of a list; a larger limit is cut to this."),
    ] = 1000
    idempotency_days: Annotated[
        int, Meta(ge=1, le=3650, description="How long a reply is kept for its idempotency key.")
    ] = 7
    stale_seconds: Annotated[
        int,
        Meta(ge=1, le=2**31, description="An open session that is silent for so long is stale."),
    ] = 300


class Settings(Struct, frozen=True, kw_only=True):
    """All of it."""

    database: DatabaseSettings = DatabaseSettings()
    daemon: DaemonSettings = DaemonSettings()
    query: QuerySettings = QuerySettings()
    limits: LimitSettings = LimitSettings()


class Places(Struct, frozen=True, kw_only=True):
    """Where one database's daemon keeps its things."""

    home: Path
    database: Path | None
    """The SQLite file; None on PostgreSQL."""
    socket: Path
    pid_file: Path
    log_file: Path
    backups: Path
    lock_file: Path
    """Held by whoever has the database open: the daemon, or a program that called `ramet.open`."""
