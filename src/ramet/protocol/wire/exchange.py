"""One request over a connection: encode its parameters as JSON, and decode the line that holds its reply or error."""

import json
from functools import cache
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ramet.errors import DaemonError, ParseError, RametError, ReplyUnreadable
from ramet.protocol.operation import R, Request, decode_reply


class _Line(Struct, frozen=True):
    """A reply line: the result, whose type depends on the operation, or the error."""

    result: Raw = Raw()
    error: dict[str, Any] | None = None


class _Numbered(Struct, frozen=True):
    """A reply line: to which request it is."""

    id: int | None = None


_lines = msgspec.json.Decoder(_Line)
_ids = msgspec.json.Decoder(_Numbered)


def encode_request(request: Request[Any]) -> bytes:
    """Encode the parameters that have a value or need one; an older daemon does not know newer ones."""
    needed = _needed(type(request))
    whole = msgspec.to_builtins(request).items()
    given = {name: value for name, value in whole if value is not None or name in needed}
    try:
        return json.dumps(given, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError as error:  # arguments and variables of a process may have any bytes
        raise ParseError(f"the request is not UTF-8: {error}") from error
    except ValueError as error:  # msgspec would write null for them, and so take a bound away
        raise ParseError(f"the request contains a number that JSON cannot represent: {error}") from error


@cache
def _needed(request: type[Request[Any]]) -> frozenset[str]:
    """The parameters without a default, some of which may be null."""
    return frozenset(field.encode_name for field in msgspec.structs.fields(request) if field.required)


def find_id(line: bytes) -> int | None:
    """To which request a line replies; None if the daemon could not tell."""
    try:
        return _ids.decode(line).id
    except msgspec.DecodeError as error:
        raise DaemonError(f"cannot read the daemon's reply: {error}") from error


def decode_line(request: type[Request[R]], line: bytes) -> R:
    """Decode the reply in a line. A refusal is raised as its `RametError`."""
    try:
        reply = _lines.decode(line)
        if reply.error is None:
            return decode_reply(request, reply.result)
    except msgspec.DecodeError as error:
        raise ReplyUnreadable(f"cannot read the daemon's reply: {error}", value=request.op.name) from error
    raise RametError.from_wire(reply.error)
