"""How the library performs an operation: in this process, or through the daemon.

The generated `operations` know only this; `local` and `remote` are behind it. Both take their parameters as the
wire has them, so that what one accepts or refuses the other does too.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from os import PathLike, fspath
from types import TracebackType
from typing import Any, Protocol, Self

import msgspec

from ramet.errors import InvalidParams, ReplyTooLarge
from ramet.model.event import Event
from ramet.protocol.operation import Operation, R, Request
from ramet.protocol.pages import Place, follow_places, join, paged


class Subscription:
    """Events as they happen, in order. Iterating waits for the next one, however long that takes.

    When the daemon goes, `DaemonUnreachable` is raised: subscribe again after the id of the last event seen.
    """

    def __init__(self, events: Iterator[Event], close: Callable[[], None]) -> None:
        self._events = events
        self._close = close

    def __iter__(self) -> Iterator[Event]:
        return self._events

    def close(self) -> None:
        """Ask for no more. Twice does nothing."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Transport(Protocol):
    """Runs operations. Safe to use from several threads."""

    def call(self, operation: Operation, params: Mapping[str, Any]) -> Any:
        """The reply, of the type that the operation names; a refusal is raised as its `RametError`."""

    def subscribe(self, operation: Operation, params: Mapping[str, Any]) -> Subscription:
        """The stream that the operation opens."""

    def close(self) -> None:
        """Close the database or the connection. Twice does nothing."""


class Namespace:
    """A group of operations: `r.db.effort` for those called `db.effort.…`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _call(self, request: type[Request[R]], params: Mapping[str, Any]) -> R:
        reply: R = self._transport.call(request.op, params)
        return reply

    def _call_all(self, request: type[Request[R]], params: Mapping[str, Any]) -> R:
        """The whole list, page after page; with a limit or a cursor, that page. Some requests are never in pages."""
        pages = paged(request.op)
        named = ("limit", pages.cursor, pages.unless)
        if any(params[name] is not None for name in named if name is not None):
            return self._call(request, params)
        if pages.unless is not None:
            # A whole context continues one that was made before; only one that is too large is made page by page.
            with suppress(ReplyTooLarge):
                return self._call(request, params)
        return join(request.op, self._pages(request, params))

    def _iterate(self, request: type[Request[Any]], params: Mapping[str, Any]) -> Iterator[Any]:
        """The items, with one page at a time in memory."""
        (name,) = paged(request.op).items
        return (item for page in self._pages(request, params) for item in getattr(page, name))

    def _pages(self, request: type[Request[R]], params: Mapping[str, Any]) -> Iterator[R]:
        pages = paged(request.op)

        def read(place: Place) -> R:
            return self._call(request, {**params, **place.fields(pages)})

        return follow_places(read, Place(pages.size, params[pages.cursor]))

    def _subscribe(self, request: type[Request[Any]], params: Mapping[str, Any]) -> Subscription:
        return self._transport.subscribe(request.op, params)


def encode_params(operation: Operation, params: Mapping[str, Any]) -> bytes:
    """The parameters as JSON; what JSON cannot say is refused here."""
    try:
        return msgspec.json.encode(dict(params), enc_hook=_encode_other)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidParams(
            f"a parameter of {operation.name} cannot be written as JSON: {error}",
            field="params",
            fix="give text, numbers, booleans, None, and lists and dicts of these",
        ) from error


def _encode_other(value: Any) -> Any:
    """What Python has beyond lists and dicts, and a path as its text."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    if isinstance(value, PathLike):
        return fspath(value)
    raise TypeError(f"{type(value).__name__} is not a JSON value")
