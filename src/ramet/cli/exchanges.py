"""The ways to ask the daemon that are not one typed request at a time (`Invocation.ask`)."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from ramet.cli.invocation import Invocation
from ramet.errors import ReplyUnreadable
from ramet.protocol.operation import R, Request
from ramet.protocol.wire.exchange import decode_line

Kind = TypeVar("Kind")


def ask_many(invocation: Invocation, requests: Sequence[Request[R]]) -> list[R]:
    """The replies to requests that are sent together, in their order; the first refusal is raised when all are done."""
    if not requests:
        return []
    replies = invocation.connection.call_many([(each.op.name, _given(each)) for each in requests])
    return [read_document(reply, each.op.reply) for each, reply in zip(requests, replies, strict=True)]


def ask_as_written(invocation: Invocation, request: type[Request[R]], params: Mapping[str, Any]) -> R:
    """The reply to parameters exactly as a person wrote them: the daemon says what is wrong, and null is a value."""
    return decode_line(request, invocation.connection.call_raw(request.op.name, json.dumps(params).encode()))


def read_document(document: object, kind: type[Kind]) -> Kind:
    """A document that the daemon sent, as what it is."""
    try:
        return msgspec.convert(document, kind)
    except msgspec.ValidationError as error:
        raise ReplyUnreadable(f"the daemon's reply cannot be read: {error}") from error


def _given(request: Request[Any]) -> dict[str, Any]:
    return {name: value for name, value in msgspec.to_builtins(request).items() if value is not None}
