"""Large request lines: decoding them, and preparing the changes in them, wherever that is done.

Redacting and compressing 8 MiB takes 150 ms, and decoding a line that has millions of empty lists in it a second and a
half. Nothing else would be answered meanwhile, so a large line is opened in another process
(`preparation_process`). A hook is not, because an agent waits for it, and its shim sends at most 1 MiB, as a
text. Neither is a part of a request, which is a text too.
"""

import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

from msgspec import Raw, UnsetType

from ramet.engine import Engine, Ready
from ramet.errors import InvalidRequest, RametError, RequestTooLarge
from ramet.protocol.operation import Change, Request
from ramet.protocol.wire import frames
from ramet.protocol.wire.frames import RequestId

LARGE_BYTES = 64 * 1024
"""A line above this is opened elsewhere. Up to this, opening takes 2 ms, and passing it on half of that."""

MAX_BATCH = 1000
"""How many requests a batch may hold: its replies are held together until the last is there."""

_MAX_VALUES = 50_000
"""How many values a large request may have: the event loop has to take over each of them, and so many take 14 ms. A
piece of an import, which has the most, has at most 20,000.
"""

_SIMPLE = (b'"method":"hooks.event"', b'"method":"daemon.part"')
_SIMPLE_BYTES = 5 * 1024 * 1024 // 2
"""A text of 1 MiB can have twice its size as JSON."""
_HEAD_BYTES = 64


class OpenedRequest(NamedTuple):
    """One request of a line, or the error in its place."""

    id: RequestId | UnsetType = None
    request: Request[Any] | None = None
    prepared: Ready | None = None
    """The request, prepared, if it is a change that needs nothing else first."""
    error: RametError | None = None
    failure: str = ""
    """For the daemon's log, which no other process writes to: the traceback of an error that was not foreseen."""


class OpenedLine(NamedTuple):
    """The requests of a line."""

    requests: list[OpenedRequest]
    is_batch: bool = False


OpenLarge = Callable[[bytes, Callable[[OpenedLine], None]], None]
"""Opens a line, and calls the function with the result, both on the event loop's thread."""


def is_large(line: bytes) -> bool:
    """Whether to open a line elsewhere."""
    if len(line) <= LARGE_BYTES:
        return False
    head = line[:_HEAD_BYTES]
    return len(line) > _SIMPLE_BYTES or not any(method in head for method in _SIMPLE)


def open_large(line: bytes, engine: Engine) -> OpenedLine:
    """Decode a line, and prepare the changes in it. Whatever is wrong with it is part of the result."""
    try:
        documents = frames.split_line(line)
        if documents is None:
            return OpenedLine([_open(line, engine)])
        if not 0 < len(documents) <= MAX_BATCH:
            raise InvalidRequest(f"a batch has 1 to {MAX_BATCH} requests, not {len(documents)}")
    except RametError as error:
        return OpenedLine([OpenedRequest(error=error)])
    return OpenedLine([_open(document, engine) for document in documents], is_batch=True)


def _open(document: bytes | Raw, engine: Engine) -> OpenedRequest:
    try:
        frame = frames.decode_frame(document)
    except RametError as error:
        return OpenedRequest(frames.salvage_id(document), error=error)
    try:
        operation = frames.find_operation(frame.method)
        request = frames.decode_params(operation, frame.params)
        _refuse_many_values(document, request)
        needs_more = operation.host != "engine" or request.needs_model() or request.reads_first()
        if needs_more or not isinstance(request, Change):
            return OpenedRequest(frame.id, request)
        call = engine.prepare(operation, request, "")
        return OpenedRequest(frame.id, call.request, Ready(call=call))
    except RametError as error:
        return OpenedRequest(frame.id, error=error)
    except Exception:  # noqa: BLE001 - whatever a client sends, its connection lives on
        internal = RametError("internal error in the daemon; its log has the details")
        return OpenedRequest(frame.id, error=internal, failure=traceback.format_exc())


def _refuse_many_values(document: bytes | Raw, request: Request[Any]) -> None:
    text = bytes(document)
    if text.count(b",") < _MAX_VALUES:  # most have far fewer, and are not walked through
        return
    count, level = 0, [request]
    while level:
        level = [inner for value in level for inner in frames.inner_values(value)]
        count += len(level)
        if count > _MAX_VALUES:
            raise RequestTooLarge(
                f"the request has more than {_MAX_VALUES} values", field="params", fix="send them in several requests"
            )
