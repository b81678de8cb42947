"""Operations through the daemon, one connection for all threads.

A connection that breaks is not mended under a call: whether the request was done is then not known, so the caller
is told. The next call connects anew, and starts a daemon where that is allowed.
"""

import os
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import Any, Self

import msgspec

from ramet.client.autostart import ensure
from ramet.client.connection import Connection
from ramet.client.target import Target, find_entrance
from ramet.config.layers import load
from ramet.config.places import find_places
from ramet.config.settings import Settings
from ramet.errors import DaemonUnreachable
from ramet.library.transport import Subscription, encode_params
from ramet.model.event import Event
from ramet.protocol.operations import Operation
from ramet.protocol.wire.exchange import decode_line


class RemoteTransport:
    """Asks the daemon."""

    def __init__(
        self, target: Target, settings: Settings, *, autostart: bool | None, timeout_seconds: float | None
    ) -> None:
        self._target = target
        self._autostart = settings.daemon.autostart if autostart is None else autostart
        self._start_timeout_seconds = settings.daemon.start_timeout_seconds
        self._timeout_seconds = timeout_seconds
        self._lock = Lock()
        self._is_closed = False
        self._connection: Connection | None = self._connect()

    @classmethod
    def connect(
        cls, project: str | PathLike[str] | None, *, autostart: bool | None, timeout_seconds: float | None
    ) -> Self:
        """To the daemon of the database that is configured in `project`, or in the current directory."""
        configuration = load(os.environ, Path(project or Path.cwd()).absolute(), {})
        settings = configuration.settings
        places = find_places(os.environ, settings)
        target = Target(
            socket=str(places.socket),
            settings=msgspec.json.encode(configuration.owner).decode(),
            places=msgspec.json.encode(places, enc_hook=os.fspath).decode(),
            entrance=find_entrance(os.environ, str(places.socket), str(places.agents_socket)),
        )
        return cls(target, settings, autostart=autostart, timeout_seconds=timeout_seconds)

    def call(self, operation: Operation, params: Mapping[str, Any]) -> Any:
        encoded = encode_params(operation, params)
        with self._lock:
            line = self._ask(operation.name, encoded)
        return decode_line(operation.request, line)

    def subscribe(self, operation: Operation, params: Mapping[str, Any]) -> Subscription:
        """On a connection of its own, so that events and replies do not mix."""
        encode_params(operation, params)
        connection = self._connect()
        try:
            events = connection.subscribe(**params)
        except BaseException:
            connection.close()
            raise
        return Subscription(_typed(events), connection.close)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            if self._connection is not None:
                self._connection.close()

    def _ask(self, method: str, params: bytes) -> bytes:
        if self._connection is None:
            self._connection = self._connect()
        try:
            return self._connection.call_raw(method, params)
        except BaseException:
            # The reply may still be under way, and would be taken for the answer to the next request.
            self._connection.close()
            self._connection = None
            raise

    def _connect(self) -> Connection:
        if self._is_closed:
            raise DaemonUnreachable(
                "this connection has been closed", fix="use the object inside its `with` block, or connect again"
            )
        return ensure(
            self._target,
            autostart=self._autostart,
            start_timeout_seconds=self._start_timeout_seconds,
            timeout_seconds=self._timeout_seconds,
        )


def _typed(events: Iterator[dict[str, Any]]) -> Iterator[Event]:
    for event in events:
        yield msgspec.convert(event, Event)
