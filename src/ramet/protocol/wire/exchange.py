"""One request over a connection: its parameters as JSON, and its reply or refusal from the line that comes back."""

import json
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ramet.errors import DaemonError, ParseError, RametError
from ramet.protocol.operation import R, Request, decode_reply


class _Line(Struct, frozen=True):
    """A reply line: the result, whose type depends on the operation, or the error."""

    result: Raw = Raw()
    error: dict[str, Any] | None = None


_lines = msgspec.json.Decoder(_Line)


def encode_request(request: Request[Any]) -> bytes:
    """The parameters that have a value: an older daemon does not know newer ones."""
    given = {name: value for name, value in msgspec.to_builtins(request).items() if value is not None}
    try:
        return json.dumps(given, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError as error:  # arguments and variables of a process may have any bytes
        raise ParseError(f"the request is not UTF-8: {error}") from error
    except ValueError as error:  # msgspec would write null for them, and so take a bound away
        raise ParseError(f"a number of the request is not one that JSON has: {error}") from error


def decode_line(request: type[Request[R]], line: bytes) -> R:
    """The reply that a line holds; a refusal is raised as its `RametError`."""
    try:
        reply = _lines.decode(line)
        if reply.error is None:
            return decode_reply(request, reply.result)
    except msgspec.DecodeError as error:
        raise DaemonError(
            f"the daemon's reply to {request.op.name} cannot be read: {error}",
            fix="let client and daemon be of the same version: `ramet daemon stop`, then try again",
        ) from error
    raise RametError.from_wire(reply.error)
